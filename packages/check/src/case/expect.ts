/** What cases expect, as sentences with pure judgements. */
import { type Answer, type Exchange, fieldOf, isSuccess, jsonOf } from '../client/exchange.ts'
import { isSame, objectOf, parseJson, valueAt } from '../values/json.ts'
import type { Expectation, Finding, Observations, Part } from './case.ts'
import type { Reference } from './references.ts'

/** What is wrong with a response, at its body if only a message is given; `undefined`: nothing. */
export type Judgement = (answer: Answer, seen: Observations, exchange: Exchange) => Finding | string | undefined

function judged(exchange: Exchange, seen: Observations, judge: Judgement): Finding | undefined {
  if (exchange.answer === undefined) return finding(exchange, 'connection', `no answer came: ${exchange.failure}`)
  const found = judge(exchange.answer, seen, exchange)
  return typeof found === 'string' ? finding(exchange, 'body', found) : found
}

/** The last response of a step is right. */
export function answerOf(step: Reference, judge: Judgement): Expectation {
  return (seen) => judged(seen.of(step), seen, judge)
}

/** Every response of a step is right. */
export function everyAnswerOf(step: Reference, judge: Judgement): Expectation {
  return (seen) => {
    for (const exchange of seen.all(step)) {
      const found = judged(exchange, seen, judge)
      if (found !== undefined) return found
    }
    return undefined
  }
}

/** The elements of a header field that is a list. */
export function elementsOf(value: string): string[] {
  return value
    .split(',')
    .map((element) => element.trim())
    .filter((element) => element !== '')
}

/** The message, unless the condition is met. */
export function unless(isMet: boolean | undefined, message: string): string | undefined {
  return isMet ? undefined : message
}

export function finding(exchange: Exchange | undefined, part: Part, message: string): Finding {
  return { exchange, part, message }
}

/** A request that was answered with another status, or not at all. */
export function unexpected(exchange: Exchange, wanted: string | number): Finding {
  return finding(exchange, 'status', `${exchange.answer?.status ?? exchange.failure} in place of ${wanted}`)
}

function statusIs(isRight: (status: number) => boolean, wanted: string): Judgement {
  return ({ status }, _, exchange) => (isRight(status) ? undefined : unexpected(exchange, wanted))
}

const oneOf = (wanted: readonly number[]) => statusIs((status) => wanted.includes(status), wanted.join(' or '))
const isDone = statusIs((status) => status >= 200 && status < 300, 'a success')
const isRefused = statusIs((status) => status >= 400 && status < 500, '4xx')
const isNoFailure = statusIs((status) => status < 500, 'a success or 4xx')

export function status(step: Reference, ...wanted: readonly number[]): Expectation {
  return answerOf(step, oneOf(wanted))
}

/** No record is at the address that a step has read. */
export function nothingAt(step: Reference): Expectation {
  return (seen) => {
    const exchange = seen.of(step)
    return exchange.answer?.status === 200 ? finding(exchange, 'status', 'a record is there: 200') : undefined
  }
}

export function everyStatus(step: Reference, ...wanted: readonly number[]): Expectation {
  return everyAnswerOf(step, oneOf(wanted))
}

/** The request was carried out: 2xx. */
export function done(step: Reference): Expectation {
  return answerOf(step, isDone)
}

/** Every request of a step is refused as a mistake of the client: 4xx. */
export function refused(step: Reference): Expectation {
  return everyAnswerOf(step, isRefused)
}

/** No request of a step makes the server fail: 5xx. */
export function noFailure(step: Reference): Expectation {
  return everyAnswerOf(step, isNoFailure)
}

export function code(step: Reference, wanted: string): Expectation {
  return answerOf(step, (answer, { profile }, exchange) => {
    const found = valueAt(jsonOf(answer), profile.names.code)
    if (found === wanted) return undefined
    return finding(exchange, { pointer: profile.names.code }, `${short(found)} in place of ${wanted}`)
  })
}

/** Returns what is wrong with a value; `undefined`: nothing. */
export type Objection<Value> = (value: Value, seen: Observations) => string | undefined

export function field(step: Reference, name: string, test: Objection<string> = () => undefined): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const value = fieldOf(answer, name)
    if (value === undefined) return finding(exchange, { field: name }, `there is no ${name}`)
    const wrong = test(value, seen)
    return wrong === undefined ? undefined : finding(exchange, { field: name }, wrong)
  })
}

export function fieldIs(step: Reference, name: string, wanted: string | ((seen: Observations) => string)): Expectation {
  return field(step, name, (value, seen) => {
    const expected = typeof wanted === 'string' ? wanted : wanted(seen)
    return unless(value === expected, `${value} in place of ${expected}`)
  })
}

export function noField(step: Reference, name: string): Expectation {
  return answerOf(step, (answer, _, exchange) => {
    const value = fieldOf(answer, name)
    return value === undefined ? undefined : finding(exchange, { field: name }, `${name} is there: ${value}`)
  })
}

export function noBody(step: Reference): Expectation {
  return answerOf(step, ({ body }) => unless(body === '', `a body of ${Buffer.byteLength(body)} bytes`))
}

type Pointer = string | ((seen: Observations) => string)

/** The value at a pointer of the JSON body; `undefined` if there is none. */
export function member(step: Reference, pointer: Pointer, test: Objection<unknown>): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    const at = typeof pointer === 'string' ? pointer : pointer(seen)
    const body = jsonOf(answer)
    if (body === undefined) return 'the body is not JSON'
    const wrong = test(valueAt(body, at), seen)
    return wrong === undefined ? undefined : finding(exchange, at === '' ? 'body' : { pointer: at }, wrong)
  })
}

/** The response lists so many errors at least. */
export function listsErrors(step: Reference, count: number): Expectation {
  const pointer: Pointer = ({ profile }) => profile.names.errors
  return member(step, pointer, (errors) =>
    unless(Array.isArray(errors) && errors.length >= count, `errors is ${short(errors)}`),
  )
}

/** The value at a pointer of the JSON body passes a test. */
export function memberIs(step: Reference, pointer: Pointer, isRight: (value: unknown, seen: Observations) => boolean) {
  return member(step, pointer, (it, seen) => unless(isRight(it, seen), `it is ${short(it)}`))
}

export const isText = (value: unknown): value is string => typeof value === 'string'

/** A path from the root, or an HTTP address. */
export const isAddress = (value: unknown) => isText(value) && /^(\/|https?:\/\/)/.test(value)

/** The records of a list that an answer holds; `undefined` where it holds none. */
export function itemsOf(
  answer: Answer | undefined,
  { profile }: Pick<Observations, 'profile'>,
): Readonly<Record<string, unknown>>[] | undefined {
  if (answer === undefined) return undefined
  const body = jsonOf(answer)
  const items = valueAt(body, profile.names.items)
  if (Array.isArray(items)) return items
  // Some servers put only the pages of a list into an envelope.
  const pointer = isSuccess(answer)
    ? ['', '/data', '/items', '/results'].find((each) => Array.isArray(valueAt(body, each)))
    : undefined
  return pointer === undefined ? undefined : (valueAt(body, pointer) as Readonly<Record<string, unknown>>[])
}

/** The total in a list; `undefined` if there is none. */
export function totalOf(answer: Answer | undefined, { profile }: Pick<Observations, 'profile'>): number | undefined {
  if (answer === undefined) return undefined
  const { total } = profile.names
  const field = fieldOfTotal(total)
  const told =
    field === undefined ? valueAt(jsonOf(answer), total) : totalIn(fieldOf(answer, field.name), field.pointer)
  return told === undefined || told === null || told === '' ? undefined : Number(told)
}

export function totalPart({ profile: { names } }: Pick<Observations, 'profile'>) {
  const field = fieldOfTotal(names.total)
  return field === undefined ? { pointer: names.total } : { field: field.name }
}

/** The header field that holds the total, and where in its JSON value; `undefined` if the body holds it. */
function fieldOfTotal(total: string): { readonly name: string; readonly pointer: string } | undefined {
  const [, name, pointer = ''] = /^header:([^/]+)(.*)$/.exec(total) ?? []
  return name === undefined ? undefined : { name, pointer }
}

/** The total in the value of a header field: `96`, `items 0-9/96`, or JSON with a pointer into it. */
function totalIn(value: string | undefined, pointer: string): unknown {
  if (value === undefined) return undefined
  if (pointer !== '') return valueAt(parseJson(value), pointer)
  return /^[\w-]+ [^/]*\/(\d+)$/.exec(value)?.[1] ?? value
}

export function sameBody(step: Reference, other: Reference): Expectation {
  return answerOf(step, (answer, seen) => {
    const expected = seen.of(other).answer
    if (expected === undefined || isSame(jsonOf(answer) ?? answer.body, jsonOf(expected) ?? expected.body))
      return undefined
    return `the body differs from that of ${other.name}: ${short(expected.body)}`
  })
}

/**
 * The errors that a response lists, and where: at the place of the profile, or in the only array of the error. Servers
 * list errors of validation elsewhere than the message of other errors.
 */
export function errorsIn(
  answer: Answer,
  { profile }: Pick<Observations, 'profile'>,
): { readonly pointer: string; readonly errors: readonly unknown[] } | undefined {
  const body = jsonOf(answer)
  const { errors: usual } = profile.names
  const told = valueAt(body, usual)
  if (Array.isArray(told)) return { pointer: usual, errors: told }
  const found = Object.entries(objectOf(body)).flatMap(([name, value]) => [
    [`/${name}`, value] as const,
    ...Object.entries(objectOf(value)).map(([inner, each]) => [`/${name}/${inner}`, each] as const),
  ])
  const lists = found.flatMap(([pointer, value]) => (Array.isArray(value) ? [{ pointer, errors: value }] : []))
  return lists.length === 1 ? lists[0] : undefined
}

/** A JSON value, or a text, for a sentence. */
export function short(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return text.length > 200 ? `${text.slice(0, 200)} …` : text
}
