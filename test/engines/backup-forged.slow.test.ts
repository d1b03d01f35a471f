/**
 * SEC-3, OPS-6: a backup is data. One that was forged runs nothing, writes nothing outside of the database that is
 * restored, and is refused in a sentence, to every target; so is a database that is moved.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import {
  administer,
  backUpDatabase,
  checkMoveSource,
  openStorage,
  restoreDatabase,
} from '../../packages/server/src/server/open-database.ts'
import { schemaOf } from '../../packages/server/src/storage/migration/stored-schema.ts'
import { moveAll } from '../../packages/server/src/storage/move/move.ts'
import { StorageFault } from '../../packages/server/src/storage/storage.ts'
import { forge, shop } from '../backups/backups.ts'
import { commandFile } from '../command-file.ts'
import { databaseFor, whyNoDatabase } from '../postgres/database.ts'
import { query } from '../postgres/query.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-forged-'))
test.after(() => rmSync(folder, { recursive: true }))

let folders = 0
/** A folder of its own, in which nothing but the named files may be. */
function newFolder(): string {
  const made = join(folder, String(folders++))
  mkdirSync(made)
  return made
}

const work = { signal: new AbortController().signal, onProgress() {}, version: '0.1.0' }
const restore = (file: string, database: string) =>
  restoreDatabase(file, { database, databaseUnsafe: true }, { ...work, now: Date.now() })

/** The message of a refusal, which is a sentence and not an error of the program. */
async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => assert.fail('It was not refused.'),
    (reason: unknown) => reason,
  )
  if (!(error instanceof StorageFault)) throw error
  // A terminal would obey control characters.
  assert.doesNotMatch(error.message.replaceAll('\n', ''), /\p{Cc}/u)
  return error.message
}

async function assertRefused(context: TestContext, file: string, expected: RegExp, name: string): Promise<void> {
  const at = newFolder()
  const [missing, empty] = [join(at, 'missing.db'), join(at, 'empty.db')]
  assert.match(await refusalOf(restore(file, `sqlite:${missing}`)), expected, name)
  assert.deepEqual(readdirSync(at), [], name)
  writeFileSync(empty, '')
  assert.match(await refusalOf(restore(file, `sqlite:${empty}`)), expected, name)
  const left = new DatabaseSync(empty)
  assert.deepEqual(left.prepare('select name from sqlite_schema').all(), [], name)
  left.close()
  assert.deepEqual(
    readdirSync(at).filter((each) => !/^empty\.db(?:-wal|-shm)?$/.test(each)),
    [],
    name,
  )
  if (whyNoDatabase !== undefined) return
  const postgres = await databaseFor(context)
  assert.match(await refusalOf(restore(file, postgres)), expected, name)
  const tables = await query(postgres, "select relname from pg_class where relnamespace = 'public'::regnamespace")
  assert.deepEqual(tables, [], name)
}

const run = (statements: string) => (database: DatabaseSync) => database.exec(statements)
const asSchema = (statements: string) =>
  run(`pragma writable_schema = on; ${statements}; pragma writable_schema = reset`)

const notMade = (what: string) => new RegExp(`has the ${what}, which this program does not make`)
const altered = (table: string) => notMade(`table "${table}"`)
const newShape = (change: (shape: { tables: unknown[] }) => unknown) => (database: DatabaseSync) => {
  const { value } = database.prepare("select value from resourced_meta where key = 'shape'").get() as { value: string }
  const shape = JSON.stringify(change(JSON.parse(value)))
  database.prepare("update resourced_meta set value = ? where key = 'shape'").run(shape)
}
const column = { name: 'a', holds: 'string', required: false }
const describes = /The description of the tables in resourced_meta is none that this program writes/
const job = /has a job that this program cannot have made/
const work1 = (values: string) => `insert into resourced_work (job, task, state) values (${values})`
const uuid = '01900000-0000-7000-8000-00000000000a'

const schemas: Readonly<Record<string, readonly [change: (database: DatabaseSync) => void, expected: RegExp]>> = {
  'a trigger that makes administrators': [
    run(`create trigger promote after insert on "api-keys" begin update "api-keys" set roles = '["admin"]'; end`),
    notMade('trigger "promote"'),
  ],
  'a trigger with a name of ours': [
    run(`drop trigger resourced_created_orders; create trigger resourced_created_orders after insert on orders
      begin delete from customers; end`),
    notMade('trigger "resourced_created_orders"'),
  ],
  'a trigger of ours that does more': [
    asSchema(`update sqlite_schema set sql = replace(sql, '; end', '; delete from customers; end')
      where name = 'resourced_changed_orders'`),
    notMade('trigger "resourced_changed_orders"'),
  ],
  'a trigger of ours that keeps a summary and does more': [
    run(`create trigger "resourced_kept_added_orders" /*[{"name":"all","groups":[],"sums":[]}]*/ after insert on "orders"
      begin update "api-keys" set roles = '["admin"]'; end`),
    notMade('trigger "resourced_kept_added_orders"'),
  ],
  'a trigger of ours that shows a column that is none': [
    asSchema(`update sqlite_schema set sql = replace(sql, '(''title'', new."title")', '(''secret'', new."secret")')
      where name = 'resourced_created_orders'`),
    notMade('trigger "resourced_created_orders"'),
  ],
  'a view': [run('create view report as select * from customers'), notMade('view "report"')],
  'a view in place of a table': [
    run(`alter table customers rename to hidden; create view customers as
      with recursive n(x) as (select 1 union all select x + 1 from n) select x as _row, x as id from n`),
    notMade('(?:view "customers"|index .*)'),
  ],
  'a view of words that asks another table': [
    run(`drop view resourced_words_orders_all;
      create view resourced_words_orders_all ("row", words) as select rowid, hash from resourced_key_hashes`),
    notMade('view "resourced_words_orders_all"'),
  ],
  'a table': [run('create table evil (a)'), altered('evil')],
  'a table whose name is an escape sequence': [
    run('create table "\u001b[2J" (a)'),
    notMade(String.raw`table "\\u001b\[2J"`),
  ],
  'a generated column': [
    asSchema(`update sqlite_schema set sql = replace(sql, ') strict', ', "x" text as (hex(zeroblob(100000000)))) strict')
      where name = 'customers'`),
    altered('customers'),
  ],
  'a generated column in place of a column that is read first': [
    asSchema(`update sqlite_schema set sql = replace(sql, '"value" text not null', '"value" text as (hex(zeroblob(100000000)))')
      where name = 'resourced_meta'`),
    /The file describes no tables that this program makes/,
  ],
  'a check': [
    asSchema(
      `update sqlite_schema set sql = replace(sql, ') strict', ', check (abs("_row") > 0)) strict') where name = 'orders'`,
    ),
    altered('orders'),
  ],
  'a default': [run(`alter table customers add column more text default 'x'`), altered('customers')],
  'a column that the description does not have': [
    run('alter table customers add column more text'),
    altered('customers'),
  ],
  'a table that takes any type': [
    asSchema(`update sqlite_schema set sql = replace(sql, ' strict', '') where name = 'customers'`),
    altered('customers'),
  ],
  'an index of an expression': [
    run('create index customers_by_name_012345 on customers (upper(name))'),
    notMade('index .*'),
  ],
  'an index of some rows': [
    run(`create index customers_by_name_012345 on customers ("name") where length(name) > 0`),
    notMade('index "customers_by_name_012345"'),
  ],
  'an index with a name of its own': [run('create index evil on customers ("name")'), notMade('index "evil"')],
  'a full-text index that reads another table': [
    run(`drop table resourced_words_orders_0; create virtual table resourced_words_orders_0
      using fts5 (words, content = 'resourced_key_hashes', content_rowid = 'rowid')`),
    altered('resourced_words_orders_0'),
  ],
  'a virtual table': [run('create virtual table evil using rtree (id, low, high)'), notMade('table "evil.*"')],
  'a table of a part that is none of FTS5': [
    asSchema(`update sqlite_schema set sql = replace(sql, 'block BLOB', 'block AS (zeroblob(1000000000))')
      where name = 'resourced_words_orders_0_data'`),
    altered('resourced_words_orders_0_data'),
  ],
  'two tables in the same pages': [
    asSchema(`update sqlite_schema set rootpage =
      (select rootpage from sqlite_schema where name = 'resourced_key_hashes') where name = 'resourced_work'`),
    /is damaged.*SQLite reports/,
  ],
  'a schema that cannot be read': [
    asSchema(`update sqlite_schema set sql = 'create table (' where name = 'customers'`),
    /is damaged\. SQLite reports: malformed database schema/,
  ],
  'a value of another type': [
    (database) => {
      const set = (from: string, to: string) =>
        database.exec(`pragma writable_schema = on; update sqlite_schema set sql = replace(sql, '${from}', '${to}')
          where name = 'customers'; pragma writable_schema = reset`)
      set(' strict', ' /* */')
      database.exec("update customers set name = x'00ff'")
      set(' /* */', ' strict')
    },
    /is damaged.*SQLite reports: non-TEXT value in customers\.name/,
  ],
  'no description of tables': [
    run('drop table resourced_meta'),
    /The file describes no tables that this program makes/,
  ],
  'a description that is no JSON': [run("update resourced_meta set value = '{' where key = 'shape'"), describes],
  'a description without tables': [newShape(() => null), describes],
  'a name that ends an identifier': [
    newShape(({ tables }) => ({ tables: [...tables, { name: 'x" (a); --', columns: [], search: [] }] })),
    describes,
  ],
  'a name of a table of SQLite': [
    newShape(({ tables }) => ({ tables: [...tables, { name: 'sqlite_schema', columns: [], search: [] }] })),
    describes,
  ],
  'a table that is described twice': [newShape(({ tables }) => ({ tables: [...tables, tables.at(-1)] })), describes],
  'a column whose name ends an identifier': [
    newShape(({ tables }) => ({
      tables: [...tables, { name: 'x', columns: [{ ...column, name: 'a"b' }], search: [] }],
    })),
    describes,
  ],
  'a column of an unknown type': [
    newShape(({ tables }) => ({
      tables: [...tables, { name: 'x', columns: [{ ...column, holds: '__proto__' }], search: [] }],
    })),
    describes,
  ],
  'too many tables': [
    newShape(() => ({
      tables: Array.from({ length: 10_001 }, (_, index) => ({ name: `t${index}`, columns: [], search: [] })),
    })),
    describes,
  ],
  'a newer storage format': [
    run("insert or replace into resourced_meta values ('format', '4')"),
    /A newer release of Resourced has written to the database: its storage format is "4", and this release knows 3/,
  ],
  'a storage format that is no number': [
    run("insert or replace into resourced_meta values ('format', 'x')"),
    /A newer release of Resourced has written/,
  ],
  'an export whose id leads elsewhere': [
    run(`update jobs set id = '../../escaped', finished_at = '${new Date().toISOString()}' where kind = 'export';
      update resourced_pieces set job = '../../escaped'`),
    job,
  ],
  'an unfinished export whose id leads elsewhere': [
    run(work1(`'../x', 'export', '{"count":0,"bytes":0,"after":null}'`)),
    job,
  ],
  'an unfinished job of an unknown task': [run(work1(`'${uuid}', 'constructor', '{}'`)), job],
  'an unfinished job whose state cannot be read': [run(work1(`'${uuid}', 'deletion', 'x'`)), job],
}

for (const [name, [change, expected]] of Object.entries(schemas)) {
  test(`a backup with ${name} is refused`, async (context) => {
    const file = join(newFolder(), 'forged.backup')
    forge(file, change)
    await assertRefused(context, file, expected, name)
  })
}

test('a backup whose pages are damaged is refused', async (context) => {
  // From the second half of a page on: none of these pages is free.
  for (const page of [5, 20, 60]) {
    const file = join(newFolder(), 'forged.backup')
    forge(file, undefined, undefined, (bytes) => void bytes.fill(0xff, page * 4_096, (page + 1) * 4_096))
    await assertRefused(context, file, /is damaged.*SQLite reports|describes no tables/, String(page))
  }
})

test('a description that this program cannot have written is refused', async (context) => {
  const changes: readonly Readonly<Record<string, unknown>>[] = [
    { created_at: '\u001b[31m2026' },
    { resourced: '0.1.0\u001b[2J' },
    { records: { books: '1' } },
    { records: [] },
    { files: -1 },
    { sha256: 'x' },
    { bytes: 1e300 },
  ]
  for (const change of changes) {
    const file = join(newFolder(), 'forged.backup')
    forge(file, undefined, (description) => ({ ...description, ...change }))
    await assertRefused(context, file, /is damaged, or was changed/, JSON.stringify(change))
  }
})

test('the file of an export that has an empty piece, or no sound result, is left out', async () => {
  const recent = new Date().toISOString()
  const changes = [
    'update resourced_pieces set content = zeroblob(0)',
    `insert into resourced_pieces select job, start + length(content), zeroblob(0) from resourced_pieces;
      update jobs set result = json_set(result, '$.bytes', 1e6)`,
    `update jobs set result = 'null'`,
    `update jobs set result = '[]'`,
    `update jobs set finished_at = 'zzz'`,
  ]
  for (const change of changes) {
    const at = newFolder()
    const file = join(at, 'forged.backup')
    forge(file, run(`update jobs set finished_at = '${recent}' where kind = 'export'; ${change}`))
    const { lost } = await restore(file, `sqlite:${join(at, 'data.db')}`)
    assert.equal(lost.length, 1, change)
    assert.deepEqual(readdirSync(at).toSorted(), ['data.db', 'forged.backup'], change)
  }
})

test('the tables of helpers, statistics and the switch of maintenance are not restored', async () => {
  const at = newFolder()
  const file = join(at, 'forged.backup')
  const statements = `create table _litestream_seq (id integer primary key, seq integer);
    create table _litestream_lock (id integer unique); create index _litestream_index on _litestream_lock (id);
    insert into resourced_meta values ('maintenance', '{}'); analyze`
  forge(file, run(statements))
  await restore(file, `sqlite:${join(at, 'data.db')}`)
  const database = new DatabaseSync(join(at, 'data.db'), { readOnly: true })
  const names = "select name from sqlite_schema where name like '%litestream%' or name like 'sqlite_stat%'"
  assert.deepEqual(database.prepare(names).all(), [])
  assert.deepEqual(database.prepare("select * from resourced_meta where key = 'maintenance'").all(), [])
  database.close()
})

test('a backup of a database with objects of other programs omits them, says so, and can be restored', async () => {
  const at = newFolder()
  const first = join(at, 'first.backup')
  const [used, again] = [`sqlite:${join(at, 'used.db')}`, `sqlite:${join(at, 'again.db')}`]
  forge(first)
  await restore(first, used)
  const database = new DatabaseSync(join(at, 'used.db'))
  database.exec(`create table own (id integer primary key autoincrement, customer integer references customers (_row));
    insert into own (customer) values (1); create index own_index on customers (name);
    create view report as select count(*) from customers;
    create trigger watch after insert on customers begin insert into own (customer) values (new._row); end;
    create virtual table notes using fts5 (a); create table _litestream_seq (id integer primary key, seq integer)`)
  database.close()
  const second = join(at, 'second.backup')
  const { omitted, description } = await backUpDatabase({ database: used }, second, { ...work, now: Date.now() })
  const named = omitted.map(({ kind, name }) => `${kind} ${name}`).filter((name) => !name.startsWith('table notes_'))
  assert.deepEqual(named.toSorted(), ['index own_index', 'table notes', 'table own', 'trigger watch', 'view report'])
  assert.equal(description.records['customers'], 5)
  await restore(second, again)
  await checkMoveSource({ database: again })
})

test('a database whose tables were changed gets no backup that nobody could restore', async () => {
  const at = newFolder()
  const first = join(at, 'first.backup')
  forge(first)
  await restore(first, `sqlite:${join(at, 'used.db')}`)
  const database = new DatabaseSync(join(at, 'used.db'))
  database.exec('alter table customers add column note text')
  database.close()
  const made = backUpDatabase({ database: `sqlite:${join(at, 'used.db')}` }, join(at, 'b'), { ...work, now: 0 })
  const remedy = /^The table "customers" is not as this program makes it\. Somebody has changed it: undo the change\.$/
  assert.match(await refusalOf(made), remedy)
  assert.equal(existsSync(join(at, 'b')), false)
  assert.match(await refusalOf(checkMoveSource({ database: `sqlite:${join(at, 'used.db')}` })), remedy)
  const undone = new DatabaseSync(join(at, 'used.db'))
  undone.exec('alter table customers drop column note')
  undone.close()
  await backUpDatabase({ database: `sqlite:${join(at, 'used.db')}` }, join(at, 'b'), { ...work, now: 0 })
})

// Moves.

const catalog = completeCatalog(shop(true))

/** A database of SQLite that somebody has forged. */
async function forgedFile(change: string): Promise<string> {
  const at = newFolder()
  forge(join(at, 'first.backup'))
  const database = join(at, 'data.db')
  await restore(join(at, 'first.backup'), `sqlite:${database}`)
  const opened = new DatabaseSync(database)
  opened.exec(change)
  opened.close()
  return database
}

async function move(from: string, to: string): Promise<void> {
  const source = await (await administer({ database: from })).openSource()
  try {
    await source.begin()
    const schema = schemaOf(catalog)
    const how = { schema, now: Date.now(), signal: work.signal, onRows() {}, onIndexes() {} }
    await (await administer({ database: to, databaseUnsafe: true })).fill(schema, (target) =>
      moveAll(source, target, how),
    )
  } finally {
    await source.close()
  }
}

const forgedJob = `update jobs set id = '../../escaped', finished_at = '${new Date().toISOString()}' where kind = 'export'`

test('a database of SQLite whose export leads elsewhere is neither moved nor backed up', async (context) => {
  const from = await forgedFile(forgedJob)
  writeFileSync(join(`${from}`, '..', 'escaped'), 'somebody else')
  const at = newFolder()
  assert.match(await refusalOf(move(`sqlite:${from}`, `sqlite:${join(at, 'to.db')}`)), job)
  assert.equal(existsSync(join(folder, 'escaped')), false)
  const made = backUpDatabase({ database: `sqlite:${from}` }, join(at, 'b'), { ...work, now: Date.now() })
  assert.match(await refusalOf(made), job)
  assert.equal(existsSync(join(at, 'b')), false)
  if (whyNoDatabase !== undefined) return
  assert.match(await refusalOf(move(`sqlite:${from}`, await databaseFor(context))), job)
})

test('a database of PostgreSQL whose export leads elsewhere is neither moved nor backed up', {
  skip: whyNoDatabase ?? false,
}, async (context) => {
  const at = newFolder()
  forge(join(at, 'first.backup'))
  const from = await databaseFor(context)
  await restore(join(at, 'first.backup'), from)
  await query(from, forgedJob)
  assert.match(await refusalOf(move(from, `sqlite:${join(at, 'to.db')}`)), job)
  const made = backUpDatabase({ database: from }, join(at, 'b'), { ...work, now: Date.now() })
  assert.match(await refusalOf(made), job)
  assert.equal(existsSync(join(at, 'b')), false)
})

test('no trigger of a source runs when it is moved', async () => {
  const trigger = (body: string) => `create trigger evil after insert on resourced_meta begin ${body}; end`
  const from = await forgedFile(trigger("update resourced_meta set value = 'run' where key = 'cursor_secret'"))
  const at = newFolder()
  const declared = join(at, 'shop.ts')
  const fixture = JSON.stringify(new URL('../backups/backups.ts', import.meta.url).href)
  writeFileSync(declared, `import { shop } from ${fixture}\nexport default shop(true)\n`)
  const given = ['move', '--from', `sqlite:${from}`, '--to', `sqlite:${join(at, 'to.db')}`, '--declaration', declared]
  const { status, stderr } = spawnSync(process.execPath, [commandFile, ...given], { encoding: 'utf8' })
  assert.equal(status, 1, stderr)
  assert.match(
    stderr,
    /The trigger "evil" is not as this program makes it\. Somebody has made or changed it: drop it\./,
  )
  const database = new DatabaseSync(from, { readOnly: true })
  const kept = database.prepare("select value from resourced_meta where key in ('cursor_secret', 'maintenance')").all()
  assert.equal(kept.length, 1)
  assert.notEqual(kept[0]?.['value'], 'run')
  database.close()
})

test('a forged export beside a database is not read from elsewhere', async () => {
  const from = await forgedFile('')
  const secret = join(from, '..', 'secret')
  writeFileSync(secret, 'somebody else')
  const storage = await openStorage({ database: `sqlite:${from}` }, catalog)
  await storage.close()
  const source = await (await administer({ database: `sqlite:${from}` })).openSource()
  try {
    assert.throws(() => source.file('../secret'), /is not the id of a job/)
  } finally {
    await source.close()
  }
  assert.equal(readFileSync(secret, 'utf8'), 'somebody else')
})
