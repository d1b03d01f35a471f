/** A restored backup is the database that was backed up; whatever interrupts or damages it is found. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { administer } from '../../packages/server/src/server/open-database.ts'
import { movedTables } from '../../packages/server/src/storage/move/move.ts'
import { commandFile } from '../command-file.ts'
import { ask, assertGoesOn, fillAddress, serverOn } from '../move.ts'
import { databaseFor, whyNoDatabase } from '../postgres/database.ts'
import { query } from '../postgres/query.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-backup-'))
after(() => rmSync(folder, { recursive: true }))

let files = 0
const newFile = (extension: string) => join(folder, `${files++}.${extension}`)
const engines = { sqlite: async (_: TestContext) => `sqlite:${newFile('data')}`, postgres: databaseFor }
type Engine = keyof typeof engines
const without = (...used: readonly Engine[]) => used.includes('postgres') && (whyNoDatabase ?? false)

function start(...given: readonly string[]) {
  const child = spawn(process.execPath, [commandFile, ...given], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  return { child, said: () => said, ended: new Promise<number | null>((resolve) => child.on('close', resolve)) }
}

async function run(code: number, ...given: readonly string[]): Promise<string> {
  const { ended, said } = start(...given)
  assert.equal(await ended, code, said())
  assert.doesNotMatch(said(), /\n {4}at /)
  return said()
}

const backUp = (from: string, file: string, code = 0) => run(code, 'backup', file, '--database', from)
const restore = (file: string, to: string, code = 0) =>
  run(code, 'restore', file, '--database', to, '--database-unsafe')

/** Restores a backup to a new file, and returns its address. */
async function restored(file: string): Promise<string> {
  const to = `sqlite:${newFile('data')}`
  await restore(file, to)
  return to
}

/** Every row of every table, and the other properties that do not depend on the engine. */
async function contentsOf(address: string) {
  const source = await (await administer({ database: address })).openSource()
  try {
    await source.begin()
    const contents: Record<string, unknown[]> = {}
    for (const table of movedTables(await source.schema())) {
      const rows: unknown[] = []
      for await (const batch of source.rows(table)) rows.push(...batch)
      contents[table.name] = rows
    }
    const other = async (text: string) => source.all({ sql: text, text, values: [] })
    const sums = 'sum(revision) as revision, sum(live) as live, sum(deleted) as deleted'
    contents['clocks'] = await other(
      `select collection, ${sums} from resourced_clocks group by collection order by collection`,
    )
    const temporary = "'shape', 'write_probe', 'maintenance'"
    contents['meta'] = await other(`select * from resourced_meta where key not in (${temporary}) order by key`)
    return contents
  } finally {
    await source.close()
  }
}

/** Compares every table. Whole tables in a message would be too long. */
async function assertSame(one: string, other: string, except: readonly string[] = []): Promise<void> {
  const [found, expected] = [await contentsOf(one), await contentsOf(other)]
  assert.deepEqual(Object.keys(found), Object.keys(expected))
  for (const [name, rows] of Object.entries(found)) {
    if (except.includes(name)) continue
    assert.equal(rows.length, expected[name]?.length, name)
    for (const [index, row] of rows.entries())
      assert.equal(JSON.stringify(row), JSON.stringify(expected[name]?.[index]), name)
  }
}

// The files of exports last a day, also by the clock of the command.
const now = Math.floor(Date.now() / 1000) * 1000
const declaration = `export { everythingWithEvents as default } from ${JSON.stringify(
  new URL('../declarations-everything.ts', import.meta.url).href,
)}`
writeFileSync(join(folder, 'resources.ts'), declaration)

const ways = [
  ['sqlite', 'sqlite'],
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['postgres', 'postgres'],
] as const
for (const [one, other] of ways) {
  const skip = without(one, other)
  test(`a backup of ${one} that is restored to ${other} gives the same answers`, { skip }, async (context) => {
    const from = await engines[one](context)
    const { client, key, paths, answers } = await fillAddress(from, now)
    const file = newFile('backup')
    const said = await backUp(from, file)
    await client.app.close()
    assert.match(said, /Backed up \d+ records in 10 collections/)
    assert.match(said, /1 unfinished export begins again/)
    assert.equal(statSync(file).mode & 0o777, 0o600)

    const to = await engines[other](context)
    assert.match(await restore(file, to), /What was written was read back, and is the same as in the backup/)
    // The first start of a server creates the triggers and counts summaries, unless the file of SQLite was copied.
    const steps = (await run(0, 'migrate', '--database', to)).split('Nothing was changed.')[0]
    const triggers = '  + create the triggers of tickets\n  + count the summaries of tickets (by_month)\n'
    const hasTriggers = one === 'sqlite' && other === 'sqlite'
    if (hasTriggers) assert.equal(steps, 'The database fits the declaration: nothing to do.\n')
    else assert.ok(steps?.endsWith(triggers), String(steps))
    // An export that was not finished begins again.
    await assertSame(to, from, ['resourced_work'])

    const idle = await serverOn(to, key, now, { idle: true })
    assert.deepEqual(await ask(idle, paths), answers)
    await idle.app.close()

    const restored = await serverOn(to, key, now)
    const { app, send } = restored
    await assertGoesOn(restored, paths)
    assert.equal((await send('/v1/samples', { body: { title: 'new words' } })).status, 201)
    assert.equal(JSON.parse((await send('/v1/samples?q=words')).text).data.length, 1)
    await app.close()
  })
}

const pairs = 2_000
const padding = 'x'.repeat(4_000)
const pairFields = { value: { type: 'integer' }, padding: { type: 'string' } }
const pairDeclaration = { name: 'pairs', resources: { lefts: { fields: pairFields }, rights: { fields: pairFields } } }

/** A database with pairs of records, 16 MB. */
async function pairsIn(address: string): Promise<void> {
  const declared = join(folder, 'pairs.json')
  writeFileSync(declared, JSON.stringify(pairDeclaration))
  await run(0, 'migrate', declared, '--apply', '--database', address)
  const insert = (table: string) =>
    address.startsWith('sqlite:')
      ? `insert into ${table} (id, value, padding, created_at, updated_at, _revision)
          select 'pair-' || value, 0, '${padding}', '', '', 1 from generate_series(0, ${pairs - 1})`
      : `insert into ${table} (id, value, padding, created_at, updated_at, _revision)
          select 'pair-' || value, 0, '${padding}', '', '', 1 from generate_series(0, ${pairs - 1}) as value`
  for (const table of ['lefts', 'rights']) {
    const clock = `update resourced_clocks set live = ${pairs} where collection = '${table}'`
    if (!address.startsWith('sqlite:')) {
      await query(address, insert(table))
      await query(address, `${clock} and slot = 0`)
      continue
    }
    const database = new DatabaseSync(address.slice('sqlite:'.length))
    const numbers = `with recursive n(value) as (select 0 union all select value + 1 from n where value < ${pairs - 1})`
    database.exec(
      insert(table)
        .replace('insert', `${numbers} insert`)
        .replace(/generate_series\(.*\)/, 'n'),
    )
    database.exec(clock)
    database.close()
  }
}

for (const engine of ['sqlite', 'postgres'] as const) {
  const skip = without(engine)
  test(`a backup of ${engine} has whole transactions only, while a process writes`, { skip }, async (context) => {
    const address = await engines[engine](context)
    await pairsIn(address)
    const fixture = join(import.meta.dirname, '../backup-writer.fixture.ts')
    const writer = spawn(process.execPath, [fixture, address, String(pairs)], { stdio: ['ignore', 'pipe', 'inherit'] })
    context.after(() => writer.kill('SIGKILL'))
    let written = 0
    writer.stdout.on('data', (text) => (written = Number(String(text).trim().split('\n').at(-1))))
    const writes = async (most: number) => {
      while (written < most) {
        assert.equal(writer.exitCode, null)
        await sleep(5)
      }
    }
    for (let round = 0; round < 3; round++) {
      await writes(written + 50)
      const before = written
      const file = newFile('backup')
      await backUp(address, file)
      const after = written
      assert.ok(after > before, 'Nothing was written meanwhile.')
      const to = await restored(file)
      const database = new DatabaseSync(to.slice('sqlite:'.length), { readOnly: true })
      const torn = database
        .prepare('select count(*) as count from lefts l join rights r on r.id = l.id where l.value is not r.value')
        .get()
      assert.deepEqual({ ...torn }, { count: 0 })
      const last = database.prepare('select max(value) as last, count(*) as count from lefts').get()
      assert.equal(last?.['count'], pairs)
      // Everything that was committed before is in it.
      assert.ok(Number(last?.['last']) >= before, `${last?.['last']} of ${before}`)
      database.close()
    }
    const ended = once(writer, 'close')
    writer.kill('SIGKILL')
    await ended
  })
}

/** Ends a command with a signal while a condition holds. Tries again where the command was faster. */
async function interrupt(signal: NodeJS.Signals, holds: () => unknown, prepare: () => void, given: readonly string[]) {
  for (let attempt = 0; attempt < 20; attempt++) {
    prepare()
    const { child, ended } = start(...given)
    while (child.exitCode === null && child.signalCode === null && !(await holds())) await sleep(1)
    child.kill(signal)
    const code = await ended
    if (code !== 0) return code
  }
  return assert.fail('The command was faster each time.')
}

const named = (path: string) => readdirSync(folder).filter((name) => join(folder, name).startsWith(path))
const baseOf = (path: string) => path.slice(folder.length + 1)

test('a backup or a restoration that is killed leaves no file, and the next one succeeds', async () => {
  const database = newFile('data')
  await pairsIn(`sqlite:${database}`)
  const file = newFile('backup')
  const prepare = (path: string) => () => rmSync(path, { force: true })
  const making = (path: string) => () => named(path).some((name) => name.endsWith('.partial'))
  const backup = ['backup', file, '--database', `sqlite:${database}`]
  assert.equal(await interrupt('SIGINT', making(file), prepare(file), backup), 130)
  assert.deepEqual(named(file), [])
  assert.equal(await interrupt('SIGKILL', making(file), prepare(file), backup), null)
  assert.deepEqual([existsSync(file), making(file)()], [false, true])
  // The next backup has another name: it also removes what the killed one has left.
  const next = newFile('backup')
  await run(0, 'backup', next, '--database', `sqlite:${database}`)
  assert.deepEqual([named(file), named(next)], [[], [baseOf(next)]])
  await run(0, ...backup)
  assert.deepEqual(named(file), [baseOf(file)])

  const target = newFile('data')
  const restoring = ['restore', file, '--database', `sqlite:${target}`]
  assert.equal(await interrupt('SIGINT', making(target), prepare(target), restoring), 130)
  assert.deepEqual(named(target), [])
  assert.equal(await interrupt('SIGKILL', making(target), prepare(target), restoring), null)
  assert.equal(existsSync(target), false)
  await run(0, ...restoring)
  assert.deepEqual(named(target), [baseOf(target)])
  await assertSame(`sqlite:${target}`, `sqlite:${database}`)
  assert.match(await run(1, ...restoring), /holds records \(2000 in lefts, 2000 in rights\) already/)
})

test('a restoration to PostgreSQL that is killed leaves nothing', { skip: without('postgres') }, async (context) => {
  const database = `sqlite:${newFile('data')}`
  await pairsIn(database)
  const file = newFile('backup')
  await backUp(database, file)
  let to = await databaseFor(context)
  const given = () => ['restore', file, '--database', to, '--database-unsafe']
  const writing = async () => {
    const busy = `select 1 from pg_stat_activity
      where datname = current_database() and query like 'insert into%unnest%'`
    return (await query(to, busy)).length > 0
  }
  for (let attempt = 0; ; attempt++) {
    assert.ok(attempt < 20, 'The command was faster each time.')
    const { child, ended } = start(...given())
    while (child.exitCode === null && !(await writing())) await sleep(1)
    child.kill('SIGKILL')
    if ((await ended) === null) break
    to = await databaseFor(context)
  }
  await run(0, ...given())
  await assertSame(to, database)
})

test('limits of a PostgreSQL role do not end a backup', { skip: without('postgres') }, async (context) => {
  const address = await databaseFor(context)
  await pairsIn(address)
  const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout']
  const database = new URL(address).pathname.slice(1)
  for (const limit of limits) await query(address, `alter database ${database} set ${limit} = '20ms'`)
  const file = newFile('backup')
  await backUp(address, file)
  await assertSame(await restored(file), address)
})

test('a migration that rewrites a table meanwhile empties no backup', {
  skip: without('postgres'),
}, async (context) => {
  const address = await databaseFor(context)
  await pairsIn(address)
  const client = new pg.Client(address)
  await client.connect()
  try {
    await client.query('begin')
    // The rewritten table is empty for snapshots from before the commit.
    for (const type of ['numeric', 'bigint']) await client.query(`alter table lefts alter column value type ${type}`)
    const file = newFile('backup')
    const { ended, said } = start('backup', file, '--database', address)
    const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    while ((await query(address, waiting)).length === 0) await sleep(10)
    await client.query('commit')
    assert.equal(await ended, 0, said())
    await assertSame(await restored(file), address)
  } finally {
    await client.end()
  }
})

test('a file that is no intact backup is refused in a sentence, and nothing is created', async () => {
  const database = newFile('data')
  await run(0, 'keys', 'create', '--subject', 'a', '--database', `sqlite:${database}`)
  const file = newFile('backup')
  await backUp(`sqlite:${database}`, file)
  const { size } = statSync(file)
  const described = (change: (text: string) => string) => (path: string) => {
    const bytes = readFileSync(file)
    const place = bytes.lastIndexOf('\nresourced-backup ')
    writeFileSync(path, Buffer.concat([bytes.subarray(0, place), Buffer.from(change(bytes.toString('utf8', place)))]))
  }
  const replaced = (position: number) => (path: string) => {
    const bytes = readFileSync(file)
    bytes[position]! ^= 1
    writeFileSync(path, bytes)
  }
  const cases: Readonly<Record<string, readonly [change: (path: string) => void, expected: RegExp]>> = {
    'a missing file': [() => {}, /There is no file /],
    'a folder': [(path) => mkdirSync(path), / is not a file\./],
    'an empty file': [(path) => writeFileSync(path, ''), / is not a backup of Resourced\./],
    'a text': [(path) => writeFileSync(path, 'id,title\n'.repeat(100)), / is not a backup of Resourced\./],
    'a database': [(path) => copyFileSync(database, path), / is not a complete backup: its end is missing/],
    'a truncated file': [
      (path) => {
        copyFileSync(file, path)
        truncateSync(path, size - 300)
      },
      / is not a complete backup: its end is missing/,
    ],
    'a half file': [
      (path) => writeFileSync(path, readFileSync(file).subarray(0, size >> 1)),
      / is not a complete backup: its end is missing/,
    ],
    'one other bit': [replaced(size >> 1), / is damaged, or was changed/],
    'another bit of the description': [replaced(size - 20), / is damaged, or was changed/],
    'more at the end': [
      (path) => {
        copyFileSync(file, path)
        appendFileSync(path, 'x\n')
      },
      / is damaged, or was changed/,
    ],
    'less in the middle': [
      (path) =>
        writeFileSync(path, Buffer.concat([readFileSync(file).subarray(0, 4096), readFileSync(file).subarray(8192)])),
      / is damaged, or was changed/,
    ],
    'a newer release': [
      described((text) => text.replace(/"resourced":"[^"]*"/, '"resourced":"999.0.0"')),
      /Resourced 999\.0\.0 made .* Restore it with that release or a newer one: this is /,
    ],
    'a newer format': [described((text) => text.replace('"format":1', '"format":2')), /Restore it with that release/],
  }
  for (const [name, [change, expected]] of Object.entries(cases)) {
    const path = newFile('backup')
    change(path)
    const target = newFile('data')
    assert.match(await restore(path, `sqlite:${target}`, 1), expected, name)
    assert.deepEqual(named(target), [], name)
    // An empty file is filled in another way.
    writeFileSync(target, '')
    assert.match(await restore(path, `sqlite:${target}`, 1), expected, name)
    const left = new DatabaseSync(target)
    assert.deepEqual(left.prepare('select name from sqlite_schema').all(), [], name)
    left.close()
  }
})

test('what cannot be backed up or restored is refused, and nothing is created or replaced', async () => {
  const database = newFile('data')
  const address = `sqlite:${database}`
  await run(0, 'keys', 'create', '--subject', 'a', '--database', address)
  const file = newFile('backup')
  await backUp(address, file)
  const before = readFileSync(file)
  // SQLite keeps a log beside a database that was read last.
  const present = () => readdirSync(folder).filter((name) => !/-(?:wal|shm)$/.test(name))
  const there = present()
  assert.match(await backUp(address, file, 1), /exists already, and is never overwritten/)
  assert.match(await backUp(address, database, 1), /exists already, and is never overwritten/)
  assert.match(await backUp(address, folder, 1), /exists already, and is never overwritten/)
  assert.match(
    await backUp(address, join(folder, 'missing/x.backup'), 1),
    /There is no folder .*missing\. Create it first\./,
  )
  assert.match(await backUp(address, `${file}/x.backup`, 1), /cannot be written \(ENOTDIR\)/)
  assert.match(await backUp(address, address, 2), /Name the file of the backup/)
  assert.match(await backUp('sqlite::memory:', newFile('backup'), 2), /in memory ends with its process/)
  assert.match(await backUp('sqlite:nothing.db', newFile('backup'), 1), /no database of Resourced at nothing\.db/)
  assert.match(await backUp('mysql://u:secret@h/d', newFile('backup'), 2), /address is not understood/)
  assert.match(await restore(file, 'sqlite::memory:', 2), /in memory ends with its process/)
  assert.match(await restore(file, address, 1), /holds records \(1 in api-keys\) already/)
  assert.match(await restore(file, `sqlite:${file}`, 1), /is the backup itself/)
  assert.deepEqual(present(), there)
  assert.deepEqual(readFileSync(file), before)

  // The log of a database that was removed would be applied to another one.
  const target = newFile('data')
  writeFileSync(`${target}-wal`, 'log')
  assert.match(await restore(file, `sqlite:${target}`, 1), /-wal belongs to a database that is no longer there/)
  assert.deepEqual(named(target), [`${baseOf(target)}-wal`])
})

test('maintenance does not go into a backup', async () => {
  const address = `sqlite:${newFile('data')}`
  await run(0, 'keys', 'create', '--subject', 'a', '--database', address)
  await run(0, 'maintenance', 'on', '--database', address)
  const file = newFile('backup')
  await backUp(address, file)
  assert.match(await run(0, 'maintenance', 'status', '--database', await restored(file)), /Maintenance is off/)
})
