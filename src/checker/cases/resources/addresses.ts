/** RES-1 to RES-3: where collections and records are. */
import type { Case, Expectation } from '../../case/case.ts'
import { altogether, answerOf, finding, itemsOf, onlyWhere, refused, short, status } from '../../case/expect.ts'
import { everyPath, onlyWherePaths } from '../../case/paths.ts'
import { each, given, record, when } from '../../case/steps.ts'
import { extensionOf, hyphenated, isSingular, verbIn } from '../../case/words.ts'

/** The name of every collection that answers is as it should be: the last part of its path. */
function everyName(step: string, says: string, test: (name: string) => string | undefined): readonly Expectation[] {
  const answering = onlyWhere('collections answer', (seen) =>
    seen.all(step).some(({ answer }) => answer?.status === 200) ? undefined : 'no collection answered 200',
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

export const addresses: readonly Case[] = [
  {
    id: 'RES-1/lower-case',
    title: 'Collections are named in lower case, with hyphens between words',
    kind: 'reading',
    needs: ['list'],
    steps: [each('lists', 'GET', '{collection}')],
    expect: everyName('lists', 'is in lower case', badForm),
    mend: 'Serve each collection at a path in lower case with hyphens (/line-items), and redirect the old one until nobody uses it.',
  },
  {
    id: 'RES-1/plural',
    title: 'Collections are named by plural nouns',
    kind: 'reading',
    needs: ['list'],
    // A guess at English, not a dictionary.
    level: 'should',
    steps: [each('lists', 'GET', '{collection}')],
    expect: everyName('lists', 'is a plural', (name) =>
      isSingular(name) ? `${name} looks like a singular` : undefined,
    ),
    mend: 'Name a collection by what it holds many of: /users rather than /user.',
  },
  {
    id: 'RES-1/nested-name',
    title: 'A collection below a record is named in lower case, with hyphens between words',
    kind: 'changing',
    needs: ['create', 'list', 'nested'],
    steps: [record(), given('below', 'GET', '{nested}')],
    expect: [
      answerOf('below', 'has a name in lower case', (_, __, exchange) => {
        const wrong = badForm(new URL(exchange.asked.url).pathname.split('/').at(-1) ?? '')
        return wrong === undefined ? undefined : finding(exchange, 'status', wrong)
      }),
    ],
    mend: 'Serve the nested collection at a path in lower case with hyphens: /orders/{id}/line-items.',
  },
  {
    id: 'RES-1/document',
    title: 'All addresses in the document are in lower case, with hyphens between words',
    kind: 'reading',
    needs: ['document'],
    steps: [given('document', 'GET', '{document}')],
    expect: [
      onlyWherePaths('document'),
      everyPath('document', 'is in lower case', (segments) =>
        segments
          .filter((segment) => segment !== '{}' && extensionOf(segment) === undefined)
          .map(badForm)
          .find(Boolean),
      ),
    ],
    mend: 'Name every segment of a path in lower case with hyphens between words.',
  },
  {
    id: 'RES-2/location',
    title: 'A new record is at its collection’s path with its identifier after it',
    kind: 'changing',
    needs: ['create'],
    steps: [record()],
    expect: [
      onlyWhere('creation tells where the record is', (seen) =>
        seen.of('one').answer?.fields.some(([name]) => name.toLowerCase() === 'location')
          ? undefined
          : 'the answer to POST has no Location',
      ),
      answerOf('one', 'has Location {collection}/{id}', (_, seen, exchange) => {
        const { pathname } = new URL(seen.fill('{one.location}'), exchange.asked.url)
        const wanted = seen.fill('{one}')
        return decodeURIComponent(pathname) === decodeURIComponent(wanted)
          ? undefined
          : finding(exchange, { field: 'Location' }, `${pathname} in place of ${wanted}`)
      }),
    ],
    mend: 'Serve each record at the path of its collection with its identifier after it, and say so in Location.',
  },
  {
    id: 'RES-2/nested',
    title: 'What belongs to a record is listed below it',
    kind: 'changing',
    needs: ['create', 'list', 'nested'],
    steps: [record(), when('below', 'GET', '{nested}')],
    expect: [
      status('below', 200),
      answerOf('below', 'lists the one record that was made below it', (answer, seen, exchange) => {
        const items = itemsOf(answer, seen)
        return items?.length === 1
          ? undefined
          : finding(exchange, 'body', `${items === undefined ? 'no list' : items.length} in place of one record`)
      }),
    ],
    mend: 'Answer GET /{collection}/{id}/{child_collection} with the list of those that refer to the record, and no others.',
  },
  {
    id: 'RES-2/top-level',
    title: 'What is listed below a record can be addressed at the top level too',
    kind: 'changing',
    needs: ['create', 'list', 'read', 'nested'],
    after: ['RES-2/nested'],
    steps: [record(), given('below', 'GET', '{nested}'), when('read', 'GET', '{one}')],
    expect: [
      status('read', 200),
      answerOf('below', 'shows it by the same identifier', (answer, seen, exchange) => {
        const ids = (itemsOf(answer, seen) ?? []).map((item) => String(item[seen.collection.id]))
        const wanted = seen.fill('{one.id}')
        if (ids.includes(wanted)) return undefined
        return finding(exchange, 'body', `the list below has ${short(ids)}, and not ${wanted}`)
      }),
    ],
    mend: 'Serve each nested record at /{child_collection}/{id} as well, by the same identifier.',
  },
  {
    id: 'RES-2/shallow',
    title: 'Nothing is addressed more deeply than a collection below a record',
    kind: 'changing',
    needs: ['create', 'nested'],
    // The specification says "shallow", and shows no deeper shape; that there is none is our decision.
    level: 'should',
    steps: [record(), when('deeper', 'GET', '{nested}/{one.id}')],
    expect: [refused('deeper')],
    mend: 'Let a nested record be addressed at the top level alone: one address for each thing.',
  },
  {
    id: 'RES-2/document',
    title: 'No address in the document is deeper than a collection below a record',
    kind: 'reading',
    needs: ['document'],
    level: 'should',
    steps: [given('document', 'GET', '{document}')],
    expect: [
      onlyWherePaths('document'),
      everyPath('document', 'is shallow', (segments) =>
        segments.length > 3 ? `${segments.length} segments, where three are enough` : undefined,
      ),
    ],
    mend: 'Address what is nested deeper at the top level: /comments/{id} in place of /posts/{id}/comments/{id}.',
  },
  {
    id: 'RES-3/names',
    title: 'No collection is named by a verb, or with an extension',
    kind: 'reading',
    needs: ['list'],
    steps: [each('lists', 'GET', '{collection}')],
    expect: everyName('lists', 'is a noun', (name) => notNoun(name)),
    mend: 'Name a collection by what it holds, and let the method say what is done: GET /users rather than GET /get-users.',
  },
  {
    id: 'RES-3/verbs',
    title: 'Verbs after a collection or a record lead nowhere',
    kind: 'changing',
    needs: ['create'],
    steps: [
      record(),
      ...['search', 'list', 'find', 'get'].map((verb) => when('verb', 'GET', `{collection}/${verb}`)),
      ...['update', 'edit', 'delete', 'remove'].map((verb) =>
        when('verb', 'POST', `{one}/${verb}`, { body: { from: 'mark' } }),
      ),
    ],
    expect: [
      altogether('nothing is found', (seen) => {
        const found = seen.all('verb').find(({ answer }) => answer !== undefined && answer.status < 400)
        return found && finding(found, 'status', `${found.answer?.status} for ${new URL(found.asked.url).pathname}`)
      }),
    ],
    mend: 'Let methods and parameters say what is done: GET with q to search, PATCH to change, DELETE to remove.',
  },
  {
    id: 'RES-3/extensions',
    title: 'Addresses have no file extensions',
    kind: 'changing',
    needs: ['create', 'read', 'list'],
    steps: [record(), when('collection', 'GET', '{collection}.json'), when('record', 'GET', '{one}.json')],
    expect: [refused('collection'), refused('record')],
    mend: 'Let Accept choose the format, and take no extension after a name or an identifier.',
  },
  {
    id: 'RES-3/document',
    title: 'No address in the document holds a verb or an extension',
    kind: 'reading',
    needs: ['document'],
    steps: [given('document', 'GET', '{document}')],
    expect: [
      onlyWherePaths('document'),
      everyPath('document', 'holds nouns alone', (segments) => segments.map(notNoun).find(Boolean)),
    ],
    mend: 'Turn what is done into a thing or a state: PATCH with a status, or POST to a collection of what happened.',
  },
]

function notNoun(name: string): string | undefined {
  const verb = verbIn(name)
  if (verb !== undefined) return `${short(name)} says what is done (${verb})`
  const extension = extensionOf(name)
  return extension === undefined ? undefined : `${short(name)} ends with ${extension}`
}
