import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from 'resourced-contract/spec/faults'
import { refuseSecrets } from './parameters.ts'

const key = `rsk_${'a1B'.repeat(16)}c`
const isRefused = (error: unknown) => error instanceof Fault && error.code === 'CREDENTIAL_IN_QUERY'

test('PAG-5, QRY-9: a cursor may contain the form of a key, and is not a key itself', () => {
  refuseSecrets(`sort=name&cursor=gh4u-y${key}_x`)
  for (const query of [
    `cursor=${key}`,
    `Cursor=+${key}`,
    `cursor=${key.replace('_', '%5F')}`,
    `a=x${key}x`,
    `${key}=1`,
  ])
    assert.throws(() => refuseSecrets(query), isRefused, query)
})
