import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import sql from 'sql-template-tag'
import { Checkpoints, CopyThread } from './checkpoints.ts'
import { Connection } from './connection.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-checkpoints-'))
const thread = new CopyThread()
after(async () => {
  await thread.close()
  rmSync(folder, { recursive: true })
})
let files = 0

/** A file with a writer whose log a thread copies; `whileCopying` runs when it has. */
function fileFor(context: TestContext, whileCopying = () => {}, requireFile = () => {}) {
  const file = join(folder, `${++files}.db`)
  const writer = new Connection(file, { synchronous: 'off' })
  let copies = 0
  const copied: Promise<unknown>[] = []
  const copy = async () => {
    copies++
    requireFile()
    await thread.copy(file)
    whileCopying()
  }
  const checkpoints = new Checkpoints(writer, () => (copied[copies] = copy()))
  context.after(async () => {
    await checkpoints.close()
    writer.close()
  })
  writer.database.exec('create table pages (bytes blob not null) strict')
  /** Adds some megabytes to the log, in several statements. */
  const write = (megabytes: number) => {
    for (let index = 0; index < megabytes * 10; index++) writer.all(sql`insert into pages values (zeroblob(100000))`)
  }
  const log = () => writer.row('pragma wal_checkpoint(noop)') as { log: number; checkpointed: number }
  const settled = async () => {
    await Promise.all(copied)
    await new Promise(setImmediate)
  }
  return { file, writer, write, checkpoints, log, settled, copies: () => copies }
}

test('a long log is copied once by a thread, and begins anew with the next change', async (context) => {
  const { write, checkpoints, log, copies, settled } = fileFor(context)
  write(10)
  checkpoints.consider()
  assert.equal(copies(), 0, 'the log is not long yet')
  write(20)
  const long = log().log
  checkpoints.consider()
  write(20)
  checkpoints.consider()
  await settled()
  assert.equal(copies(), 1)
  assert.ok(log().checkpointed > long)
  assert.equal(log().checkpointed, log().log)
  write(0.1)
  assert.ok(log().log < 100, 'the log has begun anew')
})

test('the writer copies the few pages that were added after the thread has copied the log', async (context) => {
  const { write, checkpoints, log, settled } = fileFor(context, () => write(0.3))
  write(30)
  checkpoints.consider()
  await settled()
  assert.equal(log().checkpointed, log().log)
  write(0.1)
  assert.ok(log().log < 100)
})

test('a log that a reader needs is kept, and copied later', async (context) => {
  const { file, write, checkpoints, log, settled } = fileFor(context)
  const reader = new Connection(file, { readOnly: true })
  context.after(() => reader.close())
  reader.execute('begin')
  assert.equal(reader.value('select count(*) from pages'), 0)
  write(30)
  checkpoints.consider()
  await settled()
  assert.ok(log().checkpointed < 100, 'the reader sees the file as it was')
  assert.equal(reader.value('select count(*) from pages'), 0)
  reader.execute('commit')
  write(30)
  checkpoints.consider()
  await settled()
  assert.equal(log().checkpointed, log().log)
  assert.equal(reader.value('select count(*) from pages'), 600)
})

test('a copy that fails is tried again, and changes go on', async (context) => {
  const { writer, write } = fileFor(context)
  let copies = 0
  const copy = async () => {
    copies++
    throw new Error('the thread has ended')
  }
  const checkpoints = new Checkpoints(writer, copy)
  for (const round of [1, 2]) {
    write(30)
    checkpoints.consider()
    await new Promise(setImmediate)
    assert.equal(copies, round)
  }
})

test('a log is not copied into a file that has replaced its own', async (context) => {
  let asked = 0
  const gone = () => {
    asked++
    throw new Error('replaced')
  }
  const { write, checkpoints, log, copies } = fileFor(context, undefined, gone)
  write(30)
  checkpoints.consider()
  await new Promise(setImmediate)
  assert.deepEqual([copies(), asked, log().checkpointed], [1, 1, 0])
  checkpoints.consider()
  write(30)
  checkpoints.consider()
  await new Promise(setImmediate)
  assert.equal(asked, 2, 'it is asked again')
})
