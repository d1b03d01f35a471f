/** Finds out what a document leaves open about a collection, while a record exists that may be changed. */

import { recordOf } from '../case/expect-records.ts'
import { currentTag, request } from '../client/client.ts'
import { type Answer, isSuccess } from '../client/exchange.ts'
import type { CollectionProfile } from '../profile/profile.ts'
import { parameterOf } from '../profile/query-style.ts'
import {
  invalidValue,
  otherValue,
  type Schema,
  schemaOf,
  takesMark,
  withOtherUniqueValues,
} from '../values/generate.ts'
import { type JsonObject, mapMembers, pick, without } from '../values/json.ts'
import { randomText } from '../values/random.ts'
import { markerOf } from './describe.ts'
import { probeFinder, probeLists } from './probe-lists.ts'
import { complaintsIn } from './repair-body.ts'
import type { Trial, TrialRecord } from './trial.ts'

type Facts = Partial<CollectionProfile>

export async function probe(trial: Trial, collection: CollectionProfile, given: TrialRecord): Promise<Facts> {
  const isGuessed = trial.guessed.has(collection.name)
  const record = isGuessed ? { ...given, body: membersOf(given.body, collection) } : given
  const described = isGuessed
    ? { ...collection, ...factsFromBody(collection, record.body) }
    : { ...collection, ...(await probeShown(trial, collection, record)) }
  // Before changes: a change may let other callers see the record.
  const owner = await probeOwner(trial, described, record)
  const changes = await probeChanges(trial, described, record)
  const own = { ...record, body: membersOf(record.body, { ...described, ...changes }) }
  const members = isGuessed ? await probeMembers(trial, described, own) : await probeRequired(trial, described, own)
  const offered = isGuessed ? await probeReplacement(trial, { ...described, ...changes }, record) : {}
  // Changes have given it other values.
  const now = { ...record, body: { ...record.body, ...(await valuesNow(trial, described, record)) } }
  const lists = await probeLists(trial, described, now)
  const search = await probeSearch(trial, { ...described, ...lists }, now)
  const found = { ...described, ...owner, ...changes, ...offered, ...members, ...lists, ...search }
  const facts = { ...found, ...(await probeMarker(trial, { ...collection, ...found }, record)) }
  return { ...facts, ...(await probeFinder(trial, { ...collection, ...facts }, record)) }
}

async function recordNow(trial: Trial, collection: CollectionProfile, url: string): Promise<JsonObject> {
  const { answer } = await request(trial.requester, 'GET', url)
  const where = { profile: trial.profileOf(collection.name), collection }
  return (isSuccess(answer) ? recordOf(answer, where) : undefined) ?? {}
}

/** The values that the members of a body have now, as far as a response shows them in the same form. */
async function valuesNow(trial: Trial, collection: CollectionProfile, { url, body }: TrialRecord): Promise<JsonObject> {
  const now = await recordNow(trial, collection, url)
  return pick(now, (name) => Object.hasOwn(body, name) && typeof now[name] === typeof body[name])
}

/**
 * For a collection with a document: what no response shows of a member tells nothing about it. Such members, passwords
 * and numbers of versions, are sent only where they must be.
 */
async function probeShown(trial: Trial, collection: CollectionProfile, { url, body }: TrialRecord): Promise<Facts> {
  const shown = await recordNow(trial, collection, url)
  const hidden = Object.keys(body).filter((each) => !Object.hasOwn(shown, each))
  if (hidden.length === 0 || hidden.length === Object.keys(body).length) return {}
  const { change, optional, invalid, example = {}, required, references } = collection
  const omitted = hidden.filter((each) => !required.includes(each) && !Object.hasOwn(references, each))
  return {
    ...{ change: without(change, hidden), optional: without(optional, hidden), invalid: without(invalid, omitted) },
    example: without(example, omitted),
  }
}

/** A filter that takes the checker's mark: one that a document names, or one that a record with the mark shows. */
async function probeMarker(trial: Trial, collection: CollectionProfile, record: TrialRecord): Promise<Facts> {
  let { schemas = {} } = collection
  const { filters, unique, references } = collection
  for (let turn = 0; turn < 3; turn++) {
    const marker = collection.marker ?? markerOf(schemas, filters, unique, references)
    const isSure = marker === undefined || marker === collection.marker || record.body[marker] === trial.mark
    if (isSure) return { marker, schemas }
    // A failure of another kind says nothing about the mark.
    if (!isRefusal(await createWith(trial, collection, record, { [marker]: trial.mark }))) return { marker, schemas }
    schemas = { ...schemas, [marker]: { ...schemas[marker], 'x-unmarked': true } }
  }
  return { marker: undefined, schemas }
}

/** Creates a record like one that exists, but for some members, and deletes it. Returns the response. */
async function createWith(
  trial: Trial,
  collection: CollectionProfile,
  { body }: TrialRecord,
  members: JsonObject,
  missing: readonly string[] = [],
): Promise<Answer | undefined> {
  const sent = without({ ...withOtherUniqueValues(body, collection), ...members }, missing)
  const exchange = await trial.request(collection, 'POST', { body: sent })
  const created = isSuccess(exchange.answer) ? trial.note(collection, exchange, sent) : undefined
  // A record with an invalid value would disturb what lists show.
  if (created !== undefined) await trial.remove(created)
  return exchange.answer
}

/** Without a document: whether records take PUT, which nothing else has shown where they take PATCH. */
async function probeReplacement(trial: Trial, collection: CollectionProfile, record: TrialRecord): Promise<Facts> {
  const { operations } = collection
  if (!operations.includes('update') || !operations.includes('replace')) return {}
  const fields = collection.conditional ? [['If-Match', await currentTag(trial.requester, record.url)] as const] : []
  const sent = trial.inEnvelope(collection.name, membersOf(record.body, collection))
  const { answer } = await request(trial.requester, 'PUT', record.url, { body: sent, fields })
  const isAbsent = answer !== undefined && [404, 405, 501].includes(answer.status)
  return isAbsent ? { operations: operations.filter((each) => each !== 'replace') } : {}
}

const mostLeftOut = 10

/** For a collection with a document: which members it requires, although the document does not say so. */
async function probeRequired(trial: Trial, collection: CollectionProfile, record: TrialRecord): Promise<Facts> {
  const required: string[] = []
  const empty: string[] = []
  const sent = Object.keys(collection.optional).filter((each) => each in record.body)
  for (const name of sent.slice(0, mostLeftOut)) {
    const { unique, references } = collection
    if (unique.includes(name) || Object.hasOwn(references, name)) continue
    const lacking = await createWith(trial, collection, record, {}, [name])
    if (isRefusal(lacking)) required.push(name)
    else if (isEmptyIn(trial, collection, lacking, name)) empty.push(name)
  }
  const optional = emptyFirst(without(collection.optional, required), empty)
  return { required: [...collection.required, ...required], optional }
}

/** Whether a new record has no value in a member that the body left out. */
function isEmptyIn(trial: Trial, collection: CollectionProfile, answer: Answer | undefined, name: string): boolean {
  const record = recordOf(answer, { profile: trial.profileOf(collection.name), collection })
  return isSuccess(answer) && record !== undefined && (record[name] ?? null) === null
}

/** Members with those first that are empty if they are left out: a default shows less of what a server does. */
function emptyFirst(members: JsonObject, empty: readonly string[]): JsonObject {
  return { ...pick(members, (name) => empty.includes(name)), ...members }
}

/** The members of a body that the example still has: the server ignores the others. */
function membersOf(body: JsonObject, { example = body }: Pick<CollectionProfile, 'example'>): JsonObject {
  return pick(body, (name) => Object.hasOwn(example, name))
}

/** For a collection without a document: the members of a body that the server accepted. */
function factsFromBody({ unique, references, schemas: told }: CollectionProfile, body: JsonObject): Facts {
  // Errors may have told more than a value shows, such as a pattern.
  const schemas = mapMembers(body, (value, name): Schema => ({ ...told?.[name], ...schemaOf(value) }))
  const free = pick(body, (name) => !unique.includes(name) && !Object.hasOwn(references, name))
  const change = mapMembers(free, (value, name) => otherValue(value, schemas[name] ?? {}, name))
  return { schemas, change: pick(change, (name) => change[name] !== undefined) }
}

const mostMembers = 6

/**
 * For a collection without a document: which members a body may leave out, which it must have, and which invalid values
 * the server refuses. Records that are created are deleted at once.
 */
async function probeMembers(trial: Trial, collection: CollectionProfile, record: TrialRecord): Promise<Facts> {
  const { unique, references, schemas = {} } = collection
  const { body } = record
  const create = (members: JsonObject, missing?: readonly string[]) =>
    createWith(trial, collection, record, members, missing)
  const required: string[] = []
  const empty: string[] = []
  const optional: Record<string, unknown> = {}
  const invalid: Record<string, unknown> = {}
  const free = Object.keys(body).filter((name) => !unique.includes(name) && !Object.hasOwn(references, name))
  for (const name of free.slice(0, mostMembers)) {
    const lacking = await create({}, [name])
    if (isSuccess(lacking)) optional[name] = body[name]
    if (isEmptyIn(trial, collection, lacking, name)) empty.push(name)
    if (isRefusal(lacking)) required.push(name)
    const value = invalidValue(schemas[name] ?? {})
    if (value !== undefined && isRefusal(await create({ [name]: value }))) invalid[name] = value
  }
  const lists: Record<string, Schema> = {}
  for (const [name, schema] of Object.entries(schemas)
    .filter(([each]) => free.includes(each))
    .slice(0, mostMembers)) {
    if (typeof body[name] !== 'string' || body[name].includes(trial.mark)) continue
    // A text that takes no other text is one of a list of values. No mark can be written into it.
    const other = await create({ [name]: `${body[name]} ${randomText()}` })
    if (isRefusal(other)) lists[name] = { ...schema, enum: [body[name]] }
  }
  return {
    required: [...new Set([...collection.required, ...required])],
    ...{ optional: emptyFirst(optional, empty), invalid, schemas: { ...schemas, ...lists } },
  }
}

function isRefusal(answer: Answer | undefined): boolean {
  return answer !== undefined && [400, 422].includes(answer.status)
}

/** Whether the second caller may create records and cannot see this one. Only then a record has an owner. */
async function probeOwner(trial: Trial, collection: CollectionProfile, { url, body }: TrialRecord): Promise<Facts> {
  const { other } = trial
  if (other === undefined) return { owner: undefined }
  const { answer: read } = await request(other, 'GET', url)
  const theirs = withOtherUniqueValues(body, collection)
  const created = await trial.request(collection, 'POST', { body: theirs, by: other })
  const mayCreate = isSuccess(created.answer)
  if (mayCreate) {
    trial.note(collection, created, body, other)
    if (read !== undefined && [403, 404].includes(read.status) && collection.owner !== undefined) return {}
  }
  const may = [...(mayCreate ? ['create'] : []), ...(isSuccess(read) ? ['read'] : [])]
  if (may.length > 0) {
    trial.notices.push(
      `The caller of --other-key may ${may.join(' and ')} records of ${collection.name}. Rules about callers ` +
        'without permission (AUT-3) need a key without it. If the permission is intended, write it into the ' +
        'profile (otherMay).',
    )
  }
  return { owner: undefined }
}

/** Which of the described changes the server accepts, by PATCH or else by PUT, and whether they need a condition. */
async function probeChanges(trial: Trial, collection: CollectionProfile, record: TrialRecord): Promise<Facts> {
  const { change, operations } = collection
  const operation = (['update', 'replace'] as const).find((each) => operations.includes(each))
  if (operation === undefined || Object.keys(change).length === 0) return {}
  const { url } = record
  let { conditional } = collection
  const patch = async (body: JsonObject): Promise<Answer | undefined> => {
    const fields = conditional ? [['If-Match', await currentTag(trial.requester, url)] as const] : []
    const whole = operation === 'update' ? body : { ...membersOf(record.body, collection), ...body }
    const sent = trial.inEnvelope(collection.name, whole)
    const method = operation === 'update' ? 'PATCH' : 'PUT'
    const { answer } = await request(trial.requester, method, url, { body: sent, fields })
    if (answer?.status === 428 && !conditional) {
      conditional = true
      return patch(body)
    }
    return method === 'PATCH' && trial.learnsPatchType(answer) ? patch(body) : answer
  }
  const answer = await patch(change)
  if (answer !== undefined && [404, 405, 501].includes(answer.status)) {
    if (!trial.guessed.has(collection.name)) return {}
    const others = operations.filter((each) => each !== operation)
    return { operations: others, ...(await probeChanges(trial, { ...collection, operations: others }, record)) }
  }
  if (isSuccess(answer)) {
    const ignored = trial.ignoredMembers(collection.name, (await request(trial.requester, 'GET', url)).answer, change)
    // If nothing was changed, the server does not carry out changes.
    if (ignored.length === 0 || ignored.length === Object.keys(change).length) return { conditional }
    const { example = {}, optional, invalid } = collection
    return {
      ...{ conditional, change: without(change, ignored), example: without(example, ignored) },
      ...{ optional: without(optional, ignored), invalid: without(invalid, ignored) },
    }
  }
  if (answer === undefined || ![400, 409, 422].includes(answer.status)) return { conditional }
  const refused = new Set(complaintsIn(answer, Object.keys(change)).map(({ member }) => member))
  const rest = pick(change, (name) => !refused.has(name))
  if (Object.keys(rest).length > 0 && refused.size > 0 && isSuccess(await patch(rest))) {
    return { change: rest, conditional }
  }
  const accepted: [string, unknown][] = []
  for (const [name, value] of Object.entries(change).slice(0, 8)) {
    if (isSuccess(await patch({ [name]: value }))) accepted.push([name, value])
  }
  // What is refused as a change of a record that keeps everything else is no value for it.
  const isRefused = (name: string) => !accepted.some(([each]) => each === name) && !(name in record.body)
  const values = pick(collection.optional, (name) => !isRefused(name))
  return { change: Object.fromEntries(accepted), optional: values, conditional }
}

/** The parameter of a search, and a member whose words it finds: the described one, or another one of the record. */
async function probeSearch(trial: Trial, collection: CollectionProfile, record: TrialRecord): Promise<Facts> {
  const { search, id, schemas = {}, references, query } = collection
  const isBare = trial.parametersOf(collection.name).length === 0
  if (search === undefined && !isBare) return {}
  const texts = Object.keys(record.body).filter(
    (name) =>
      name !== search &&
      typeof record.body[name] === 'string' &&
      takesMark(schemas[name] ?? {}) &&
      !Object.hasOwn(references, name),
  )
  const find = (parameter: string, words: string) =>
    trial.list(collection, `?${parameter}=${encodeURIComponent(words)}`)
  const members = search === undefined ? texts : [search, ...texts]
  for (const parameter of search === undefined ? ['q', 'search'] : [parameterOf(collection, 'q')]) {
    for (const name of members.slice(0, mostMembers)) {
      const words = record.body[name]
      if (typeof words !== 'string' || words.trim() === '') continue
      const items = await find(parameter, words)
      if (!items?.some((each) => String(each[id]) === record.id)) continue
      // A server that does not know the parameter shows everything.
      if (search !== undefined || (await find(parameter, `no-such-${randomText()}`))?.length === 0) {
        const isUsual = parameter === parameterOf(collection, 'q')
        return { search: name, ...(!isUsual && { query: { ...query, q: parameter } }) }
      }
    }
  }
  return search === undefined ? {} : { search }
}
