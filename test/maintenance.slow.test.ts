/** ERR-6: maintenance with the real command: servers that run, that are killed, and that start meanwhile. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandFile } from './command-file.ts'
import { createKey, type ServerProcess, startServer } from './durability/command.ts'
import { diary } from './durability/declaration.ts'
import { newDatabase } from './engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-maintenance-'))
const started = new Set<ServerProcess>()
const { address } = await newDatabase()
let key: string
before(() => {
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(diary))
  key = createKey(folder, address)
})
after(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all([...started].map(({ ended }) => ended))
  rmSync(folder, { recursive: true })
})

async function start(): Promise<ServerProcess> {
  const server = await startServer(folder, ['--http'], {}, address)
  started.add(server)
  return server
}

function maintenance(...given: readonly string[]): void {
  const command = [commandFile, 'maintenance', ...given]
  const options = ['--database', address]
  const { status, stderr } = spawnSync(process.execPath, [...command, ...options], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}

const headers = () => ({ Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' })
const statusOf = async ({ origin }: ServerProcess) =>
  (await fetch(`${origin}/v1/folders`, { headers: headers() })).status

// Connections go to workers in turn, and each worker looks at the switch by itself: so many at once reach all of them.
const connections = 2 * Number(process.env.TEST_WORKERS ?? '1')
const allHave = async (status: number, server: ServerProcess) => {
  const found = await Promise.all(Array.from({ length: connections }, () => statusOf(server)))
  return found.every((each) => each === status)
}

/** Waits until all workers of servers answer with a status; gives how many milliseconds that took. */
async function until(status: number, ...servers: readonly ServerProcess[]): Promise<number> {
  const begun = performance.now()
  for (const server of servers) while (!(await allHave(status, server))) await sleep(10)
  return performance.now() - begun
}

test('ERR-6: two servers enter maintenance and finish requests, and a killed one restarts in maintenance', async () => {
  const [one, two] = await Promise.all([start(), start()])
  assert.deepEqual([await statusOf(one), await statusOf(two)], [200, 200])

  // A creation whose body is still on its way. 100 says that a worker has begun it.
  const open = request(`${one.origin}/v1/folders`, {
    method: 'POST',
    headers: { ...headers(), Expect: '100-continue' },
  })
  const answered = once(open, 'response')
  open.flushHeaders()
  await once(open, 'continue')
  open.write('{"name":"Begun","title":"A folder",')

  maintenance('on', '--message', 'Back soon.', '--retry-after', 'PT2M')
  const took = await until(503, one, two)
  assert.ok(took < 20_000, `they noticed after ${took} ms`)
  const refused = await fetch(`${two.origin}/v1/folders`, { method: 'POST', body: '{"name":"Late"}' })
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '120'])
  assert.equal(((await refused.json()) as { detail: string }).detail, 'Back soon.')
  open.end('"edition":1,"text":"text"}')
  const [answer] = await answered
  assert.equal(answer.statusCode, 201)
  answer.resume()

  one.child.kill('SIGKILL')
  await one.ended
  const again = await start()
  assert.equal(await statusOf(again), 503, 'from its first request on')
  const ready = await fetch(`${again.origin}/health/ready`)
  assert.deepEqual([ready.status, await ready.json()], [200, { status: 'maintenance' }])
  assert.match(again.errors.join(''), /Maintenance is on.*resourced maintenance off/)
  assert.deepEqual(again.log, ['maintenance on', 'listening'])

  maintenance('off')
  await until(200, again, two)
  const list = await fetch(`${two.origin}/v1/folders?fields=name`, { headers: headers() })
  assert.deepEqual(
    ((await list.json()) as { data: { name: string }[] }).data.map(({ name }) => name),
    ['Begun'],
  )

  maintenance('on')
  await until(503, again)
  again.child.kill('SIGTERM')
  assert.equal(await again.ended, 0, 'it stops as cleanly as ever')
})
