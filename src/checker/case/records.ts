/** What cases expect of records in answers. */
import { type Answer, type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import { isObject, type JsonObject, memberPointer, valueAt } from '../values/json.ts'
import type { Expectation, Finding, Observations } from './case.ts'
import { answerOf, finding, itemsOf } from './expect.ts'
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

/** Expects a record in the response of a step; `test` returns what is wrong with it. */
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

/** The identity of a record that an exchange created: its identifier or its path; `undefined` if none was created. */
export function madeBy({ answer, asked }: Exchange, seen: Where): string | undefined {
  if (answer === undefined || answer.status >= 300) return undefined
  const location = fieldOf(answer, 'Location')
  const id = recordOf(answer, seen)?.[seen.collection.id]
  return id === undefined ? location && new URL(location, asked.url).pathname : String(id)
}
