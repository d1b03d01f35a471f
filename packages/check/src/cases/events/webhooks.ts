/** EVT-8: webhooks. Those of the checker are turned off, and to a name that does not exist: they send nothing. */
import type { Case, Expectation } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { answerOf, isText, memberIs, status, unless } from '../../case/expect.ts'
import { changed, list, made, read } from '../../case/names.ts'
import { answered, readyIf } from '../../case/preconditions.ts'
import { base, mark, Reference } from '../../case/references.ts'
import { body } from '../../case/steps.ts'
import { jsonOf } from '../../client/exchange.ts'
import { valueAt } from '../../values/json.ts'

const webhooks = `${base}/webhooks`
const one = `${webhooks}/${made.json('/id')}`
const url = `https://${mark}.invalid/events`
const creation = made.post(webhooks, body.json({ url, active: false }))
const [rotated] = Reference.named('rotated')

const isMade = readyIf(
  (seen) => answered(made, 201)(seen) && isText(valueAt(jsonOf(seen.of(made).answer), '/secret')),
  'no webhook with a secret was made',
)

/** A response says nothing of a secret. */
function hides(step: Reference): Expectation {
  return answerOf(step, (answer, seen) => unless(!answer.body.includes(seen.fill(secret)), 'the secret is in it'))
}

const mergePatch = { headers: { 'Content-Type': 'application/merge-patch+json' } }
const secret = made.json('/secret')

export const webhookCases: readonly Case[] = common({ after: ['EVT-8/secret'] }).define({
  'EVT-8/secret': {
    title: 'The response that creates a webhook has its secret',
    after: [],
    steps: [creation],
    expect: [
      status(made, 201),
      memberIs(made, '/secret', (it) => isText(it) && it.length >= 24),
      memberIs(made, '/url', (it, seen) => it === seen.fill(url)),
      memberIs(made, '/active', (it) => it === false),
    ],
    remedy: 'Make a secret of at least 192 random bits for each webhook, and show it in the response to its creation.',
  },
  'EVT-8/hidden': {
    title: 'No other response has the secret of a webhook',
    steps: [creation, isMade, read.get(one), list.get(webhooks), changed.patch(one, body.json({ description: 'x' }))],
    expect: [
      ...[read, list, changed].map((step) => status(step, 200)),
      ...[read, list, changed].map((step) => hides(step)),
    ],
    remedy: 'Leave the secret out of every response but the one that makes it.',
  },
  'EVT-8/rotated': {
    title: 'rotate_secret makes another secret, which its response shows',
    steps: [creation, isMade, rotated.patch(one, body.json({ rotate_secret: true }), mergePatch)],
    expect: [status(rotated, 200), memberIs(rotated, '/secret', (it, seen) => isText(it) && it !== seen.fill(secret))],
    remedy: 'Answer PATCH with "rotate_secret": true with a new secret.',
  },
})
