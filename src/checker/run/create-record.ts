/** Creates records for cases, with the records to which they refer, and notes every record that a request created. */
import { type Caller, type CreatedRecord, NotSetUp } from '../case/case.ts'
import { fill } from '../case/fill.ts'
import { nestedPath } from '../case/members.ts'
import { collection as collectionAddress } from '../case/references.ts'
import { type Answer, type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import { type JsonObject, valueAt } from '../values/json.ts'
import { type CaseRun, send } from './context.ts'

interface Creation {
  readonly caller?: Caller | undefined
  readonly with?: JsonObject | undefined
  readonly without?: readonly string[] | undefined
}

/**
 * Creates a record of the case's collection.
 *
 * @throws NotSetUp if the server creates none
 */
export async function createRecord(run: CaseRun, as: string, creation: Creation = {}): Promise<Exchange> {
  await createParents(run, 0)
  const { caller, with: members = {}, without = [] } = creation
  const body = { from: 'example', with: members, without } as const
  const request = { method: 'POST', to: collectionAddress, body, ...(caller && { caller }) }
  const exchange = await send(run, { kind: 'ask', as, request, isPreparation: true })
  const what = `POST of a record of ${run.collection.name}`
  if (exchange.answer === undefined) throw new NotSetUp(`${what}: ${exchange.failure}`)
  if (exchange.answer.status >= 300) throw new NotSetUp(`${what} was answered ${statusText(exchange.answer)}`)
  const record = recordIn(run, exchange)
  if (record === undefined) throw new NotSetUp(`${what} returned neither its identifier nor its Location`)
  if (!run.ledger.add(record.path)) throw new NotSetUp(`${what} returned a record that existed before`)
  run.made.set(as, { ...record, by: caller })
  return exchange
}

const deepest = 4

/** Creates the records to which those of the collection refer. */
async function createParents(run: CaseRun, depth: number): Promise<void> {
  for (const name of new Set(Object.values(run.collection.references))) {
    const key = `parent ${name}`
    const collection = run.profile.collections.find((each) => each.name === name)
    if (run.made.has(key) || collection === undefined || depth === deepest) continue
    const parents: CaseRun = { ...run, collection, made: new Map() }
    if (collection.operations.includes('create') && collection.example !== undefined) {
      await createParents(parents, depth + 1)
      await createRecord(parents, key)
    } else {
      parents.made.set(key, await existingRecord(parents, key))
    }
    for (const [each, record] of parents.made) run.made.set(each, record)
  }
}

/** An existing record to refer to, if none can be created. */
async function existingRecord(run: CaseRun, as: string): Promise<CreatedRecord> {
  const request = { method: 'GET', to: collectionAddress }
  const { answer } = await send(run, { kind: 'ask', as, request, isPreparation: true })
  const items = answer && valueAt(jsonOf(answer), run.profile.names.items)
  const id = Array.isArray(items) ? items[0]?.[run.collection.id] : undefined
  if (id === undefined) {
    throw new NotSetUp(`there is no record of ${run.collection.name} to refer to, and none can be created`)
  }
  const path = `${fill(collectionAddress, run)}/${encodeURIComponent(String(id))}`
  return { id: String(id), path, isExisting: true }
}

/** Notes the record that a request of a case created, if it created one: the checker deletes it after the case. */
export function noteCreated(run: CaseRun, as: string, exchange: Exchange, caller?: Caller): void {
  const record = mayHaveCreated(run, exchange) ? recordIn(run, exchange) : undefined
  if (record === undefined || !run.ledger.add(record.path)) return
  // Several records may have one name.
  const name = run.made.has(as) ? `${as}.${run.made.size}` : as
  run.made.set(name, { ...record, by: caller === 'other' ? caller : undefined })
}

/**
 * Whether a request may have created a record: POST to the collection, there or below a record, or PUT where none was.
 */
function mayHaveCreated(run: CaseRun, { asked: { method, url }, answer }: Exchange): boolean {
  if (!URL.canParse(url)) return false
  const path = new URL(url).pathname.replace(/\/+$/, '')
  const collection = fill(collectionAddress, run)
  if (method === 'POST') return path === collection || path === nestedPath(run)
  const exists = [...run.made.values()].some((made) => made.path === path)
  return method === 'PUT' && (answer?.status ?? 500) < 300 && path.startsWith(`${collection}/`) && !exists
}

/** The record that a successful response names; `undefined` if it names none. */
function recordIn(run: CaseRun, { answer, asked }: Exchange): CreatedRecord | undefined {
  const { profile, collection, mark } = run
  if (answer === undefined || answer.status >= 300) return undefined
  if (asked.method === 'PUT') {
    const path = new URL(asked.url).pathname
    return { path, id: lastSegment(path) }
  }
  const body = jsonOf(answer)
  const named = valueAt(body, `/${collection.id}`) ?? valueAt(body, `${profile.names.items}/${collection.id}`)
  const location = fieldOf(answer, 'Location')
  if (named === undefined && location === undefined) return undefined
  const id = named === undefined ? lastSegment(new URL(location ?? '', asked.url).pathname) : String(named)
  // Such an identifier would make the record's path the one of its collection.
  if (/^\.{0,2}$/.test(id)) return undefined
  // A case of its own judges the Location. The path is where the record should be.
  const path = `${fill(collectionAddress, run)}/${encodeURIComponent(id)}`
  return { id, path, mark: collection.marker === undefined ? undefined : mark }
}

function lastSegment(path: string): string {
  return decodeURIComponent(path.slice(path.lastIndexOf('/') + 1))
}

/** A status, and the beginning of the response body. */
export function statusText({ status, body }: Answer): string {
  const text = body.replaceAll(/\s+/g, ' ').trim()
  return text === '' ? String(status) : `${status}: ${text.length > 300 ? `${text.slice(0, 300)} …` : text}`
}
