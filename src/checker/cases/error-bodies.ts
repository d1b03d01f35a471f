/** ERR-2: what errors say. */
import type { Case, Expectation, Seen } from '../case/case.ts'
import { define } from '../case/define.ts'
import { altogether, answerOf, field, finding, short } from '../case/expect.ts'
import { error, first as firstStep, second as secondStep } from '../case/names.ts'
import { collection, mark, references } from '../case/references.ts'
import { body } from '../case/steps.ts'
import { type Answer, jsonOf } from '../client/exchange.ts'
import { valueAt } from '../values/json.ts'
import { common, forbidden, made, noCredential, noRecord } from './mistakes.ts'

const [absent, malformed] = references('absent', 'malformed')

const wellNamed = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*$/

function codeOf(answer: Answer | undefined, { profile }: Seen): unknown {
  return answer && valueAt(jsonOf(answer), profile.names.code)
}

const tellsPeople: Expectation = answerOf(error, 'has a message for people', (answer, seen, exchange) => {
  const { message: at } = seen.profile.names
  const message = valueAt(jsonOf(answer), at)
  if (typeof message === 'string' && message.trim() !== '') return undefined
  return finding(exchange, message === undefined ? 'body' : { pointer: at }, `${short(message)} at ${at}: no message`)
})

const tellsPrograms: Expectation = answerOf(error, 'has a code in upper case', (answer, seen, exchange) => {
  const { code: at } = seen.profile.names
  const code = codeOf(answer, seen)
  if (typeof code === 'string' && wellNamed.test(code)) return undefined
  const message = `${short(code)} at ${at} is no code such as NOT_FOUND`
  return finding(exchange, code === undefined ? 'body' : { pointer: at }, message)
})

/** Errors tell people and programs what is wrong. */
export const bodies: readonly Case[] = [
  ...[...common, noCredential, forbidden].map(
    (mistake): Case => ({
      id: `ERR-2/${mistake.name}`,
      title: `An error has a message and a code: ${mistake.title}`,
      level: 'must',
      ...made(mistake),
      expect: [tellsPeople, tellsPrograms],
      remedy:
        'Make all errors in one place, those of your framework too, each with a sentence and a code in UPPER_CASE_WITH_UNDERSCORES.',
    }),
  ),
  ...define({
    'ERR-2/same-code': {
      title: 'The same mistake has the same code every time',
      level: 'must',
      after: ['ERR-2/record'],
      steps: [firstStep, secondStep].map((step) => step.get(`${collection}/no-such-${step.name}-${mark}`)),
      expect: [
        altogether('both have one code', (seen) => {
          const [first, second] = [firstStep, secondStep].map((step) => codeOf(seen.of(step).answer, seen))
          if (first !== undefined && first === second) return undefined
          return finding(
            seen.of(secondStep),
            { pointer: seen.profile.names.code },
            `${short(second)} after ${short(first)}`,
          )
        }),
      ],
      remedy: 'Give a kind of error one code for ever: programs branch on it.',
    },
    'ERR-2/telling-codes': {
      title: 'Different mistakes have different codes',
      after: ['ERR-2/record', 'ERR-2/malformed-json'],
      steps: [absent.get(`${collection}/no-such-${mark}`), malformed.post(collection, body.text('{"no-such'))],
      expect: [
        altogether('the codes of the two differ', (seen) => {
          const code = codeOf(seen.of(absent).answer, seen)
          return code === codeOf(seen.of(malformed).answer, seen)
            ? finding(seen.of(malformed), { pointer: seen.profile.names.code }, `${short(code)} in both`)
            : undefined
        }),
      ],
      remedy: 'Give each kind of error a code of its own: one that is always the same tells no program what to do.',
    },
    'ERR-2/problem-json': {
      title: 'Errors are application/problem+json (RFC 9457)',
      ...made(noRecord),
      expect: [
        field(error, 'Content-Type', 'is application/problem+json', (value) =>
          /^application\/problem\+json\s*(;|$)/i.test(value) ? undefined : value,
        ),
      ],
      remedy: 'Send errors as application/problem+json.',
    },
    'ERR-2/members': {
      title: 'Errors have the members of RFC 9457: type, title, status, detail, instance',
      ...made(noRecord),
      after: ['ERR-1/record'],
      expect: [
        answerOf(error, 'has them all', (answer, _, exchange) => {
          const body = jsonOf(answer)
          const isText = (name: string) => typeof valueAt(body, `/${name}`) === 'string'
          const missing = ['type', 'title', 'detail', 'instance'].filter((name) => !isText(name))
          if (missing.length > 0) return finding(exchange, 'body', `no text in ${missing.join(', ')}`)
          const told = valueAt(body, '/status')
          if (told === answer.status) return undefined
          return finding(exchange, { pointer: '/status' }, `${short(told)} in place of ${answer.status}`)
        }),
      ],
      remedy: 'Add the members of RFC 9457 that are missing.',
    },
    'ERR-2/request-id': {
      title: 'Each error has a request_id of its own',
      steps: [firstStep, secondStep].map((step) => step.get(`${collection}/no-such-${step.name}-${mark}`)),
      expect: [
        altogether('the two differ', (seen) => {
          const ids = [firstStep, secondStep].map((step) => {
            const { answer } = seen.of(step)
            return answer && valueAt(jsonOf(answer), '/request_id')
          })
          if (ids.some((id) => typeof id !== 'string' && typeof id !== 'number')) {
            return finding(seen.of(firstStep), 'body', 'there is no request_id')
          }
          return ids[0] === ids[1]
            ? finding(seen.of(secondStep), { pointer: '/request_id' }, `${short(ids[0])} in both`)
            : undefined
        }),
      ],
      remedy: 'Give each request an identifier, put it into the log and into the error.',
    },
  }),
]
