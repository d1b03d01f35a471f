/** What cases expect, as sentences with pure judgements. */

import { type Answer, type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'
import { isSame, valueAt } from '../values/json.ts'
import type { Expectation, Finding, Part, Seen } from './case.ts'
import { NotApplicable, NotSetUp } from './not-judged.ts'
import type { Reference } from './references.ts'

/** Why an answer is not as it should be; `undefined` where it is. */
export type Judgement = (answer: Answer, seen: Seen, exchange: Exchange) => Finding | undefined

/** The answer of a step is as a judgement says; where none came, that is the finding. */
export function answerOf(step: Reference, says: string, judge: Judgement): Expectation {
  return {
    says,
    judge(seen) {
      const exchange = seen.of(step)
      if (exchange.answer === undefined) return finding(exchange, 'connection', `no answer came: ${exchange.failure}`)
      return judge(exchange.answer, seen, exchange)
    },
  }
}

/** Every answer of a step is so. */
export function everyAnswerOf(step: Reference, says: string, judge: Judgement): Expectation {
  return {
    says,
    judge(seen) {
      for (const exchange of seen.all(step)) {
        if (exchange.answer === undefined) return finding(exchange, 'connection', `no answer came: ${exchange.failure}`)
        const found = judge(exchange.answer, seen, exchange)
        if (found !== undefined) return found
      }
      return undefined
    },
  }
}

/** Something that is seen in several answers together. */
export function altogether(says: string, judge: (seen: Seen) => Finding | undefined): Expectation {
  return { says, judge }
}

/** The case is about servers of which this is so: `test` says why this is none. It comes before what must be so. */
export function applicableWhere(says: string, test: (seen: Seen) => string | undefined): Expectation {
  return {
    says: `only where ${says}`,
    judge(seen) {
      const why = test(seen)
      if (why !== undefined) throw new NotApplicable(why)
      return undefined
    },
  }
}

/** The case proves something only where this came about: `test` says what did instead. It comes before what must be so. */
export function readyWhere(says: string, test: (seen: Seen) => string | undefined): Expectation {
  return {
    says: `relies on it that ${says}`,
    judge(seen) {
      const why = test(seen)
      if (why !== undefined) throw new NotSetUp(why)
      return undefined
    },
  }
}

/** The message, unless the condition is met. */
export function unless(isMet: boolean, message: string): string | undefined {
  return isMet ? undefined : message
}

/** A finding. */
export function finding(exchange: Exchange | undefined, part: Part, message: string): Finding {
  return { exchange, part, message }
}

/** The status is one of these. */
export function status(step: Reference, ...wanted: readonly number[]): Expectation {
  const text = wanted.join(' or ')
  return answerOf(step, `answers ${text}`, (answer, _, exchange) =>
    wanted.includes(answer.status) ? undefined : finding(exchange, 'status', `${answer.status} in place of ${text}`),
  )
}

/** The status of every answer of a step is one of these. */
export function everyStatus(step: Reference, ...wanted: readonly number[]): Expectation {
  const text = wanted.join(' or ')
  return everyAnswerOf(step, `answers ${text} each time`, (answer, _, exchange) =>
    wanted.includes(answer.status) ? undefined : finding(exchange, 'status', `${answer.status} in place of ${text}`),
  )
}

/** The error has this code. */
export function code(step: Reference, wanted: string): Expectation {
  return answerOf(step, `has the code ${wanted}`, (answer, { profile }, exchange) => {
    const found = valueAt(jsonOf(answer), profile.names.code)
    if (found === wanted) return undefined
    return finding(exchange, { pointer: profile.names.code }, `${short(found)} in place of ${wanted}`)
  })
}

/** The status is none of these. */
export function statusNot(step: Reference, ...unwanted: readonly number[]): Expectation {
  return answerOf(step, `does not answer ${unwanted.join(' or ')}`, (answer, _, exchange) =>
    unwanted.includes(answer.status) ? finding(exchange, 'status', `${answer.status}`) : undefined,
  )
}

/** The status says that it was done. */
export function done(step: Reference): Expectation {
  return answerOf(step, 'is carried out', (answer, _, exchange) =>
    answer.status >= 200 && answer.status < 300
      ? undefined
      : finding(exchange, 'status', `${answer.status} in place of a success`),
  )
}

/** It is refused as a mistake of who asked: 4xx. */
export function refused(step: Reference): Expectation {
  return everyAnswerOf(step, 'is refused', (answer, _, exchange) =>
    answer.status >= 400 && answer.status < 500
      ? undefined
      : finding(exchange, 'status', `${answer.status} in place of 4xx`),
  )
}

/** A header field is there, and as it should be: `test` says what is wrong with it. */
export function field(
  step: Reference,
  name: string,
  says = 'is there',
  test: (value: string, seen: Seen) => string | undefined = () => undefined,
): Expectation {
  return answerOf(step, `${name} ${says}`, (answer, seen, exchange) => {
    const value = fieldOf(answer, name)
    if (value === undefined) return finding(exchange, { field: name }, `there is no ${name}`)
    const wrong = test(value, seen)
    return wrong === undefined ? undefined : finding(exchange, { field: name }, wrong)
  })
}

/** A header field is not there. */
export function noField(step: Reference, name: string): Expectation {
  return answerOf(step, `has no ${name}`, (answer, _, exchange) => {
    const value = fieldOf(answer, name)
    return value === undefined ? undefined : finding(exchange, { field: name }, `${name} is there: ${value}`)
  })
}

/** The body is empty. */
export function noBody(step: Reference): Expectation {
  return answerOf(step, 'has no body', ({ body }, _, exchange) =>
    body === '' ? undefined : finding(exchange, 'body', `a body of ${Buffer.byteLength(body)} bytes`),
  )
}

/** Nothing comes after the answer to bytes. */
export function nothingFollows(step: Reference): Expectation {
  return answerOf(step, 'is followed by nothing', (_, __, exchange) =>
    exchange.rest ? finding(exchange, 'body', `after the header came: ${short(exchange.rest)}`) : undefined,
  )
}

/** The value at a pointer of the JSON body: `test` says what is wrong with it, `undefined` where there is none. */
export function member(
  step: Reference,
  pointer: string | ((seen: Seen) => string),
  says: string,
  test: (value: unknown, seen: Seen) => string | undefined,
): Expectation {
  return answerOf(
    step,
    `${typeof pointer === 'string' ? pointer || 'the body' : 'a member'} ${says}`,
    (answer, seen, exchange) => {
      const at = typeof pointer === 'string' ? pointer : pointer(seen)
      const body = jsonOf(answer)
      if (body === undefined) return finding(exchange, 'body', 'the body is not JSON')
      const wrong = test(valueAt(body, at), seen)
      return wrong === undefined ? undefined : finding(exchange, at === '' ? 'body' : { pointer: at }, wrong)
    },
  )
}

/** The records of a list that an answer holds; `undefined` where it holds none. */
export function itemsOf(
  answer: Answer | undefined,
  { profile }: Pick<Seen, 'profile'>,
): Readonly<Record<string, unknown>>[] | undefined {
  const items = answer && valueAt(jsonOf(answer), profile.names.items)
  return Array.isArray(items) ? items : undefined
}

/** The total that a list tells; `undefined` where it tells none. */
export function totalOf(answer: Answer | undefined, { profile }: Pick<Seen, 'profile'>): number | undefined {
  if (answer === undefined) return undefined
  const { total } = profile.names
  const told = total.startsWith('header:')
    ? fieldOf(answer, total.slice('header:'.length))
    : valueAt(jsonOf(answer), total)
  return told === undefined || told === null || told === '' ? undefined : Number(told)
}

/** The bodies of two steps say the same. */
export function sameBody(step: Reference, other: Reference): Expectation {
  return answerOf(step, `has the same body as ${other.name}`, (answer, seen, exchange) => {
    const expected = seen.of(other).answer
    if (expected === undefined || isSame(jsonOf(answer) ?? answer.body, jsonOf(expected) ?? expected.body))
      return undefined
    return finding(exchange, 'body', `the body differs from that of ${other.name}: ${short(expected.body)}`)
  })
}

/** A JSON value, or a text, for a sentence. */
export function short(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing')
  return text.length > 200 ? `${text.slice(0, 200)} …` : text
}

/** The record is there, and as it was before. */
export function unchanged(step: Reference, before: Reference): readonly Expectation[] {
  return [status(step, 200), sameBody(step, before)]
}
