import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { commandFile } from '../../../../test/command-file.ts'
import { settings } from '../server/settings.ts'
import { poolOfWorker, workersOf } from './serve-command.ts'

const file = { database: 'sqlite:data.db' }
const memory = { database: 'sqlite::memory:' }
const server = { database: 'postgres://library@db.example.com/library' }
const cores = availableParallelism()

test('auto is one worker for each core, and the default where the database is another process', () => {
  assert.equal(workersOf(undefined, file), 1)
  assert.equal(workersOf('auto', file), cores)
  assert.equal(workersOf(undefined, { ...server, databasePool: 5_000 }), cores)
  assert.equal(workersOf(undefined, { ...server, databasePool: 3 }), 1, 'each worker has two connections')
  assert.ok(workersOf('auto', server) <= 5)
  assert.equal(workersOf(6, server), 6)
})

test('a database in memory has one worker', () => {
  assert.deepEqual([undefined, 'auto', 1].map((given) => workersOf(given as 1, memory)), [1, 1, 1]) // biome-ignore format: table
  assert.throws(() => workersOf(2, memory), /in memory belongs to one thread/)
})

test('a number of workers that cannot be is refused', () => {
  for (const text of ['0', '-1', '1.5', '1025', '99999', 'all', '', ' 2']) {
    assert.throws(
      () => settings.workers.read(text, '--workers'),
      /--workers takes a number from 1 to 1024, or auto, not/,
      text,
    )
  }
  assert.equal(settings.workers.read('1024', '--workers'), 1024)
})

test('workers divide the connections of a server', () => {
  const table = [[10, 1, 10], [10, 2, 5], [10, 4, 2], [10, 64, 2], [1, 4, 1], [100, 8, 12]] as const // biome-ignore format: table
  for (const [pool, workers, each] of table) assert.equal(poolOfWorker(pool, workers), each)
  assert.equal(poolOfWorker(undefined, 4), undefined)
})

const report = `import { isMainThread } from 'node:worker_threads'
  if (isMainThread) console.log(JSON.stringify(process.execArgv.filter((flag) => flag.startsWith('--max-semi'))))`

/** The chosen size of the young generation at each start of one server on PostgreSQL, which finds no declaration. */
async function startsOf(options: readonly string[], nodeOptions = '', channel: readonly 'ipc'[] = []) {
  const command = ['serve', 'missing.json', '--workers', '1', '--database', server.database]
  const imports = ['--import', `data:text/javascript,${encodeURIComponent(report)}`]
  const args = [...options, ...imports, commandFile, ...command]
  const env = { ...process.env, NODE_OPTIONS: nodeOptions }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore', ...channel] })
  const lines = await Array.fromAsync(createInterface(child.stdout!))
  return lines.map((line) => JSON.parse(line) as unknown)
}

test('a server on PostgreSQL that has a chosen young generation, or a channel to its parent, starts once', async () => {
  for (const chosen of ['--max-semi-space-size=32', '--max-semi-space-size=8']) {
    assert.deepEqual(await startsOf([chosen]), [[chosen]])
  }
  assert.deepEqual(await startsOf([], '--max-semi-space-size=32'), [[]])
  assert.deepEqual(await startsOf([], '', ['ipc']), [[]])
})

test('a server on PostgreSQL without a chosen young generation has a larger one', async () => {
  const starts = await startsOf([])
  assert.deepEqual(starts.at(-1), ['--max-semi-space-size=16'])
})
