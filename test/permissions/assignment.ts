/** Fields that no caller may assign, sent all the same (AUT-7, RES-9). */
import type { TestContext } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { places, type Received, type Trial, trialFor } from '../harness.ts'
import type { Cells } from './cells.ts'

const ledger = defineInterface({
  name: 'ledger',
  resources: {
    entries: {
      fields: {
        title: Type.String(),
        serial: Type.Integer({ readOnly: true, default: 7 }),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      access: { read: 'anyone', create: 'anyone', update: 'anyone', readDeleted: 'anyone' },
    },
  },
})

const moment = '2020-01-01T00:00:00.000Z'
/** What is sent, and what is said against it. In this order all of them are sent together. */
const fields: readonly (readonly [name: string, value: unknown, code: string])[] = [
  ['_revision', 9, 'UNKNOWN_FIELD'],
  ['_deletion', null, 'UNKNOWN_FIELD'],
  ['_row', 1, 'UNKNOWN_FIELD'],
  ['colour', 'red', 'UNKNOWN_FIELD'],
  ['constructor', {}, 'UNKNOWN_FIELD'],
  ['id', '01a1fde6-f89d-7507-9d1c-cdff0f8d7c07', 'READ_ONLY'],
  ['created_at', moment, 'READ_ONLY'],
  ['updated_at', moment, 'READ_ONLY'],
  ['deleted_at', moment, 'READ_ONLY'],
  ['serial', 8, 'READ_ONLY'],
  ['owner_id', 'eve', 'READ_ONLY'],
]
const unsafe = ['__proto__', { serial: 8 }, 'UNSAFE_KEY'] as const

const methods = ['POST', 'PUT', 'PATCH', 'JSON Patch'] as const
type Method = (typeof methods)[number]

/** Sends each field, and then all together, in every way. */
export async function checkAssignment(context: TestContext, cells: Cells): Promise<void> {
  const current = await trialFor(context, ledger, { memory: true })
  const record = await current.make('entries', { title: 'before' }, 'ann')
  const path = `/v1/entries/${record.id}`
  const state = async () => {
    const { text } = await current.send({ path: '/v1/entries?include_deleted=true' })
    return text
  }
  for (const method of methods) {
    for (const as of ['root', 'ann']) {
      for (const sent of [...fields.map((field) => [field]), fields, [unsafe], [...fields, unsafe]]) {
        const isAllowed = as === 'root' && sent.length === 1 && sent[0]?.[0] === 'owner_id'
        const before = await state()
        const answer = await ask(current, method, path, as, sent)
        const after = await state()
        const name = `${method} by ${as} of ${sent.length > 2 ? 'all' : ''} ${sent.at(-1)?.[0]}`
        const came = `${answer.status} ${answer.status < 300 ? answer.json.owner_id : places(answer)}`
        const expected = isAllowed ? `${method === 'POST' ? 201 : 200} eve` : `400 ${refusals(method, as, sent)}`
        cells.check(
          name,
          `${expected} ${isAllowed ? 'changed' : 'kept'}`,
          `${came} ${before === after ? 'kept' : 'changed'}`,
        )
        if (isAllowed && method !== 'POST') {
          await current.send({ method: 'PATCH', path, body: { owner_id: 'ann', title: 'before' } })
        }
      }
    }
  }
}

type Sent = readonly (readonly [name: string, value: unknown, code: string])[]

/**
 * What must be said: a key that could reach a prototype makes the whole body unreadable, and so nothing else is judged.
 */
function refusals(method: Method, as: string, sent: Sent): string[] {
  if (sent.includes(unsafe)) {
    return [method === 'JSON Patch' ? `UNSAFE_KEY /${sent.length}/path` : 'UNSAFE_KEY /__proto__']
  }
  return sent.filter(([name]) => as !== 'root' || name !== 'owner_id').map(([name, , code]) => `${code} /${name}`)
}

function ask(current: Trial, method: Method, path: string, as: string, sent: Sent): Promise<Received> {
  if (method === 'JSON Patch') {
    const operations = [['title', 'after'] as const, ...sent].map(([name, value]) => ({
      op: 'add',
      path: `/${name}`,
      value,
    }))
    const headers = { 'content-type': 'application/json-patch+json' }
    return current.send({ method: 'PATCH', path, as, headers, body: operations })
  }
  // In an object literal `__proto__` would be no key.
  const members = [['title', 'after'] as const, ...sent].map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  )
  const body = `{${members.join(',')}}`
  return current.send({ method, path: method === 'POST' ? '/v1/entries' : path, as, body })
}
