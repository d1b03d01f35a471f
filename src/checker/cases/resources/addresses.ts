/** RES-1 to RES-3: where collections and records are. */

import type { Expectation } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import {
  altogether,
  answerOf,
  applicableWhere,
  finding,
  itemsOf,
  refused,
  short,
  status,
  unless,
} from '../../case/expect.ts'
import { below, listings, one, read } from '../../case/names.ts'
import { everyPath, onlyWherePaths } from '../../case/paths.ts'
import { collection, documentAddress, nestedList, type Reference, references } from '../../case/references.ts'
import { body, create, forEachCollection, setUp } from '../../case/steps.ts'
import { extensionOf, hyphenated, isSingular, verbIn } from '../../case/words.ts'

const [document, deeper, verbStep, collectionFile, recordStep] = references(
  'document',
  'deeper',
  'verb',
  'collection',
  'record',
)

/** The name of every collection that answers is as it should be: the last part of its path. */
function everyName(step: Reference, says: string, test: (name: string) => string | undefined): readonly Expectation[] {
  const answering = applicableWhere('collections answer', (seen) =>
    unless(seen.all(step).some(({ answer }) => answer?.status === 200), 'no collection answered 200'),
  )
  const names = altogether(`every collection's name ${says}`, (seen) => {
    for (const exchange of seen.all(step)) {
      if (exchange.answer?.status !== 200) continue
      const wrong = test(new URL(exchange.asked.url).pathname.split('/').at(-1) ?? '')
      if (wrong !== undefined) return finding(exchange, 'status', `this address answers, and ${wrong}`)
    }
    return undefined
  })
  return [answering, names]
}

function badForm(name: string): string | undefined {
  return hyphenated.test(name) ? undefined : `${name} is not lower case with hyphens between words`
}

export const addresses = define({
  'RES-1/lower-case': {
    title: 'Collections are named in lower case, with hyphens between words',
    steps: [forEachCollection(listings.get(collection))],
    expect: everyName(listings, 'is in lower case', badForm),
    remedy:
      'Serve each collection at a path in lower case with hyphens (/line-items), and redirect the old one until nobody uses it.',
  },
  'RES-1/plural': {
    title: 'Collections are named by plural nouns',
    // A guess at English, not a dictionary.
    level: 'should',
    steps: [forEachCollection(listings.get(collection))],
    expect: everyName(listings, 'is a plural', (name) =>
      isSingular(name) ? `${name} looks like a singular` : undefined,
    ),
    remedy: 'Name a collection by what it holds many of: /users rather than /user.',
  },
  'RES-1/nested-name': {
    title: 'A collection below a record is named in lower case, with hyphens between words',
    steps: [create(one), setUp(below.get(nestedList))],
    expect: [
      answerOf(below, 'has a name in lower case', (_, __, exchange) => {
        const wrong = badForm(new URL(exchange.asked.url).pathname.split('/').at(-1) ?? '')
        return wrong === undefined ? undefined : finding(exchange, 'status', wrong)
      }),
    ],
    remedy: 'Serve the nested collection at a path in lower case with hyphens: /orders/{id}/line-items.',
  },
  'RES-1/document': {
    title: 'All addresses in the document are in lower case, with hyphens between words',
    steps: [setUp(document.get(documentAddress))],
    expect: [
      onlyWherePaths(document),
      everyPath(document, 'is in lower case', (segments) =>
        segments
          .filter((segment) => segment !== '{}' && extensionOf(segment) === undefined)
          .map(badForm)
          .find(Boolean),
      ),
    ],
    remedy: 'Name every segment of a path in lower case with hyphens between words.',
  },
  'RES-2/location': {
    title: 'A new record is at its collection’s path with its identifier after it',
    steps: [create(one)],
    expect: [
      applicableWhere('creation tells where the record is', (seen) =>
        seen.of(one).answer?.fields.some(([name]) => name.toLowerCase() === 'location')
          ? undefined
          : 'the answer to POST has no Location',
      ),
      answerOf(one, 'has Location {collection}/{id}', (_, seen, exchange) => {
        const { pathname } = new URL(seen.fill(one.location), exchange.asked.url)
        const wanted = seen.fill(one.path)
        return decodeURIComponent(pathname) === decodeURIComponent(wanted)
          ? undefined
          : finding(exchange, { field: 'Location' }, `${pathname} in place of ${wanted}`)
      }),
    ],
    remedy: 'Serve each record at the path of its collection with its identifier after it, and say so in Location.',
  },
  'RES-2/nested': {
    title: 'What belongs to a record is listed below it',
    steps: [create(one), below.get(nestedList)],
    expect: [
      status(below, 200),
      answerOf(below, 'lists the one record that was made below it', (answer, seen, exchange) => {
        const items = itemsOf(answer, seen)
        return items?.length === 1
          ? undefined
          : finding(exchange, 'body', `${items === undefined ? 'no list' : items.length} in place of one record`)
      }),
    ],
    remedy:
      'Answer GET /{collection}/{id}/{child_collection} with the list of those that refer to the record, and no others.',
  },
  'RES-2/top-level': {
    title: 'What is listed below a record can be addressed at the top level too',
    after: ['RES-2/nested'],
    steps: [create(one), setUp(below.get(nestedList)), read.get(one)],
    expect: [
      status(read, 200),
      answerOf(below, 'shows it by the same identifier', (answer, seen, exchange) => {
        const ids = (itemsOf(answer, seen) ?? []).map((item) => String(item[seen.collection.id]))
        const wanted = seen.fill(one.id)
        if (ids.includes(wanted)) return undefined
        return finding(exchange, 'body', `the list below has ${short(ids)}, and not ${wanted}`)
      }),
    ],
    remedy: 'Serve each nested record at /{child_collection}/{id} as well, by the same identifier.',
  },
  'RES-2/shallow': {
    title: 'Nothing is addressed more deeply than a collection below a record',
    // The specification says "shallow", and shows no deeper shape; that there is none is our decision.
    level: 'should',
    steps: [create(one), deeper.get(`${nestedList}/${one.id}`)],
    expect: [refused(deeper)],
    remedy: 'Let a nested record be addressed at the top level alone: one address for each thing.',
  },
  'RES-2/document': {
    title: 'No address in the document is deeper than a collection below a record',
    level: 'should',
    steps: [setUp(document.get(documentAddress))],
    expect: [
      onlyWherePaths(document),
      everyPath(document, 'is shallow', (segments) =>
        segments.length > 3 ? `${segments.length} segments, where three are enough` : undefined,
      ),
    ],
    remedy: 'Address what is nested deeper at the top level: /comments/{id} in place of /posts/{id}/comments/{id}.',
  },
  'RES-3/names': {
    title: 'No collection is named by a verb, or with an extension',
    steps: [forEachCollection(listings.get(collection))],
    expect: everyName(listings, 'is a noun', (name) => notNoun(name)),
    remedy:
      'Name a collection by what it holds, and let the method say what is done: GET /users rather than GET /get-users.',
  },
  'RES-3/verbs': {
    title: 'Verbs after a collection or a record lead nowhere',
    needsOnly: ['create'],
    steps: [
      create(one),
      ...['search', 'list', 'find', 'get'].map((verb) => verbStep.get(`${collection}/${verb}`)),
      ...['update', 'edit', 'delete', 'remove'].map((verb) => verbStep.post(`${one}/${verb}`, body.mark)),
    ],
    expect: [
      altogether('nothing is found', (seen) => {
        const found = seen.all(verbStep).find(({ answer }) => answer !== undefined && answer.status < 400)
        return found && finding(found, 'status', `${found.answer?.status} for ${new URL(found.asked.url).pathname}`)
      }),
    ],
    remedy: 'Let methods and parameters say what is done: GET with q to search, PATCH to change, DELETE to remove.',
  },
  'RES-3/extensions': {
    title: 'Addresses have no file extensions',
    steps: [create(one), collectionFile.get(`${collection}.json`), recordStep.get(`${one}.json`)],
    expect: [refused(collectionFile), refused(recordStep)],
    remedy: 'Let Accept choose the format, and take no extension after a name or an identifier.',
  },
  'RES-3/document': {
    title: 'No address in the document holds a verb or an extension',
    steps: [setUp(document.get(documentAddress))],
    expect: [
      onlyWherePaths(document),
      everyPath(document, 'holds nouns alone', (segments) => segments.map(notNoun).find(Boolean)),
    ],
    remedy: 'Turn what is done into a thing or a state: PATCH with a status, or POST to a collection of what happened.',
  },
})

function notNoun(name: string): string | undefined {
  const verb = verbIn(name)
  if (verb !== undefined) return `${short(name)} says what is done (${verb})`
  const extension = extensionOf(name)
  return extension === undefined ? undefined : `${short(name)} ends with ${extension}`
}
