import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('main.js', import.meta.url))
const example = (name: string) => fileURLToPath(new URL(`../../examples/${name}/resources.yaml`, import.meta.url))

for (const given of [
  ['openapi', example('atlas')],
  ['check-changes', example('atlas'), example('studio'), '--format', 'json'],
  ['serve', '--help'],
]) {
  test(`${given[0]} ends quietly where nobody reads on`, async () => {
    const child = spawn(process.execPath, [program, ...given], { stdio: ['ignore', 'pipe', 'pipe'] })
    // Before anything is printed: every write fails.
    child.stdout.destroy()
    let errors = ''
    child.stderr.on('data', (piece) => {
      errors += piece
    })
    const [, signal] = await once(child, 'close')
    assert.deepEqual([errors, signal], ['', null])
  })
}
