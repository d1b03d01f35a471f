import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import sql from 'sql-template-tag'
import { toFault } from '../../server/finish-request.ts'
import { type Commit, StorageFault } from '../storage.ts'
import { type Touched, type Transaction, touching } from '../transaction.ts'
import { Connection } from './connection.ts'
import { Writer } from './writer.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-writer-'))
after(() => rmSync(folder, { recursive: true }))
let files = 0

/**
 * A writer on a new file with a table of words; `commits` counts those of its connection. Groups are cut by their time,
 * so its clock goes on only a little with each look, and by `advance`: no group is cut because the machine is busy.
 */
function writerFor(context: TestContext, patience?: number) {
  let time = 0
  const advance = (milliseconds: number) => {
    time += milliseconds
    return time
  }
  context.mock.method(performance, 'now', () => advance(0.01))
  const file = join(folder, `${++files}.db`)
  const connection = new Connection(file)
  connection.database.exec('create table words (word text not null unique) strict')
  connection.stopWaiting()
  const other = new DatabaseSync(file, { timeout: 0 })
  context.after(() => {
    other.close()
    connection.close()
  })
  const execute = context.mock.method(connection, 'execute')
  const commits = () => execute.mock.calls.filter((call) => call.arguments[0] === 'commit').length
  // The committed rows, as another connection sees them.
  const words = () =>
    other
      .prepare('select word from words order by word')
      .all()
      .map(({ word }) => word)
  const told: Commit[] = []
  const writer = new Writer(connection, { patience, onCommit: (commit) => void told.push(commit) })
  return { connection, other, commits, words, told, writer, advance }
}

function* add(word: string | null): Transaction<string> {
  yield sql`insert into words values (${word})`
  return `added ${word}`
}

const always = () => true
const isFailure = (kind: StorageFault['kind']) => (error: unknown) =>
  error instanceof StorageFault && error.kind === kind

test('changes that arrive together share one commit, and see each other', async (context) => {
  const { writer, commits, words } = writerFor(context)
  const counted: number[] = []
  function* addAndCount(word: string): Transaction<void> {
    yield* add(word)
    counted.push(Number((yield sql`select count(*) as count from words`)[0]?.['count']))
  }
  await Promise.all(['a', 'b', 'c', 'd'].map((word) => writer.write(() => addAndCount(word), always)))
  assert.equal(commits(), 1)
  assert.deepEqual(counted, [1, 2, 3, 4])
  await writer.write(() => add('e'), always)
  assert.equal(commits(), 2)
  assert.deepEqual(words(), ['a', 'b', 'c', 'd', 'e'])
})

test('more than 256 changes make several commits, in their order', async (context) => {
  const { writer, commits } = writerFor(context)
  const order: number[] = []
  const changes = Array.from({ length: 600 }, (_, index) =>
    writer.write(() => add(String(index)), always).then(() => order.push(index)),
  )
  await Promise.all(changes)
  assert.equal(commits(), 3)
  assert.deepEqual(
    order,
    order.toSorted((left, right) => left - right),
  )
})

test('a client that writes alone waits for no second turn of the event loop; more of them share a commit', async (context) => {
  const { writer, commits, words } = writerFor(context)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  void writer.write(() => add('a'), always)
  await turn()
  assert.deepEqual(words(), ['a'])
  const before = commits()
  const pair = [writer.write(() => add('b'), always)]
  pair.push(writer.write(() => add('c'), always))
  // The next turn brings one more.
  setImmediate(() => pair.push(writer.write(() => add('d'), always)))
  await turn()
  await Promise.all(pair)
  assert.equal(commits() - before, 1)
})

test('a group whose statements take long is cut, and the others commit in their order', async (context) => {
  const { writer, commits, told, advance } = writerFor(context)
  const order: number[] = []
  function* slow(index: number): Transaction<void> {
    yield* add(String(index))
    advance(6)
  }
  const write = (index: number, made = true) =>
    writer.write(() => slow(index), () => made).then(() => order.push(index)) // biome-ignore format: a line
  await Promise.all(Array.from({ length: 10 }, (_, index) => write(index)))
  assert.equal(commits(), 3)
  assert.deepEqual(
    told.map(({ changes }) => changes),
    [4, 4, 2],
  )
  // The same for a group in which one change is undone.
  told.length = 0
  await Promise.all([10, 11, 12, 13, 14, 15].map((index) => write(index, index !== 11)))
  assert.deepEqual(
    told.map(({ changes }) => changes),
    [4, 2],
  )
  assert.deepEqual(
    order,
    Array.from({ length: 16 }, (_, index) => index),
  )
})

test('a group that must run again waits if another process takes the lock meanwhile', async (context) => {
  const { writer, connection, other, words } = writerFor(context)
  const execute = connection.execute.bind(connection)
  context.mock.method(connection, 'execute', (text: string) => {
    execute(text)
    if (text !== 'rollback') return
    other.exec('begin immediate')
    setTimeout(() => other.exec('commit'), 20)
  })
  await Promise.all([writer.write(() => add('a'), always), writer.write(() => add('b'), () => false)]) // biome-ignore format: a line
  assert.deepEqual(words(), ['a'])
})

test('no change gets its result before the commit', async (context) => {
  const { writer, connection, words } = writerFor(context)
  const seen: unknown[][] = []
  const execute = connection.execute.bind(connection)
  let answered = 0
  context.mock.method(connection, 'execute', (text: string) => {
    if (text === 'commit') assert.equal(answered, 0)
    execute(text)
  })
  const note = () => {
    answered++
    seen.push(words())
  }
  await Promise.all([writer.write(() => add('a'), always).then(note), writer.write(() => add('b'), always).then(note)])
  assert.deepEqual(seen, [['a', 'b'], ['a', 'b']]) // biome-ignore format: one row reads best
})

test('a change that fails, or is refused, is undone alone', async (context) => {
  const { writer, commits, words } = writerFor(context)
  function* fail(): Transaction<never> {
    yield* add('half')
    throw new Error('a bug')
  }
  const results = await Promise.allSettled([
    writer.write(() => add('a'), always),
    writer.write(() => add('a'), always),
    writer.write(() => fail(), always),
    writer.write(() => add('refused'), () => false),
    writer.write(() => add(null), always),
    writer.write(() => add('b'), always),
  ]) // biome-ignore format: one change a line
  assert.deepEqual(words(), ['a', 'b'])
  assert.equal(commits(), 1)
  const shown = results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.message))
  const expected = ['added a', 'SQLite failed.', 'a bug', 'added refused', 'SQLite failed.', 'added b']
  assert.deepEqual(shown, expected)
})

test('a batch runs again only if a change must be undone after it wrote something', async (context) => {
  const { writer, words } = writerFor(context)
  let begun = 0
  function* counted(word: string): Transaction<string> {
    begun++
    return yield* add(word)
  }
  function* refuse(): Transaction<string> {
    yield sql`select 1`
    return 'refused'
  }
  await Promise.all([writer.write(() => counted('a'), always), writer.write(() => refuse(), () => false)]) // biome-ignore format: a line
  assert.equal(begun, 1)
  await Promise.all([writer.write(() => counted('b'), always), writer.write(() => add('c'), () => false)]) // biome-ignore format: a line
  assert.equal(begun, 3)
  assert.deepEqual(words(), ['a', 'b'])
})

test('a database that another process has locked delays changes, but neither reads nor the event loop', async (context) => {
  const { writer, connection, other, words } = writerFor(context)
  const reader = new Connection(connection.database.location() as string, { readOnly: true })
  context.after(() => reader.close())
  other.exec('begin immediate')
  const begun = Date.now()
  let done = 0
  const changes = ['a', 'b'].map((word) => writer.write(() => add(word), always).then(() => done++))
  let longest = 0
  let last = begun
  while (Date.now() - begun < 300) {
    assert.equal(reader.all(sql`select count(*) as count from words`)[0]?.['count'], 0)
    await sleep(1)
    longest = Math.max(longest, Date.now() - last)
    last = Date.now()
  }
  assert.equal(done, 0)
  other.exec('commit')
  await Promise.all(changes)
  // SQLite itself would wait for a minute.
  assert.ok(longest < 2_500, `the event loop stood still for ${longest} ms`)
  assert.deepEqual(words(), ['a', 'b'])
})

test('a database that stays busy gives 503 with Retry-After, and the writer continues afterwards', async (context) => {
  const { writer, other, words } = writerFor(context, 1_000)
  other.exec('begin immediate')
  const begun = Date.now()
  const error = await writer.write(() => add('a'), always).catch((reason) => reason)
  const took = Date.now() - begun
  assert.ok(took >= 995 && took < 5_000, `${took} ms`)
  assert.ok(isFailure('busy')(error))
  const { status, details } = toFault(error)
  assert.equal(status, 503)
  assert.deepEqual(details.headers, { 'Retry-After': '1' })
  const later = writer.write(() => add('b'), always)
  setTimeout(() => other.exec('commit'), 300)
  await later
  assert.deepEqual(words(), ['b'])
  // Each wait has the whole patience to itself.
  await sleep(800)
  other.exec('begin immediate')
  const last = writer.write(() => add('c'), always)
  setTimeout(() => other.exec('commit'), 300)
  await last
})

test('a commit that fails rejects the whole batch and leaves the database unchanged', async (context) => {
  const { writer, connection, words } = writerFor(context)
  await writer.write(() => add('before'), always)
  const execute = connection.execute.bind(connection)
  const failure = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 1034 })
  const stub = context.mock.method(connection, 'execute', (text: string) => {
    if (text === 'commit') throw failure
    execute(text)
  })
  const results = await Promise.allSettled(['a', 'b', 'before'].map((word) => writer.write(() => add(word), always)))
  for (const result of results) assert.ok(result.status === 'rejected' && isFailure('unwritable')(result.reason))
  stub.mock.restore()
  assert.deepEqual(words(), ['before'])
  await writer.write(() => add('after'), always)
  assert.deepEqual(words(), ['after', 'before'])
})

test('a full disk rejects changes that do not fit and leaves the database unchanged', async (context) => {
  const { writer, connection, other, words } = writerFor(context)
  await writer.write(() => add('before'), always)
  const [pages] = connection.all(sql`pragma page_count`)
  connection.database.exec(`pragma max_page_count = ${pages?.['page_count']}`)
  const large = 'x'.repeat(50_000)
  const results = await Promise.allSettled(['a', large, 'b'].map((word) => writer.write(() => add(word), always)))
  const acknowledged = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.slice(6)] : []))
  assert.ok(results[1]?.status === 'rejected' && isFailure('unwritable')(results[1].reason))
  assert.deepEqual(words(), [...acknowledged, 'before'].sort())
  assert.deepEqual({ ...other.prepare('pragma integrity_check').get() }, { integrity_check: 'ok' })
  connection.database.exec('pragma max_page_count = 1000000')
  await writer.write(() => add(large), always)
  assert.ok(words().includes(large))
})

test('changes continue after words were removed from a full-text index', async (context) => {
  const { writer, connection } = writerFor(context)
  connection.database.exec("create virtual table search using fts5 (words, content='', contentless_delete=1)")
  function* run(statement: ReturnType<typeof sql>): Transaction<void> {
    yield statement
  }
  connection.database.exec("insert into search (rowid, words) values (1, 'word'), (2, 'word'), (3, 'word')")
  // The second one out of the same part of the index leaves a last rowid that no JavaScript number can hold.
  for (const row of [1, 2, 3]) await writer.write(() => run(sql`delete from search where rowid = ${row}`), always)
  await writer.write(() => add('after'), always)
})

test('drain waits for all submitted changes', async (context) => {
  const { writer, other, words } = writerFor(context)
  other.exec('begin immediate')
  void writer.write(() => add('a'), always)
  setTimeout(() => other.exec('commit'), 50)
  await writer.drain()
  assert.deepEqual(words(), ['a'])
})

test('each commit is reported with its number of changes and its time, after its callers have their results', async (context) => {
  const { writer, told, connection } = writerFor(context)
  const answered: number[] = []
  await Promise.all(
    ['a', 'b', 'c'].map((word) => writer.write(() => add(word), always).then(() => answered.push(told.length))),
  )
  assert.deepEqual(answered, [1, 1, 1])
  const begun = performance.now()
  await Promise.allSettled(['d', 'a'].map((word) => writer.write(() => add(word), always)))
  assert.deepEqual(
    told.map(({ changes }) => changes),
    [3, 2],
    'one of the second was refused',
  )
  const taken = performance.now() - begun
  for (const { duration } of told) assert.ok(duration > 0)
  assert.ok((told[1]?.duration ?? 0) <= taken)
  connection.database.exec('drop table words')
  context.mock.method(connection, 'execute', () => {
    throw new Error('a disk that fails')
  })
  await assert.rejects(writer.write(() => add('e'), always))
  assert.equal(told.length, 2, 'what failed was no commit')
})

test('a commit says which records its changes touched: those that were kept, and no others', async (context) => {
  const { connection, writer: first } = writerFor(context)
  assert.equal(await first.write(() => add('taken'), always), 'added taken')
  const told: string[][] = []
  const committed = (touches: readonly Touched[]) => void told.push(touches.flatMap(({ ids }) => [...ids]))
  const writer = new Writer(connection, { committed })
  function* touch(word: string): Transaction<string> {
    yield touching(sql`insert into words values (${word})`, { collection: 'words', ids: [word], stride: 1 })
    return word
  }
  const isKept = (word: string) => word !== 'refused'
  const write = (...words: string[]) => Promise.allSettled(words.map((word) => writer.write(() => touch(word), isKept)))
  await write('a', 'b')
  await write('c', 'refused', 'd')
  await write('e', 'taken', 'f')
  await write('refused')
  await write('g')
  assert.deepEqual(told, [['a', 'b'], ['c', 'd'], ['e', 'f'], [], ['g']])
})
