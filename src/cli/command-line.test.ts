import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutSecrets } from './command-line.ts'

test('the process title has no key and no value of a header field', () => {
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
  const title = withoutSecrets(given)
  assert.equal(title, 'check https://***@x.example --key *** --other-key=*** --header X-Key: *** --header=X: *** --yes')
})

test('the process title keeps other arguments', () => {
  assert.equal(withoutSecrets(['keys', 'list', '--json']), 'keys list --json')
})
