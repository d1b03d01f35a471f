import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { missingRuntime, oldestNode } from './supported-node.js'

test('the oldest Node.js is the one that the manifest declares', () => {
  const { engines } = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'))
  assert.equal(engines.node, `>=${oldestNode}`)
})

for (const node of ['24.15.0', '24.16.1', '25.0.0', '26.10.0', '100.0.0']) {
  test(`Node.js ${node} runs Resourced`, () => assert.equal(missingRuntime({ node }, true), undefined))
}

for (const node of ['0.12.18', '18.20.8', '20.20.2', '22.23.3', '24.2.0', '24.14.9']) {
  test(`Node.js ${node} is refused in one sentence with both versions`, () => {
    assert.equal(
      missingRuntime({ node }, true),
      `Resourced needs Node.js 24.15 or newer, and this is Node.js ${node}: install a newer version from ` +
        'https://nodejs.org/.',
    )
  })
}

test('Bun and Deno are judged by what they have, because the Node.js version that they give says little', () => {
  assert.equal(missingRuntime({ node: '22.6.0', bun: '1.2.0' }, true), undefined)
  assert.equal(missingRuntime({ node: '20.11.1', deno: '2.2.0' }, true), undefined)
  const need = 'Resourced needs node:sqlite, which'
  const rest = 'lacks: update it, or use Node.js 24.15 or newer.'
  assert.equal(missingRuntime({ node: '24.3.0', bun: '1.1.0' }, false), `${need} Bun 1.1.0 ${rest}`)
  assert.equal(missingRuntime({ node: '20.11.1', deno: '2.0.0' }, false), `${need} Deno 2.0.0 ${rest}`)
})
