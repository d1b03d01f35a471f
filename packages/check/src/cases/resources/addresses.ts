/** RES-1 to RES-4: paths of collections and records, and identifiers. */

import { isSingularNoun } from 'resourced-contract/spec/singular-nouns'
import type { Expectation, Observations } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { answerOf, finding, isText, nothingAt, refused, short, status, unless } from '../../case/expect.ts'
import { holds, idsOf } from '../../case/expect-list.ts'
import { recordAt, theRecord } from '../../case/expect-records.ts'
import { after, below, change, listings, one, other, read } from '../../case/names.ts'
import { applicableWhere, nobodyThere, succeeded } from '../../case/preconditions.ts'
import { absentId, collection, configured, idMember, nestedList, Reference } from '../../case/references.ts'
import { body, create, forEachCollection, setUp } from '../../case/steps.ts'
import { type Exchange, fieldOf, jsonOf } from '../../client/exchange.ts'
import { basePath } from '../../profile/profile.ts'
import { isObject, memberPointer, valueAt } from '../../values/json.ts'
import { parseText } from '../../values/openapi.ts'

const [document, deeper, verbStep, collectionFile] = Reference.named('document', 'deeper', 'verb', 'collection')
const [record, chosenStep] = Reference.named('record', 'chosen')

/** The name of every collection that answers is as it should be: the last part of its path. */
function everyName(test: (name: string) => string | undefined): readonly Expectation[] {
  const answering = (seen: Observations) => seen.all(listings).filter(({ answer }) => answer?.status === 200)
  return [
    applicableWhere((seen) => answering(seen).length > 0, 'no collection answered 200'),
    (seen) => {
      for (const exchange of answering(seen)) {
        const wrong = test(lastSegment(exchange.asked.url))
        if (wrong !== undefined) return finding(exchange, 'status', `this address answers, and ${wrong}`)
      }
      return undefined
    },
  ]
}

/** The last segment of an address that may end with a slash. */
function lastSegment(url: string): string {
  const segments = new URL(url).pathname.split('/')
  return segments.findLast((segment) => segment !== '') ?? ''
}

function badForm(name: string): string | undefined {
  return hyphenated.test(name) ? undefined : `${name} is not lower case with hyphens between words`
}

const readDocument = [setUp(document.get(configured.documentAddress))]

export const addresses = common({ steps: [forEachCollection(listings.get(collection))] }).define({
  'RES-1/lower-case': {
    title: 'Collections are named in lower case, with hyphens between words',
    expect: everyName(badForm),
    remedy: 'Serve each collection at a path in lower case with hyphens (/line-items), and redirect the old path.',
  },
  'RES-1/plural': {
    title: 'Collections are named by plural nouns',
    // A list of English nouns, not a dictionary.
    level: 'should',
    expect: everyName((name) => (isSingular(name) ? `${name} is a singular` : undefined)),
    remedy: 'Name a collection by what it holds many of: /users rather than /user.',
  },
  'RES-1/nested-name': {
    title: 'A collection below a record is named in lower case, with hyphens between words',
    steps: [create(one), setUp(below.get(nestedList))],
    expect: [
      answerOf(below, (_, __, exchange) => {
        const wrong = badForm(lastSegment(exchange.asked.url))
        return wrong === undefined ? undefined : finding(exchange, 'status', wrong)
      }),
    ],
    remedy: 'Serve the nested collection at a path in lower case with hyphens: /orders/{id}/line-items.',
  },
  'RES-1/document': {
    title: 'All addresses in the document are in lower case, with hyphens between words',
    steps: readDocument,
    expect: everyPath((segments) =>
      segments
        .filter((segment) => segment !== '{}' && extensionOf(segment) === undefined)
        .map(badForm)
        .find(Boolean),
    ),
    remedy: 'Name every segment of a path in lower case with hyphens between words.',
  },
  'RES-2/location': {
    title: 'The path of a new record is the path of its collection and its identifier',
    steps: [create(one)],
    expect: [
      applicableWhere(
        (seen) => fieldOf(seen.of(one).answer, 'Location') !== undefined,
        'the response to POST has no Location',
      ),
      answerOf(one, (_, seen, exchange) => {
        const { pathname } = new URL(seen.fill(one.location), exchange.asked.url)
        const wanted = seen.fill(one.path)
        if (decodeURIComponent(pathname) === decodeURIComponent(wanted)) return undefined
        return finding(exchange, { field: 'Location' }, `${pathname} in place of ${wanted}`)
      }),
    ],
    remedy: 'Serve each record at the path of its collection with its identifier after it, and say so in Location.',
  },
  'RES-2/nested': {
    title: 'Records that belong to another record are listed below it',
    steps: [create(one), below.get(nestedList)],
    expect: [status(below, 200), holds(below, 1)],
    remedy: 'Answer GET /{collection}/{id}/{child_collection} with only those records that refer to the parent.',
  },
  'RES-2/top-level': {
    title: 'A record in a nested list has an address at the top level too',
    after: ['RES-2/nested'],
    steps: [create(one), setUp(below.get(nestedList)), read.get(one)],
    expect: [
      status(read, 200),
      answerOf(below, (answer, seen) => {
        const ids = idsOf(answer, seen) ?? []
        const wanted = seen.fill(one.id)
        if (ids.includes(wanted)) return undefined
        return `the list below has ${short(ids)}, and not ${wanted}`
      }),
    ],
    remedy: 'Serve each nested record at /{child_collection}/{id} as well, by the same identifier.',
  },
  'RES-2/shallow': {
    title: 'No address is deeper than a collection below a record',
    // The specification says "shallow" and shows nothing deeper. To forbid it is our decision.
    level: 'should',
    steps: [create(one), deeper.get(`${nestedList}/${one.id}`)],
    expect: [refused(deeper)],
    remedy: 'Let a nested record be addressed at the top level alone: one address for each thing.',
  },
  'RES-2/document': {
    title: 'No address in the document is deeper than a collection below a record',
    level: 'should',
    steps: readDocument,
    expect: everyPath(({ length }) => unless(length <= 3, `${length} segments, where three are enough`)),
    remedy: 'Address what is nested deeper at the top level: /comments/{id} in place of /posts/{id}/comments/{id}.',
  },
  'RES-3/names': {
    title: 'No collection is named by a verb, or with an extension',
    expect: everyName(notNoun),
    remedy: 'Name a collection by what it contains, and let the method be the verb: GET /users, not GET /get-users.',
  },
  'RES-3/verbs': {
    title: 'Verbs after a collection or a record are no addresses',
    needsOnly: ['create'],
    steps: [
      create(one),
      ...['search', 'list', 'find', 'get'].map((verb) => verbStep.get(`${collection}/${verb}`)),
      ...['update', 'edit', 'delete', 'remove'].map((verb) => verbStep.post(`${one}/${verb}`, body.example)),
    ],
    expect: [
      (seen) => {
        const found = seen.all(verbStep).find((each) => each.answer && each.answer.status < 400 && !addsSlash(each))
        return found && finding(found, 'status', `${found.answer?.status} for ${new URL(found.asked.url).pathname}`)
      },
    ],
    remedy: 'Let methods and parameters say what is done: GET with q to search, PATCH to change, DELETE to remove.',
  },
  'RES-3/extensions': {
    title: 'Addresses have no file name extensions',
    steps: [create(one), collectionFile.get(`${collection}.json`), record.get(`${one}.json`)],
    // A failure is the matter of another rule: nothing is at the address.
    expect: [leadsNowhere(collectionFile), leadsNowhere(record)],
    remedy: 'Let Accept choose the format, and answer 404 to a file name extension in a path.',
  },
  'RES-3/document': {
    title: 'No address in the document contains a verb or an extension',
    steps: readDocument,
    expect: everyPath((segments) => segments.map(notNoun).find(Boolean)),
    remedy: 'Turn what is done into a thing or a state: PATCH with a status, or POST to a collection of what happened.',
  },
})

/** A redirect that only adds a slash to the address: a framework sends it before it looks whether anything is there. */
export function addsSlash({ asked, answer }: Exchange): boolean {
  const location = answer && answer.status < 400 ? fieldOf(answer, 'Location') : undefined
  return location !== undefined && URL.parse(location, asked.url)?.pathname === `${new URL(asked.url).pathname}/`
}

/** Every response is an error. */
function leadsNowhere(step: Reference): Expectation {
  return answerOf(step, ({ status }, _, exchange) =>
    status >= 400 || addsSlash(exchange) ? undefined : finding(exchange, 'status', `${status} in place of an error`),
  )
}

function notNoun(name: string): string | undefined {
  const verb = verbIn(name)
  if (verb !== undefined) return `${short(name)} says what is done (${verb})`
  const extension = extensionOf(name)
  return extension === undefined ? undefined : `${short(name)} ends with ${extension}`
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function theId(step: Reference, test: (id: unknown) => string | undefined): Expectation {
  return theRecord(step, ({ id }) => {
    const message = test(id)
    return message === undefined ? undefined : { member: 'id', message }
  })
}

export const identifiers = common({ prepare: [create(one)] }).define({
  'RES-4/id': {
    title: 'A new record has an identifier in the member id, which the client did not send',
    expect: [theId(one, (id) => unless(id !== undefined && id !== null && id !== '', 'there is no id'))],
    remedy: 'Make the identifier on the server, and put it into the answer to POST as id.',
  },
  'RES-4/string': {
    title: 'Identifiers are strings',
    after: ['RES-4/id'],
    steps: [setUp(read.get(one))],
    expect: [theId(read, (id) => unless(isText(id), `id is ${short(id)}, which is no string`))],
    remedy: 'Write identifiers as JSON strings, numbers too: large numbers lose digits in clients.',
  },
  'RES-4/uuid': {
    title: 'Identifiers are UUIDs of version 7 in lower case',
    after: ['RES-4/id'],
    // Our decision: the specification leaves the form open.
    level: 'may',
    expect: [theId(one, (id) => unless(uuid.test(String(id)), `${short(id)} is no UUIDv7 in lower case`))],
    remedy: 'Use UUIDv7 (RFC 9562): nobody can guess or count them, and they still sort by time.',
  },
  'RES-4/not-chosen': {
    title: 'A client cannot choose the identifier of a new record',
    steps: [
      ...nobodyThere,
      chosenStep.post(collection, { ...body.example, with: { [idMember]: absentId } }),
      after.get(`${collection}/${absentId}`),
    ],
    expect: [
      (seen) => {
        const id = recordAt(chosenStep, seen)?.[seen.collection.id]
        if (!succeeded(chosenStep)(seen) || String(id) !== seen.fill(absentId)) return nothingAt(after)(seen)
        const message = `the record was made with the identifier that was sent, ${short(id)}`
        return finding(seen.of(chosenStep), 'body', message)
      },
    ],
    remedy: 'Leave an identifier in the body of POST aside, or better refuse it, and always make one on the server.',
  },
  'RES-4/refused': {
    title: 'POST with an identifier in its body is refused',
    after: ['RES-4/not-chosen'],
    // The specification says that a client does not choose it. The refusal is our decision.
    level: 'should',
    steps: [...nobodyThere, chosenStep.post(collection, { ...body.example, with: { [idMember]: absentId } })],
    expect: [status(chosenStep, 400)],
    remedy: 'Answer 400 with an error at /id: a client that sends one believes that it will be kept.',
  },
  'RES-4/kept': {
    title: 'A change does not change the identifier of a record',
    steps: [
      change.patch(one, body.json({ [idMember]: absentId })),
      after.get(one),
      other.get(`${collection}/${absentId}`),
    ],
    expect: [status(after, 200), nothingAt(other)],
    remedy: 'Use only the identifier in the address, and refuse another one in the body.',
  },
})

/** No address of the document is wrong: `test` gets the segments after the base, parameters as `{}`. */
function everyPath(test: (segments: readonly string[]) => string | undefined): readonly Expectation[] {
  return [
    applicableWhere((seen) => isObject(pathsOf(seen)), 'the OpenAPI document could not be read'),
    (seen) => {
      for (const path of Object.keys(pathsOf(seen) ?? {})) {
        const wrong = test(segmentsOf(path, basePath(seen.profile)))
        if (wrong === undefined) continue
        return finding(seen.of(document), { pointer: `/paths${memberPointer(path)}` }, `${path}: ${wrong}`)
      }
      return undefined
    },
  ]
}

/** The segments of a path of the document after the base or the version; none for paths outside the interface. */
function segmentsOf(path: string, base: string): string[] {
  const below = path.startsWith(`${base}/`) ? path.slice(base.length) : path
  const segments = below.split('/').filter((segment) => segment !== '')
  if (/^v\d+$/i.test(segments[0] ?? '')) segments.shift()
  if (/^(?:health|docs|openapi|swagger|metrics|\.well-known)\b/.test(segments[0] ?? '')) return []
  return segments.map((segment) => (segment.includes('{') ? '{}' : segment))
}

function pathsOf(seen: Observations): unknown {
  const { answer } = seen.of(document)
  return answer && valueAt(jsonOf(answer) ?? parseText(answer.body), '/paths')
}

/** Lower case, words joined by hyphens (RES-1). */
export const hyphenated = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Whether a name is a singular of English, like `user` or `Category`. Words of other languages count as plural. */
export function isSingular(name: string): boolean {
  return isSingularNoun((name.split(/[-_.]|(?<=[a-z0-9])(?=[A-Z])/).at(-1) ?? '').toLowerCase())
}

const verbs = new Set(
  `get fetch list-all create add insert update edit modify change delete remove destroy erase find save set
  make do execute invoke retrieve publish unpublish activate deactivate enable disable approve reject cancel
  send submit upsert duplicate`.split(/\s+/),
)

/**
 * The verb that a segment of a path begins with, or is: `create`, `getUsers`, `delete-all`. `restore` and `bulk-
 * delete` may be there.
 */
export function verbIn(segment: string): string | undefined {
  if (segment === 'restore' || segment === 'bulk-delete') return undefined
  const first = segment.split(/[-_.]|(?<=[a-z0-9])(?=[A-Z])/)[0]?.toLowerCase() ?? ''
  return verbs.has(first) ? first : undefined
}

/** The extension that a segment ends with: `.json`. */
export function extensionOf(segment: string): string | undefined {
  return /\.[a-z][a-z0-9]{1,4}$/i.exec(segment)?.[0]
}
