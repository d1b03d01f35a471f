/** What cases expect of records in answers. */
import { type Answer, type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import { isObject, isSame, type JsonObject, memberPointer, valueAt } from '../values/json.ts'
import type { Expectation, Finding, Observations } from './case.ts'
import { answerOf, finding, itemsOf, short } from './expect.ts'
import type { Reference } from './references.ts'

/** What is wrong with a record, and at which of its members. */
export interface Wrong {
  readonly member?: string | undefined
  readonly message: string
}

type Where = Pick<Observations, 'profile' | 'collection'>

/** The record that an answer holds: bare, or where lists hold theirs; `undefined` where it holds none. */
export function recordOf(answer: Answer | undefined, { profile, collection }: Where): JsonObject | undefined {
  const body = answer && jsonOf(answer)
  const inner = valueAt(body, profile.names.items)
  return isObject(body) && !Object.hasOwn(body, collection.id) && isObject(inner)
    ? inner
    : isObject(body)
      ? body
      : undefined
}

/** The answer of a step holds a record, and `test` says what is wrong with it. */
export function theRecord(
  step: Reference,
  test: (record: JsonObject, seen: Observations) => Wrong | undefined,
): Expectation {
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

/** By what a record that an exchange made is known: its identifier, or where it is; `undefined` where none was made. */
export function madeBy({ answer, asked }: Exchange, seen: Where): string | undefined {
  if (answer === undefined || answer.status >= 300) return undefined
  const location = fieldOf(answer, 'Location')
  const id = recordOf(answer, seen)?.[seen.collection.id]
  return id === undefined ? location && new URL(location, asked.url).pathname : String(id)
}

/** The JSON object that was sent at a step; empty where it was none. */
export function sentAt(seen: Observations, step: Reference): JsonObject {
  try {
    const value = JSON.parse(seen.of(step).asked.body ?? '')
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/**
 * The first member that has another value than it should have. Members that are not there say nothing: some are never
 * shown.
 */
export function differing(record: JsonObject, wanted: JsonObject, names = Object.keys(wanted)): Wrong | undefined {
  const member = names.find(
    (name) => Object.hasOwn(wanted, name) && Object.hasOwn(record, name) && !isAlike(record[name], wanted[name]),
  )
  return member === undefined
    ? undefined
    : { member, message: `${member} is ${short(record[member])} in place of ${short(wanted[member])}` }
}

/** The record at a step holds what was sent at a step, as far as it shows it. */
export function holdsSent(step: Reference, sent: Reference): Expectation {
  return theRecord(step, (record, seen) => {
    const wanted = sentAt(seen, sent)
    const isShown = Object.keys(wanted).some((name) => Object.hasOwn(record, name))
    return isShown ? differing(record, wanted) : { message: 'it holds none of the members that were sent' }
  })
}

/**
 * The records of two steps have the same members, whatever their values. `deleted_at` is a matter of its own (RES-6).
 */
export function sameMembers(step: Reference, other: Reference, find = recordOf): Expectation {
  return answerOf(step, (answer, seen) => {
    const record = find(answer, seen)
    const wanted = recordOf(seen.of(other).answer, seen)
    if (record === undefined || wanted === undefined) return 'there is no record in it'
    const lacking = namesOf(wanted).filter((name) => !Object.hasOwn(record, name))
    const added = namesOf(record).filter((name) => !Object.hasOwn(wanted, name))
    if (lacking.length === 0 && added.length === 0) return undefined
    const said = [lacking.length > 0 && `lacks ${lacking.join(', ')}`, added.length > 0 && `adds ${added.join(', ')}`]
    return `${said.filter(Boolean).join(' and ')}, other than ${other.name}`
  })
}

/** The names of a record's members, but for `deleted_at`. */
export function namesOf(record: JsonObject): string[] {
  return Object.keys(record).filter((name) => name !== 'deleted_at')
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d/

/** The same value, or another way to write the same instant. */
function isAlike(left: unknown, right: unknown): boolean {
  if (isSame(left, right)) return true
  if (isObject(left) && isObject(right)) return differing(left, right) === undefined
  return [left, right].every((each) => typeof each === 'string' && instant.test(each))
    ? Date.parse(left as string) === Date.parse(right as string)
    : false
}
