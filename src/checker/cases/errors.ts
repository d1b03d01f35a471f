/** ERR: errors. */
import type { Case } from '../case/case.ts'
import { define } from '../case/define.ts'
import { answerOf, everyAnswerOf, finding, noField, status } from '../case/expect.ts'
import { insideOf } from '../case/inside.ts'
import { error, list, odd } from '../case/names.ts'
import { collection } from '../case/references.ts'
import { body, setUp } from '../case/steps.ts'
import { fieldOf, jsonOf } from '../client/exchange.ts'
import { bodies } from './error-bodies.ts'
import { common, invalid, made, malformed, noPath, noRecord } from './mistakes.ts'
import { odds } from './odd.ts'
import { validation } from './validation.ts'

const outcome: readonly Case[] = common.map((mistake) => ({
  id: `ERR-1/${mistake.name}`,
  title: `The status says that there is an error: ${mistake.title}`,
  ...made(mistake),
  expect: [
    answerOf(error, 'answers 4xx', ({ status: code }, _, exchange) =>
      code >= 400 ? undefined : finding(exchange, 'status', `${code} in place of 4xx`),
    ),
  ],
  remedy: 'Answer what went wrong with its own status, 4xx or 5xx, whatever the body says.',
}))

const hidden: readonly Case[] = odds.map(({ name, title, kind, needs, steps }) => ({
  ...{ id: `ERR-4/${name}`, kind, needs, steps },
  title: `What answers ${title} says nothing of the server's inside`,
  expect: [
    everyAnswerOf(odd, 'has no trace, SQL or file path', (answer, _, exchange) => {
      const told = answer.status < 400 ? undefined : insideOf(answer.body)
      return told === undefined ? undefined : finding(exchange, 'body', `it tells ${told}`)
    }),
  ],
  remedy:
    'Answer failures that nobody foresaw with one sentence that is always the same, and write what happened to the log.',
}))

const statuses: readonly Case[] = [
  ...odds.map(
    ({ name, title, kind, needs, steps }): Case => ({
      ...{ id: `ERR-5/${name}`, kind, needs, steps },
      title: `No failure of the server (5xx) comes of ${title}`,
      expect: [
        everyAnswerOf(odd, 'does not answer 5xx', ({ status: code }, _, exchange) =>
          code >= 500 ? finding(exchange, 'status', `${code}, though the request is what is wrong`) : undefined,
        ),
      ],
      remedy:
        'Check what comes in before it is used, and answer 400 or 404: a 5xx says that the server failed, and makes clients try again.',
    }),
  ),
  ...define({
    'ERR-5/validation': {
      title: 'A body with bad values is answered 400',
      ...made(invalid),
      needs: ['mistakes'],
      after: ['ERR-1/validation'],
      expect: [status(error, 400)],
      remedy: 'Answer validation with 400.',
    },
    'ERR-5/malformed-json': {
      title: 'A body that ends in the middle is answered 400',
      ...made(malformed),
      after: ['ERR-1/malformed-json'],
      expect: [status(error, 400)],
      remedy: 'Answer a body that cannot be read with 400.',
    },
    'ERR-5/record': {
      title: 'The address of a record that is not there is answered 404',
      ...made(noRecord),
      after: ['ERR-1/record'],
      expect: [status(error, 404)],
      remedy: 'Answer 404 where nothing is at the address, whatever the identifier looks like.',
    },
    'ERR-5/path': {
      title: 'An address that is nothing is answered 404',
      ...made(noPath),
      after: ['ERR-1/path'],
      expect: [status(error, 404)],
      remedy: 'Answer 404 where nothing is at the address.',
    },
    'ERR-5/media-type': {
      title: 'A body of a kind that the server does not read is refused with 415 (or 400)',
      level: 'should',
      steps: [
        error.post(collection, body.text('<no-such/>'), { headers: { 'Content-Type': 'application/x-no-such' } }),
      ],
      expect: [status(error, 415, 400)],
      remedy: 'Look at Content-Type before the body, and answer 415 where you cannot read such a thing.',
    },
    'ERR-5/accept': {
      title: 'Who accepts nothing that there is gets 406, or JSON all the same',
      level: 'should',
      steps: [list.get(collection, { headers: { Accept: 'application/x-no-such' } })],
      expect: [
        status(list, 406, 200),
        answerOf(list, 'is JSON', (answer, _, exchange) =>
          jsonOf(answer) === undefined
            ? finding(exchange, 'body', `a body of ${fieldOf(answer, 'Content-Type') ?? 'no type'} that is not JSON`)
            : undefined,
        ),
      ],
      remedy: 'Answer 406 where nothing fits Accept, or take no notice of it.',
    },
  }),
]

const names: Case = {
  id: 'ERR-4/server-names',
  title: 'No answer names the software that made it (X-Powered-By)',
  level: 'may',
  kind: 'reading',
  needs: ['list'],
  steps: [setUp(list.get(collection))],
  expect: [noField(list, 'X-Powered-By')],
  remedy: 'Turn X-Powered-By off: it helps only who looks for a way in.',
}

export const errors: readonly Case[] = [...outcome, ...bodies, ...validation, ...hidden, names, ...statuses]
