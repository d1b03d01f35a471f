/** What can be learnt of a collection while a record of it is there that may be changed. */
import { type Answer, fieldOf, jsonOf } from '../client/exchange.ts'
import type { CollectionProfile, PageStyle } from '../profile/profile.ts'
import { distinct } from '../values/distinct.ts'
import { another, unfit } from '../values/generate.ts'
import { isObject, type JsonObject, valueAt } from '../values/json.ts'
import { ask, isGood } from './asker.ts'
import { complaintsIn } from './complaint.ts'
import { markerOf, schemaOf } from './members.ts'
import { keep, type Trial, type Tried } from './trial.ts'

/** Asks what a document leaves open, and whether the changes that were thought of are good. */
export async function learnt(
  trial: Trial,
  collection: CollectionProfile,
  tried: Tried,
): Promise<Partial<CollectionProfile>> {
  const isGuessed = trial.guessed.has(collection.name)
  const described = isGuessed ? { ...collection, ...fromRecord(collection, tried) } : collection
  // Before anything is changed: a change may be what lets others see it.
  const owned = await owning(trial, described, tried)
  const changed = await changes(trial, described, tried)
  const lists = isGuessed ? await listing(trial, described, tried) : {}
  const search = await searching(trial, { ...described, ...lists }, tried)
  const marker =
    collection.marker ??
    markerOf(described.schemas ?? {}, lists.filters ?? described.filters, described.unique, described.references)
  const restored = isGuessed ? await restoring(trial, described) : {}
  return { ...described, ...owned, ...changed, ...lists, ...restored, ...(search !== undefined && { search }), marker }
}

/** Of what no document describes: which members there are, by the body that was taken. */
function fromRecord({ unique, references, required }: CollectionProfile, { body }: Tried): Partial<CollectionProfile> {
  const own = Object.entries(body).filter(([name]) => !unique.includes(name) && !Object.hasOwn(references, name))
  const schemas = Object.fromEntries(Object.entries(body).map(([name, value]) => [name, schemaOf(value)]))
  const bad = own.flatMap(([name, value]) => {
    const wrong = unfit(schemaOf(value))
    return wrong === undefined || required.length === 0 ? [] : [[name, wrong] as const]
  })
  const other = own.flatMap(([name, value]) => {
    const different = another(value, schemaOf(value), name)
    return different === undefined ? [] : [[name, different] as const]
  })
  return { schemas, invalid: Object.fromEntries(bad), change: Object.fromEntries(other) }
}

/** The changes that are taken; of all together that are refused, those that are by themselves. */
async function changes(
  trial: Trial,
  collection: CollectionProfile,
  { url }: Tried,
): Promise<Partial<CollectionProfile>> {
  const { change, operations } = collection
  if (!operations.includes('update') || Object.keys(change).length === 0) return {}
  let conditional = collection.conditional
  const patch = async (body: JsonObject) => {
    let { answer } = await ask(trial.asker, 'PATCH', url, { body, fields: conditional ? await tagOf(trial, url) : [] })
    if (answer?.status === 428 && !conditional) {
      conditional = true
      answer = (await ask(trial.asker, 'PATCH', url, { body, fields: await tagOf(trial, url) })).answer
    }
    return answer
  }
  const answer = await patch(change)
  if (isGood(answer)) return { conditional }
  if (answer !== undefined && [404, 405, 501].includes(answer.status)) {
    return trial.guessed.has(collection.name) ? { operations: operations.filter((each) => each !== 'update') } : {}
  }
  if (answer === undefined || ![400, 409, 422].includes(answer.status)) return { conditional }
  const blamed = new Set(complaintsIn(answer, Object.keys(change)).map(({ member }) => member))
  const left = Object.fromEntries(Object.entries(change).filter(([name]) => !blamed.has(name)))
  if (Object.keys(left).length > 0 && blamed.size > 0 && isGood(await patch(left))) return { change: left, conditional }
  const good: [string, unknown][] = []
  for (const [name, value] of Object.entries(change).slice(0, 8)) {
    if (isGood(await patch({ [name]: value }))) good.push([name, value])
  }
  return { change: Object.fromEntries(good), conditional }
}

async function tagOf({ asker }: Trial, url: string): Promise<[string, string][]> {
  const { answer } = await ask(asker, 'GET', url)
  return [['If-Match', (answer && fieldOf(answer, 'ETag')) ?? '*']]
}

/** What lists can do that no document describes: pages, filters and orders, as far as it can be seen. */
async function listing(
  trial: Trial,
  { path, schemas = {} }: CollectionProfile,
  { body }: Tried,
): Promise<Partial<CollectionProfile>> {
  const list = async (query: string) => {
    const { answer } = await ask(trial.asker, 'GET', `${trial.profile.base}${path}?${query}`)
    return isGood(answer) ? itemsOf(trial, answer) : undefined
  }
  const whole = await list('')
  const pages: PageStyle[] = []
  if (whole !== undefined && whole.length > 1) {
    if ((await list('page=1&per_page=1'))?.length === 1) pages.push('page')
    if ((await list('offset=0&limit=1'))?.length === 1) pages.push('offset')
  }
  const filters: string[] = []
  for (const [name, value] of Object.entries(body).slice(0, mostMembers)) {
    if (typeof value === 'object' || value === null) continue
    const [hit, miss] = [
      await list(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`),
      await list(`${encodeURIComponent(name)}=${missing(schemas[name])}`),
    ]
    const isRight = hit !== undefined && hit.length > 0 && hit.every((each) => isObject(each) && each[name] === value)
    if (isRight && (miss === undefined || miss.length === 0)) filters.push(name)
  }
  const sorts: string[] = []
  for (const name of Object.keys(body).slice(0, mostMembers)) {
    const [up, down] = [await list(`sort=${encodeURIComponent(name)}`), await list(`sort=-${encodeURIComponent(name)}`)]
    const isTurned =
      up !== undefined && down !== undefined && up.length > 1 && memberOf(up[0], name) !== memberOf(down[0], name)
    if (isTurned) sorts.push(name)
  }
  return { pages, filters, sorts }
}

const mostMembers = 6

function missing(schema: JsonObject = {}): string {
  return schema['type'] === 'string' ? `no-such-${Date.now().toString(36)}` : '-987654321'
}

function memberOf(record: unknown, name: string): unknown {
  return isObject(record) ? record[name] : undefined
}

function itemsOf({ profile }: Trial, answer: Answer): readonly unknown[] | undefined {
  const items = valueAt(jsonOf(answer), profile.names.items)
  return Array.isArray(items) ? items : undefined
}

/** The member whose words search finds: a record that is there is looked for by its words. */
async function searching(
  trial: Trial,
  { path, search, id, schemas = {}, references }: CollectionProfile,
  tried: Tried,
): Promise<string | undefined> {
  if (search === undefined) return undefined
  const texts = Object.keys(tried.body).filter(
    (name) =>
      typeof tried.body[name] === 'string' && !('enum' in (schemas[name] ?? {})) && !Object.hasOwn(references, name),
  )
  for (const name of [search, ...texts.filter((each) => each !== search)].slice(0, mostMembers)) {
    const words = tried.body[name]
    if (typeof words !== 'string' || words.trim() === '') continue
    const { answer } = await ask(trial.asker, 'GET', `${trial.profile.base}${path}?q=${encodeURIComponent(words)}`)
    const found = isGood(answer) ? itemsOf(trial, answer) : undefined
    if (found?.some((each) => String(memberOf(each, id)) === tried.id)) return name
  }
  return search
}

/** Whether others may make records, and do not see this one: as long as it is not tried, nobody is an owner. */
async function owning(
  trial: Trial,
  collection: CollectionProfile,
  { url, body }: Tried,
): Promise<Partial<CollectionProfile>> {
  const { asker, other } = trial
  const none = { owner: undefined }
  if (other === undefined) return none
  const others = { ...asker, credential: other }
  const read = (await ask(others, 'GET', url)).answer
  const own = Object.fromEntries(
    collection.unique.map((each) => [each, distinct(body[each], 0, collection.schemas?.[each])]),
  )
  const theirs = await ask(others, 'POST', trial.profile.base + collection.path, { body: { ...body, ...own } })
  if (isGood(theirs.answer)) {
    keep(trial, collection, theirs, body, others)
    if (read !== undefined && [403, 404].includes(read.status) && collection.owner !== undefined) return {}
  }
  const may = [...(isGood(theirs.answer) ? ['make'] : []), ...(isGood(read) ? ['read'] : [])]
  if (may.length === 0) return none
  trial.notices.push(
    `Whoever --other-key belongs to may ${may.join(' and ')} records of ${collection.name}. Rules about callers who may do nothing (AUT-3) need the key of somebody who may not; if so it shall be, say it in a profile (otherMay).`,
  )
  return none
}

/** Whether what is deleted can be taken back: tried with a record of our own. */
async function restoring(trial: Trial, { name, operations }: CollectionProfile): Promise<Partial<CollectionProfile>> {
  const last = trial.there.at(-1)
  if (last === undefined || last === trial.made.get(name) || !operations.includes('delete')) return {}
  if (!isGood((await ask(trial.asker, 'DELETE', last.url)).answer)) return {}
  const { answer } = await ask(trial.asker, 'POST', `${last.url}/restore`)
  return isGood(answer) ? { operations: [...operations, 'restore'], deletion: 'soft' } : {}
}
