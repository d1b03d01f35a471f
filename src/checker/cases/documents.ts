/** DOC: documents. */

import type { Case, Expectation, Seen, Step } from '../case/case.ts'
import { type Described, deadReferences, describedBy, misfitOf, pathOf } from '../case/described.ts'
import { altogether, answerOf, finding, short } from '../case/expect.ts'
import { NotSetUp } from '../case/not-judged.ts'
import { given, record, when, whereDemanded } from '../case/steps.ts'
import { basePath } from '../profile/profile.ts'
import { valueAt } from '../values/json.ts'

const document = given('document', 'GET', '{document}')

function documentIn(seen: Seen): Described {
  const described = describedBy(seen.of('document'))
  if (described === undefined) throw new NotSetUp('the document cannot be read')
  return described
}

/** An answer is one of those that the document tells. */
function fits(step: string): Expectation {
  return answerOf(step, 'is as the document says', (answer, seen, exchange) => {
    const misfit = misfitOf(documentIn(seen), exchange.asked, answer, basePath(seen.profile))
    return misfit && finding(exchange, misfit.part, misfit.message)
  })
}

const mendFit = 'Change the document or the answer: make one from the other, and compare them in your tests.'

function truth(
  name: string,
  title: string,
  needs: Case['needs'],
  steps: readonly Step[],
  judged: readonly string[],
): Case {
  return {
    ...{ id: `DOC-1/${name}`, title, kind: 'changing', needs: ['document', ...needs], mend: mendFit },
    ...{ after: ['DOC-1/there'], steps: [document, ...steps], expect: judged.map(fits) },
  }
}

export const documents: readonly Case[] = [
  {
    id: 'DOC-1/there',
    title: 'There is an OpenAPI document of version 3',
    kind: 'reading',
    needs: ['document'],
    steps: [when('document', 'GET', '{document}')],
    expect: [
      answerOf('document', 'is JSON or YAML, and of version 3', (_, __, exchange) => {
        const described = describedBy(exchange)
        if (described === undefined) return finding(exchange, 'body', 'no JSON or YAML object')
        const version = valueAt(described.root, '/openapi')
        if (/^3\.\d/.test(String(version)) && valueAt(described.root, '/paths') !== undefined) return undefined
        return finding(exchange, { pointer: '/openapi' }, `${short(version)} in place of 3.x, with paths`)
      }),
    ],
    mend: 'Describe the interface in OpenAPI 3.1, and serve the document beside it.',
  },
  {
    id: 'DOC-1/collections',
    title: 'The document describes every collection',
    kind: 'reading',
    needs: ['document'],
    after: ['DOC-1/there'],
    steps: [document],
    expect: [
      altogether('each has a path', (seen) => {
        const described = documentIn(seen)
        const base = basePath(seen.profile)
        const missing = seen.profile.collections
          .map(({ path }) => base + path)
          .filter((path) => pathOf(described, path, base) === undefined)
        if (missing.length === 0) return undefined
        return finding(seen.of('document'), { pointer: '/paths' }, `no path for ${missing.join(', ')}`)
      }),
    ],
    mend: 'Make the document from what is served, and serve nothing that it leaves out.',
  },
  {
    id: 'DOC-1/references',
    title: 'All references in the document lead somewhere',
    kind: 'reading',
    needs: ['document'],
    after: ['DOC-1/there'],
    steps: [document],
    expect: [
      altogether('none is dead', (seen) => {
        const [first, ...others] = deadReferences(documentIn(seen))
        if (first === undefined) return undefined
        return finding(seen.of('document'), 'body', `${first} leads nowhere, as do ${others.length} more`)
      }),
    ],
    mend: 'Check the document with a linter, such as Redocly or Spectral, before it is published.',
  },
  truth(
    'reads',
    'Lists and records are as the document says',
    ['create', 'list', 'read'],
    [record(), when('list', 'GET', '{collection}'), when('read', 'GET', '{one}')],
    ['list', 'read'],
  ),
  truth(
    'writes',
    'What answers a creation, a change and a deletion is as the document says',
    ['create', 'update', 'change', 'delete'],
    [
      record(),
      when('changed', 'PATCH', '{one}', { headers: whereDemanded, body: { from: 'change' } }),
      when('deleted', 'DELETE', '{one}', { headers: whereDemanded }),
    ],
    ['one', 'changed', 'deleted'],
  ),
  truth(
    'errors',
    'Errors are as the document says, their statuses among them',
    ['create', 'list', 'read'],
    [
      when('absent', 'GET', '{collection}/no-such-{mark}'),
      when('malformed', 'POST', '{collection}', { body: { text: '{"no-such' } }),
      when('unknown', 'GET', '{collection}', { caller: 'nobody' }),
    ],
    ['absent', 'malformed', 'unknown'],
  ),
]
