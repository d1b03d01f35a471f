import assert from 'node:assert/strict'
import { test } from 'node:test'
import { argumentsTold } from './process-title.ts'

test('lists of processes show no key and no value of a header field', () => {
  const given = [
    'check',
    'https://a:b@x.example',
    '--key',
    'k1',
    '--other-key=k2',
    '--header',
    'X-Key: k3',
    '--header=X: k4',
    '--yes',
  ]
  const told = argumentsTold(given)
  assert.equal(told, 'check https://***@x.example --key *** --other-key=*** --header X-Key: *** --header=X: *** --yes')
})

test('what is no secret stays', () => {
  assert.equal(argumentsTold(['keys', 'list', '--json']), 'keys list --json')
})
