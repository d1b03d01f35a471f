import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withoutSecrets } from './command-line.ts'
import { type CommandDescription, describeProgram } from './completion.ts'
import { program } from './program.ts'

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

test('only commands that serve, or examine what would be served, offer a database in memory', () => {
  const offers = ({ options }: CommandDescription) => options.some(({ description }) => /:memory:/.test(description))
  const { commands } = describeProgram(program)
  const all = commands.flatMap((command) => [command, ...command.commands])
  assert.deepEqual(
    all.filter(offers).map(({ name }) => name),
    ['serve', 'doctor'],
  )
})
