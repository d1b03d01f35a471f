import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { MessageChannel } from 'node:worker_threads'
import sql from 'sql-template-tag'
import { openChannel } from '../threads/channel.ts'
import type { Transaction } from '../transaction.ts'
import { Connection, Reader } from './connection.ts'
import { Writer } from './writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-reader-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0

function* countWords(): Transaction<unknown> {
  const [row] = yield sql`select count(*) as words from words`
  return row?.['words']
}

function* addWord(): Transaction<void> {
  yield sql`insert into words values ('word')`
}

/** A reader and a writer of one process, and another process's connection, on a new file. */
function openWords(context: TestContext) {
  const file = join(folder, `${++files}.db`)
  const writing = new Connection(file)
  writing.database.exec('create table words (word text)')
  const reader = new Reader(new Connection(file, { readOnly: true }), false)
  const writer = new Writer(writing, { beforehand: () => reader.endTurn() })
  const other = new DatabaseSync(file)
  context.after(() => {
    reader.close()
    writing.close()
    other.close()
  })
  const add = () => writer.write(addWord, () => true)
  return { file, reader, writing, other, add, count: () => reader.run(countWords) }
}

test('all reads of one turn see one state, even if others commit meanwhile', async (context) => {
  const { other, count } = openWords(context)
  assert.equal(count(), 0)
  other.exec("insert into words values ('theirs')")
  assert.equal(count(), 0)
  await turn()
  assert.equal(count(), 1)
})

test('what arrives after a read of a timer or of an immediate sees what others committed before', async (context) => {
  const { other, count } = openWords(context)
  const { port1: caller, port2: server } = new MessageChannel()
  context.after(() => caller.close())
  const arrived = () => new Promise((resolve) => server.once('message', () => resolve(count())))
  for (let words = 1; words <= 20; words++) {
    if (words % 2 === 0) await sleep(1)
    else await turn()
    assert.equal(count(), words - 1)
    const seen = arrived()
    other.exec("insert into words values ('theirs')")
    caller.postMessage('a request')
    assert.equal(await seen, words)
  }
})

test('a message that arrives while another is handled sees what was committed before it', async (context) => {
  const { other, count } = openWords(context)
  const { port1: caller, port2: server } = new MessageChannel()
  context.after(() => caller.close())
  const seen: unknown[] = []
  const both = Promise.withResolvers<void>()
  const read = () => {
    seen.push(count())
    if (seen.length === 2) return both.resolve()
    other.exec("insert into words values ('theirs')")
    // It is handled in the same turn: the event loop does not poll in between.
    caller.postMessage([{ call: 0, name: 'read' }])
  }
  openChannel(server, { read })
  caller.postMessage([{ call: 0, name: 'read' }])
  await both.promise
  assert.deepEqual(seen, [0, 1])
})

test('a caller that is notified of a change by this process sees it in the same turn', async (context) => {
  const { add, count } = openWords(context)
  for (let words = 1; words <= 20; words++) {
    count()
    const added = add()
    count()
    await added
    assert.equal(count(), words)
  }
})

test('the cache lasts from turn to turn, until the database changes', async (context) => {
  const { reader, other, add, count } = openWords(context)
  const remembers = async () => {
    await turn()
    count()
    const remembered = reader.memory.clocks.has('words')
    reader.memory.clocks.set('words', { revision: 1, live: 1 })
    return remembered
  }
  assert.equal(await remembers(), false)
  assert.equal(await remembers(), true)
  assert.equal(await remembers(), true)
  other.exec("insert into words values ('theirs')")
  assert.equal(await remembers(), false)
  assert.equal(await remembers(), true)
  await add()
  assert.equal(await remembers(), false)
  assert.equal(await remembers(), true)
})

test('a failed read fails alone: the turn ends, and the next one reads', async (context) => {
  const { reader, count } = openWords(context)
  const fails = function* (): Transaction<void> {
    yield sql`select * from nothing`
  }
  assert.throws(() => reader.run(fails))
  assert.equal(count(), 0)
  await turn()
  assert.equal(count(), 0)
})

test('reads in every turn do not prevent checkpoints of the write-ahead log', async (context) => {
  const { file, writing, add, count } = openWords(context)
  writing.database.exec('pragma wal_autocheckpoint = 10')
  for (let turns = 0; turns < 400; turns++) {
    count()
    await add()
    count()
  }
  const pages = statSync(`${file}-wal`).size / 4096
  assert.ok(pages < 100, `the log has ${Math.round(pages)} pages`)
})

test('a database in memory clears its cache when it changes', async () => {
  const connection = new Connection(':memory:')
  connection.database.exec('create table words (word text)')
  const reader = new Reader(connection, true)
  const writer = new Writer(connection, { beforehand: () => reader.endTurn() })
  assert.equal(reader.run(countWords), 0)
  reader.memory.clocks.set('words', { revision: 1, live: 0 })
  await writer.write(addWord, () => true)
  assert.equal(reader.memory.clocks.size, 0)
  assert.equal(reader.run(countWords), 1)
  reader.close()
})

test('a log that grew during a long read is truncated afterwards', () => {
  const path = join(folder, `${++files}.db`)
  const writing = new Connection(path)
  const reading = new Connection(path, { readOnly: true })
  writing.database.exec('pragma synchronous = off; create table texts (text)')
  reading.execute('begin')
  reading.value('select count(*) from texts')
  const write = (bytes: number) => writing.database.exec(`insert into texts values (zeroblob(${bytes}))`)
  for (let count = 0; count < 20; count++) write(5_000_000)
  const size = () => statSync(`${path}-wal`).size
  assert.ok(size() > 100_000_000)
  reading.execute('commit')
  for (let count = 0; count < 10; count++) write(100)
  reading.close()
  assert.ok(size() <= 64 * 1_048_576, `${size()} bytes`)
  writing.close()
})
