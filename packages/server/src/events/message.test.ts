import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { newWebhookSecret } from '../plan/plan-webhook.ts'
import { signatureHeaders } from './message.ts'

test('a signature is verified by the library of Standard Webhooks (EVT-9)', () => {
  const secret = newWebhookSecret()
  const body = JSON.stringify({ title: 'Grüße' })
  const headers = signatureHeaders([secret], { id: 'event_webhook', now: Date.now(), body })
  assert.deepEqual(new Webhook(secret).verify(body, headers), { title: 'Grüße' })
  assert.throws(() => new Webhook(secret).verify(`${body} `, headers), /No matching signature/)
  assert.throws(() => new Webhook(newWebhookSecret()).verify(body, headers), /No matching signature/)
})

test('while a secret rotates, the former one verifies too (EVT-8)', () => {
  const [secret, former] = [newWebhookSecret(), newWebhookSecret()]
  const headers = signatureHeaders([secret, former], { id: 'a', now: Date.now(), body: '{}' })
  for (const each of [secret, former]) assert.deepEqual(new Webhook(each).verify('{}', headers), {})
})

test('secrets have 256 random bits', () => {
  const secrets = Array.from({ length: 100 }, newWebhookSecret)
  assert.equal(new Set(secrets).size, 100)
  for (const secret of secrets) assert.match(secret, /^whsec_[0-9A-Za-z+/]{43}=$/)
})
