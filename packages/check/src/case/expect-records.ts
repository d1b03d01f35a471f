/** What cases expect of records, by the names of the steps that made them. */
import { type Answer, type Asked, type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import { isObject, isSame, type JsonObject, memberPointer, objectOf, valueAt } from '../values/json.ts'
import type { Expectation, Finding, Observations } from './case.ts'
import { answerOf, finding, itemsOf, short, status, unexpected } from './expect.ts'
import type { Reference } from './references.ts'

/** A deletion was made, or accepted: one of the three good answers (DEL-2). */
export function deleted(step: Reference): Expectation {
  return status(step, 204, 200, 202)
}

/** A list holds these of the records that were made, and not those. */
export function shows(step: Reference, those: readonly Reference[], notThose: readonly Reference[] = []): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const at = { pointer: seen.profile.names.items }
    const held = itemsOf(answer, seen)?.map((item) => String(item?.[seen.collection.id]))
    if (held === undefined) return finding(exchange, at, `${answer.status} without a list`)
    const lacking = those.find(({ id }) => !held.includes(seen.fill(id)))
    if (lacking !== undefined) return finding(exchange, at, `${lacking.name} (${seen.fill(lacking.id)}) is not there`)
    const extra = notThose.find(({ id }) => held.includes(seen.fill(id)))
    if (extra === undefined) return undefined
    return finding(exchange, at, `${extra.name} (${seen.fill(extra.id)}) is there`)
  })
}

/** A record, as an answer holds it, has the members that it was made with, and its identifier. */
export function asMade(
  step: Reference,
  made: Reference,
  recordIn: (answer: Answer, seen: Observations) => JsonObject | undefined = recordOf,
): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const record = recordIn(answer, seen)
    const sent = objectOf(recordSent(seen.of(made).asked, seen))
    const before = seen.of(made).answer
    // The expected value is the one in the response of the creation.
    const wanted = Object.keys(sent).map((name) => [name, recordOf(before, seen)?.[name]] as const)
    if (record === undefined) return 'there is no record'
    for (const [name, value] of [[seen.collection.id, seen.fill(made.id)] as const, ...wanted]) {
      const now = record[name]
      if (value === undefined || isSame(now, value) || (name === seen.collection.id && String(now) === value)) continue
      return finding(exchange, { pointer: memberPointer(name) }, `${name} is ${short(now)}, and was ${short(value)}`)
    }
    return undefined
  })
}

/** Of requests that were made at once exactly one is answered 2xx, and the others with one of these. */
export function oneWins(step: Reference, ...others: readonly number[]): Expectation {
  return (seen) => {
    const all = seen.all(step)
    const won = all.filter(({ answer }) => answer !== undefined && answer.status < 300)
    const odd = all.find((each) => !won.includes(each) && !others.includes(each.answer?.status ?? 0))
    if (odd !== undefined) return unexpected(odd, others.join(' or '))
    if (won.length === 1) return undefined
    return finding(won[1] ?? all[0], 'status', `${won.length} of ${all.length} were answered 2xx`)
  }
}

/** Whether the list of a step contains a record. */
export function isListed(step: Reference, record: Reference): (seen: Observations) => boolean {
  return (seen) => listed(seen.of(step).answer, seen, seen.fill(record.id)) !== undefined
}

/** Whether a list shows exactly these of the records that were made, and nothing else: the filter works. */
export function isExactly(step: Reference, ...records: readonly Reference[]): (seen: Observations) => boolean {
  return (seen) => {
    const found = itemsOf(seen.of(step).answer, seen)?.map((item) => String(item?.[seen.collection.id]))
    return isSame(found?.toSorted(), records.map(({ id }) => seen.fill(id)).toSorted())
  }
}

/** What is wrong with a record, and at which of its members. */
export interface Wrong {
  readonly member?: string | undefined
  readonly message: string
}

type Where = Pick<Observations, 'profile' | 'collection'>

/**
 * The record that an answer holds: bare, where lists hold theirs, or in the only object with an identifier (`{"city":
 * {…}}`); `undefined` where it holds none.
 */
export function recordOf(answer: Answer | undefined, { profile, collection }: Where): JsonObject | undefined {
  const body = jsonOf(answer)
  if (!isObject(body)) return undefined
  if (Object.hasOwn(body, collection.id)) return body
  const inner = valueAt(body, profile.names.items)
  if (isObject(inner) && inner !== body) return inner
  const [only, ...others] = Object.values(body).filter((each) => isObject(each) && Object.hasOwn(each, collection.id))
  return isObject(only) && others.length === 0 ? only : body
}

/** The record in the last response of a step. */
export function recordAt(step: Reference, seen: Observations): JsonObject | undefined {
  return recordOf(seen.of(step).answer, seen)
}

/** The record in the body of a request, without its envelope. */
export function recordSent(asked: Pick<Asked, 'body' | 'plain'> | undefined, { profile }: Pick<Where, 'profile'>) {
  return valueAt(JSON.parse(asked?.plain ?? asked?.body ?? '{}'), profile.names.body)
}

/** Expects a record in the response of a step; `test` returns what is wrong with it. */
export function theRecord(step: Reference, test: (record: JsonObject, seen: Observations) => Wrong | undefined) {
  return answerOf(step, (answer, seen, exchange) => {
    const record = recordOf(answer, seen)
    if (record === undefined) return 'the body is no JSON object'
    const wrong = test(record, seen)
    return wrong && wrongIn(exchange, record, wrong)
  })
}

/** A finding about a record of an answer. */
export function wrongIn(exchange: Exchange, record: JsonObject, { member, message }: Wrong): Finding {
  if (member === undefined || !Object.hasOwn(record, member)) return finding(exchange, 'body', message)
  const isBare = exchange.answer !== undefined && jsonOf(exchange.answer) === record
  return finding(exchange, isBare ? { pointer: memberPointer(member) } : 'body', message)
}

/** The record of a list with an identifier. */
export function listed(answer: Answer | undefined, seen: Where, id: string): JsonObject | undefined {
  return itemsOf(answer, seen)?.find((each) => String(each[seen.collection.id]) === id)
}

/** The identity of a record that an exchange created: its identifier or its path; `undefined` if none was created. */
export function madeBy({ answer, asked }: Exchange, seen: Where): string | undefined {
  if (answer === undefined || answer.status >= 300) return undefined
  const location = fieldOf(answer, 'Location')
  const id = recordOf(answer, seen)?.[seen.collection.id]
  return id === undefined ? location && new URL(location, asked.url).pathname : String(id)
}
