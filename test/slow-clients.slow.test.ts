/** LIM-3: clients that send single bytes slowly hold no resources that others need. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createNodeServer } from '../packages/server/src/server/node/listener.ts'
import { samples } from './declarations.ts'
import { trialFor } from './harness.ts'

const many = 2_000

test(`LIM-3: ${many} connections that send single bytes do not slow others, and are closed`, async (context) => {
  const trial = await trialFor(context, samples, { memory: true })
  await trial.make('samples', { title: 'Tea' })
  const server = createNodeServer({
    respond: trial.app.respond,
    problem: (error) => ({ status: error.status, headers: {}, body: error.code }),
    timeouts: { head: 6_000, interval: 2_000, bytes: 2_000, idle: 60_000 },
    // That so many come in one moment is for others to test.
    overloadLimits: { wait: 60_000, burst: 60_000 },
  })
  const origin = await server.listen('127.0.0.1', 0)
  context.after(() => server.close(100))
  const authorization = `Bearer ${trial.keys.get('root')}`
  const times = async () => {
    const taken: number[] = []
    for (let turn = 0; turn < 200; turn++) {
      const started = performance.now()
      const answer = await fetch(`${origin}/v1/samples`, { headers: { authorization } })
      assert.equal(answer.status, 200)
      await answer.text()
      taken.push(performance.now() - started)
    }
    return taken.sort((a, b) => a - b)
  }
  const middle = (taken: readonly number[]) => taken[100] as number
  await times()
  const idle = middle(await times())

  const script = join(import.meta.dirname, 'slow-clients/trickle.ts')
  const child = spawn(process.execPath, [script, new URL(origin).port, String(many)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  context.after(() => child.kill())
  const said: string[] = []
  const lines = createInterface(child.stdout).on('line', (line) => said.push(line))
  while (!said.includes('open')) await once(lines, 'line')
  assert.deepEqual(said, ['open'])
  const beside = middle(await times())
  context.diagnostic(`a GET takes ${idle.toFixed(2)} ms, beside ${many} slow connections ${beside.toFixed(2)} ms`)
  assert.ok(beside < 5 * idle + 10, `${beside} ms, not ${idle} ms`)

  const started = performance.now()
  while (!said.includes('closed') && performance.now() - started < 30_000) await sleep(50)
  assert.ok(said.includes('closed'), 'some connections were never cut off')
})
