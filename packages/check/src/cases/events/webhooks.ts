/** EVT-8: webhooks. Those of the checker are turned off, and to a name that does not exist: they send nothing. */
import type { Case, Expectation } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { answerOf, member, short, status, unless } from '../../case/expect.ts'
import { changed, list, made, read } from '../../case/names.ts'
import { readyIf } from '../../case/preconditions.ts'
import { base, mark, Reference } from '../../case/references.ts'
import { body } from '../../case/steps.ts'
import { jsonOf } from '../../client/exchange.ts'
import { valueAt } from '../../values/json.ts'

const webhooks = `${base}/webhooks`
const one = `${webhooks}/${made.json('/id')}`
const url = `https://${mark}.invalid/events`
const creation = made.post(webhooks, body.json({ url, active: false }))
const [rotated] = Reference.named('rotated')

const isMade = readyIf((seen) => {
  const { answer } = seen.of(made)
  return answer?.status === 201 && typeof valueAt(jsonOf(answer), '/secret') === 'string'
}, 'no webhook with a secret was made')

/** A response says nothing of a secret. */
function hides(step: Reference, secret: string): Expectation {
  return answerOf(step, (answer, seen) => unless(!answer.body.includes(seen.fill(secret)), 'the secret is in it'))
}

const secret = made.json('/secret')

export const webhookCases: readonly Case[] = common({ after: ['EVT-8/secret'] }).define({
  'EVT-8/secret': {
    title: 'The response that creates a webhook has its secret',
    after: [],
    steps: [creation],
    expect: [
      status(made, 201),
      member(made, '/secret', (it) => unless(typeof it === 'string' && it.length >= 24, `it is ${short(it)}`)),
      member(made, '/url', (it, seen) => unless(it === seen.fill(url), `it is ${short(it)}`)),
      member(made, '/active', (it) => unless(it === false, `it is ${short(it)}`)),
    ],
    remedy: 'Make a secret of at least 192 random bits for each webhook, and show it in the response to its creation.',
  },
  'EVT-8/hidden': {
    title: 'No other response has the secret of a webhook',
    steps: [creation, isMade, read.get(one), list.get(webhooks), changed.patch(one, body.json({ description: 'x' }))],
    expect: [
      ...[read, list, changed].map((step) => status(step, 200)),
      ...[read, list, changed].map((step) => hides(step, secret)),
    ],
    remedy: 'Leave the secret out of every response but the one that makes it.',
  },
  'EVT-8/rotated': {
    title: 'rotate_secret makes another secret, which its response shows',
    steps: [creation, isMade, rotated.patch(one, body.json({ rotate_secret: true }), mergePatch())],
    expect: [
      status(rotated, 200),
      member(rotated, '/secret', (it, seen) =>
        unless(
          typeof it === 'string' && it !== seen.fill(secret),
          `it is ${typeof it === 'string' ? 'the same' : short(it)}`,
        ),
      ),
    ],
    remedy: 'Answer PATCH with "rotate_secret": true with a new secret.',
  },
})

function mergePatch() {
  return { headers: { 'Content-Type': 'application/merge-patch+json' } }
}
