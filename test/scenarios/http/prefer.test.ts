/** DEL-2: preferences for the response to a deletion (RFC 7240). */

import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { type Scenario, type Sent, scenarios, type Trial } from '../../harness.ts'

const fields = { text: Type.String() }
const notes = defineInterface({
  name: 'notes',
  resources: { notes: { fields }, receipts: { fields, deletion: { answer: 'summary' } } },
})

function deleting(collection: string, prefer?: string): (trial: Trial) => Promise<Sent> {
  const headers: Record<string, string> = prefer === undefined ? {} : { prefer }
  return async (trial) => {
    const { id } = await trial.make(collection, { text: 'a' })
    return { method: 'DELETE', path: `/v1/${collection}/${id}`, headers }
  }
}

function row(
  collection: string,
  prefer: string | undefined,
  status: 200 | 202 | 204,
  applied: string | undefined,
): Scenario {
  return {
    name: `DELETE of ${collection} with Prefer: ${prefer}`,
    rule: 'DEL-2',
    send: deleting(collection, prefer),
    status,
    headers: { 'Preference-Applied': applied },
  }
}

scenarios(notes, [
  row('notes', undefined, 204, undefined),
  row('notes', 'return=representation', 200, 'return=representation'),
  row('notes', 'return=minimal', 204, 'return=minimal'),
  row('notes', 'return=everything', 204, undefined),
  row('receipts', undefined, 200, undefined),
  row('receipts', 'return=minimal', 204, 'return=minimal'),
  row('receipts', 'wait=5, return=representation', 200, 'return=representation'),
  row('receipts', 'respond-async, return=representation', 202, 'respond-async'),
])
