/** AUT-9: values of `writeOnly` fields cannot be guessed, because no response depends on them. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { places, type Received, type Sent, type Trial, trialFor, unmarkedTag } from '../harness.ts'

const secrets = { minProperties: 1, writeOnly: true } as const

/** Version 2 has another name for the pin, and version 1 has it as a number. */
const vault = defineInterface({
  name: 'vault',
  resources: {
    vaults: {
      fields: {
        name: Type.String(),
        pin: Type.Optional(Type.String({ writeOnly: true })),
        seal: Type.Optional(Type.String({ writeOnly: true, immutable: true })),
        keys: Type.Optional(Type.Object({ a: Type.Optional(Type.String()), b: Type.Optional(Type.String()) }, secrets)),
      },
      access: { read: 'anyone', create: 'anyone', update: 'anyone' },
    },
  },
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'vaults', rename: { code: 'pin' } }],
})

const jsonPatch = { 'content-type': 'application/json-patch+json' }

/** What comes of a request about a record: how often the record has changed is in its tag. */
async function cameOf({ send }: Trial, sent: Sent): Promise<readonly unknown[]> {
  const answer = await send(sent)
  const read = await send({ path: sent.path })
  return [answer.status, ...places(answer), revisionOf(answer), revisionOf(read)]
}

function revisionOf(answer: Received): string | undefined {
  return /^"(\d+)-/.exec(unmarkedTag(answer) ?? '')?.[1]
}

const first = { name: 'a', pin: '1234', seal: 'wax', keys: { a: 'x' } }
const second = { name: 'a', pin: '9999', seal: 'tin', keys: { b: 'y' } }

const add = (path: string, value: unknown) => ({
  method: 'PATCH',
  headers: jsonPatch,
  body: [{ op: 'add', path, value }],
})
const merge = (body: unknown) => ({ method: 'PATCH', body })

const cases: readonly (readonly [string, Omit<Sent, 'path'>, readonly unknown[]])[] = [
  ['a merge patch of the value', merge({ pin: '1234' }), [200, '2', '2']],
  ['a JSON Patch of the value', add('/pin', '1234'), [200, '2', '2']],
  ['a PUT with the value', { method: 'PUT', body: { name: 'a', pin: '1234', keys: { a: 'x' } } }, [200, '2', '2']],
  ['a JSON Patch of the whole record', add('', { name: 'a', pin: '1234' }), [400]],
  ['a merge patch of what never changes', merge({ seal: 'wax' }), [400, 'IMMUTABLE /seal', undefined, '1']],
  ['nothing where it never changes', merge({ seal: null }), [400, 'IMMUTABLE /seal', undefined, '1']],
  ['a PUT of what never changes', { method: 'PUT', body: { ...first } }, [400, 'IMMUTABLE /seal', undefined, '1']],
  ['a JSON Patch of what never changes', add('/seal', 'wax'), [400, 'IMMUTABLE /seal', undefined, '1']],
  ['a merge of an object', merge({ keys: { a: null } }), [400, 'INVALID_VALUE /keys', undefined, '1']],
  ['a merge into an object', merge({ keys: { b: 'z' } }), [200, '2', '2']],
  [
    'a test',
    { method: 'PATCH', headers: jsonPatch, body: [{ op: 'test', path: '/pin', value: '1234' }] },
    [409, 'CONFLICT /0', undefined, '1'],
  ],
  [
    'a copy',
    { method: 'PATCH', headers: jsonPatch, body: [{ op: 'copy', from: '/pin', path: '/name' }] },
    [400, 'PATH_NOT_FOUND /0/from', undefined, '1'],
  ],
  [
    'a move',
    { method: 'PATCH', headers: jsonPatch, body: [{ op: 'move', from: '/keys/a', path: '/name' }] },
    [400, 'PATH_NOT_FOUND /0/from', undefined, '1'],
  ],
]

for (const [name, sent, expected] of cases) {
  it(`AUT-9: ${name} has the same result for any value of a writeOnly field`, async (context) => {
    const current = await trialFor(context, vault, { memory: true })
    const came: (readonly unknown[])[] = []
    for (const values of [first, second]) {
      const { id } = await current.make('vaults', values)
      came.push(await cameOf(current, { path: `/v2/vaults/${id}`, ...sent }))
    }
    assert.deepEqual(came[0], came[1])
    if (expected.length > 1) assert.deepEqual(came[0], expected)
  })
}

it('AUT-9: an older version confirms no guess either, and updated_at changes every time', async (context) => {
  const { send, make, clock } = await trialFor(context, vault)
  const { id } = await make('vaults', first)
  const path = `/v1/vaults/${id}`
  const seen = new Set<string>()
  for (const code of ['1234', '1234', '9999', null]) {
    clock.ahead += 1_000
    const answer = await send({ method: 'PATCH', path, body: { code } })
    assert.equal(answer.status, 200, answer.text)
    seen.add(answer.json.updated_at)
  }
  assert.equal(seen.size, 4)
  assert.deepEqual(places(await send({ method: 'PATCH', path, body: { seal: 'wax' } })), ['IMMUTABLE /seal'])
  // What was sent at first is still there: a PUT without it leaves alone what never changes.
  const put = await send({ method: 'PUT', path, body: { name: 'b' } })
  assert.equal(put.status, 200, put.text)
})
