import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import sql from 'sql-template-tag'
import type { Transaction } from '../transaction.ts'
import { Connection } from './connection.ts'
import { Writer } from './writer.ts'
import { WriterTurns } from './writer-turns.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-turns-'))
after(() => rmSync(folder, { recursive: true }))

/** A writer on a new file; `groups` has the number of changes of each of its commits. */
function writerOf(context: TestContext, name: string, turns: WriterTurns) {
  const connection = new Connection(join(folder, `${name}.db`), { synchronous: 'off' })
  connection.database.exec('create table words (word text) strict')
  context.after(() => connection.close())
  const groups: number[] = []
  const writer = new Writer(connection, { turns, onCommit: ({ changes }) => void groups.push(changes) })
  const add = (meanwhile = () => {}) =>
    writer.write(
      () => addWord(meanwhile),
      () => true,
    )
  return { groups, add }
}

function* addWord(meanwhile: () => void): Transaction<void> {
  meanwhile()
  yield sql`insert into words values ('word')`
}

test('TEN-4: a change that arrives during a group of another tenant is answered before the next one', async (context) => {
  const turns = new WriterTurns()
  const [busy, other] = [writerOf(context, 'busy', turns), writerOf(context, 'other', turns)]
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  let isOver = false
  const client = async () => {
    while (!isOver) await busy.add()
  }
  const clients = Array.from({ length: 300 }, client)
  try {
    for (let round = 0; round < 100; round++) {
      const arrived = new Promise((resolve) => port2.once('message', resolve))
      await busy.add(() => port1.postMessage('a change'))
      await arrived
      const before = busy.groups.length
      await other.add()
      // What a thread says in one turn of the event loop goes in one message, in the next turn.
      await new Promise(setImmediate)
      assert.equal(busy.groups.length, before)
    }
  } finally {
    isOver = true
    await Promise.all(clients)
  }
})

test('TEN-4: groups are short while writers share a thread', async (context) => {
  let now = 0
  // Each change takes a millisecond.
  context.mock.method(performance, 'now', () => now++)
  const turns = new WriterTurns()
  const [one, two] = [writerOf(context, 'one', turns), writerOf(context, 'two', turns)]
  const many = () => Promise.all(Array.from({ length: 100 }, one.add))
  await many()
  const longest = Math.max(...one.groups)
  await two.add()
  one.groups.length = 0
  await many()
  assert.ok(Math.max(...one.groups) * 3 < longest, `${one.groups} after ${longest}`)
  now += 2_000
  one.groups.length = 0
  await many()
  assert.equal(Math.max(...one.groups), longest)
})
