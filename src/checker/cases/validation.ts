/** ERR-3: all that is wrong, at once. */
import type { Expectation } from '../case/case.ts'
import { define } from '../case/define.ts'
import { answerOf, finding, short } from '../case/expect.ts'
import { error, one } from '../case/names.ts'
import { NotSetUp } from '../case/not-judged.ts'
import { collection, ifRequired, type Reference } from '../case/references.ts'
import { body, create } from '../case/steps.ts'
import { jsonOf } from '../client/exchange.ts'
import { mistakesOf } from '../profile/profile.ts'
import { valueAt } from '../values/json.ts'

/** Every member that is wrong is named. */
function namesAll(step: Reference): Expectation {
  return answerOf(step, 'names every member that is wrong', (answer, seen, exchange) => {
    const body = jsonOf(answer)
    // A body that repeats what was sent would name everything.
    const told = JSON.stringify(valueAt(body, seen.profile.names.errors) ?? body) ?? answer.body
    const unnamed = mistakesOf(seen.collection).filter((name) => !isNamed(name, told))
    if (unnamed.length === 0) return undefined
    return finding(exchange, 'body', `it says nothing of ${unnamed.join(', ')}, though each is wrong or missing`)
  })
}

function isNamed(name: string, text: string): boolean {
  return new RegExp(`(?<![\\w])${name.replaceAll(/[^\w]/g, '\\$&')}(?![\\w])`).test(text)
}

const mendAll = 'Go on after the first thing that is wrong, collect all, and answer once.'

/** One answer tells everything that validation finds. */
export const validation = define(
  {
    'ERR-3/creation': {
      title: 'One answer says all that is wrong with a body that is to create',
      after: ['ERR-1/validation'],
      steps: [error.post(collection, body.invalid)],
      expect: [namesAll(error)],
      remedy: mendAll,
    },
    'ERR-3/replacement': {
      title: 'One answer says all that is wrong with a body that is to replace',
      steps: [create(one), error.put(one, body.invalid, ifRequired)],
      expect: [namesAll(error)],
      remedy: mendAll,
    },
    'ERR-3/parameters': {
      title: 'One answer says all that is wrong with the parameters',
      needsOnly: ['page'],
      steps: [error.get(`${collection}?page=no-such&per_page=no-such`)],
      expect: [
        answerOf(error, 'names both', (answer, seen, exchange) => {
          if (answer.status < 400) throw new NotSetUp(`page=no-such was answered ${answer.status}`)
          const body = jsonOf(answer)
          const told = JSON.stringify(valueAt(body, seen.profile.names.errors) ?? body) ?? answer.body
          const unnamed = ['page', 'per_page'].filter((name) => !isNamed(name, told))
          return unnamed.length === 0
            ? undefined
            : finding(exchange, 'body', `it says nothing of ${unnamed.join(', ')}`)
        }),
      ],
      remedy: mendAll,
    },
    'ERR-3/places': {
      title: 'Each validation error has a code, a message and its place as a JSON Pointer',
      level: 'should',
      after: ['ERR-3/creation'],
      steps: [error.post(collection, body.invalid)],
      expect: [
        answerOf(error, 'says them for each', (answer, seen, exchange) => {
          const at = seen.profile.names.errors
          const errors = valueAt(jsonOf(answer), at)
          if (!Array.isArray(errors)) return finding(exchange, 'body', `there is no array of errors at ${at}`)
          const isText = (value: unknown) => typeof value === 'string' && value !== ''
          const index = errors.findIndex(
            (each) => !isText(each?.code) || !isText(each?.message) || !/^\/./.test(String(each?.pointer)),
          )
          if (index < 0) return undefined
          return finding(
            exchange,
            { pointer: `${at}/${index}` },
            `${short(errors[index])} lacks code, message or pointer`,
          )
        }),
      ],
      remedy: 'Write each error as {"code": …, "message": …, "pointer": "/member"}.',
    },
  },
  'mistakes',
)
