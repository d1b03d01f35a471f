/** DOC: documents. */
import type { Case, Expectation, Observations, Step } from '../case/case.ts'
import { define } from '../case/define.ts'
import { answerOf, finding, short } from '../case/expect.ts'
import { changed, list, one, read, removed } from '../case/names.ts'
import { NotSetUp } from '../case/not-judged.ts'
import {
  documentedPath,
  mismatchWith,
  parseDocument,
  type ServerDocument,
  unresolvedReferences,
} from '../case/openapi-document.ts'
import { collection, documentAddress, ifRequired, mark, type Reference, references } from '../case/references.ts'
import { asNobody, body, create, setUp } from '../case/steps.ts'
import { basePath } from '../profile/profile.ts'
import { valueAt } from '../values/json.ts'

const [documentStep, absent, malformed, unknown] = references('document', 'absent', 'malformed', 'unknown')

const document = setUp(documentStep.get(documentAddress))

function documentIn(seen: Observations): ServerDocument {
  const described = parseDocument(seen.of(documentStep))
  if (described === undefined) throw new NotSetUp('the document cannot be read')
  return described
}

/** An answer is one of those that the document tells. */
function fits(step: Reference): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const mismatch = mismatchWith(documentIn(seen), exchange.asked, answer, basePath(seen.profile))
    return mismatch && finding(exchange, mismatch.part, mismatch.message)
  })
}

const keepTrue = 'Change the document or the answer: make one from the other, and compare them in your tests.'

function truth(
  name: string,
  title: string,
  needs: Case['needs'],
  steps: readonly Step[],
  judged: readonly Reference[],
): Case {
  return {
    ...{ id: `DOC-1/${name}`, title, kind: 'changing', needs: ['document', ...needs], remedy: keepTrue },
    ...{ after: ['DOC-1/there'], steps: [document, ...steps], expect: judged.map(fits) },
  }
}

export const documents: readonly Case[] = [
  ...define({
    'DOC-1/there': {
      title: 'There is an OpenAPI document of version 3',
      steps: [documentStep.get(documentAddress)],
      expect: [
        answerOf(documentStep, (_, __, exchange) => {
          const described = parseDocument(exchange)
          if (described === undefined) return 'no JSON or YAML object'
          const version = valueAt(described.root, '/openapi')
          if (/^3\.\d/.test(String(version)) && valueAt(described.root, '/paths') !== undefined) return undefined
          return finding(exchange, { pointer: '/openapi' }, `${short(version)} in place of 3.x, with paths`)
        }),
      ],
      remedy: 'Describe the interface in OpenAPI 3.1, and serve the document beside it.',
    },
    'DOC-1/collections': {
      title: 'The document describes every collection',
      after: ['DOC-1/there'],
      steps: [document],
      expect: [
        (seen) => {
          const described = documentIn(seen)
          const base = basePath(seen.profile)
          const missing = seen.profile.collections
            .map(({ path }) => base + path)
            .filter((path) => documentedPath(described, path, base) === undefined)
          if (missing.length === 0) return undefined
          return finding(seen.of(documentStep), { pointer: '/paths' }, `no path for ${missing.join(', ')}`)
        },
      ],
      remedy: 'Make the document from what is served, and serve nothing that it leaves out.',
    },
    'DOC-1/references': {
      title: 'All references in the document lead somewhere',
      after: ['DOC-1/there'],
      steps: [document],
      expect: [
        (seen) => {
          const [first, ...others] = unresolvedReferences(documentIn(seen))
          if (first === undefined) return undefined
          return finding(seen.of(documentStep), 'body', `${first} leads nowhere, as do ${others.length} more`)
        },
      ],
      remedy: 'Check the document with a linter, such as Redocly or Spectral, before it is published.',
    },
  }),
  truth(
    'reads',
    'Lists and records are as the document says',
    ['create', 'list', 'read'],
    [create(one), list.get(collection), read.get(one)],
    [list, read],
  ),
  truth(
    'writes',
    'What answers a creation, a change and a deletion is as the document says',
    ['create', 'update', 'change', 'delete'],
    [create(one), changed.patch(one, body.change, ifRequired), removed.delete(one, ifRequired)],
    [one, changed, removed],
  ),
  truth(
    'errors',
    'Errors are as the document says, their statuses among them',
    ['create', 'list', 'read'],
    [
      absent.get(`${collection}/no-such-${mark}`),
      malformed.post(collection, body.text('{"no-such')),
      unknown.get(collection, asNobody),
    ],
    [absent, malformed, unknown],
  ),
]
