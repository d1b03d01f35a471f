/** `resourced import --from`: the tables of a PostgreSQL database, by the command itself, into both engines. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { commandFolder } from '../import/command.ts'
import { isWriting } from '../import/writing.ts'
import { databaseFor, whyNoDatabase } from './database.ts'
import { beforeHostile, hostile } from './inspect.fixture.ts'

const skip = whyNoDatabase ?? false
process.env.DATABASE_UNSAFE = 'true'

type Query = (text: string) => Promise<Record<string, unknown>[]>

async function connectionTo(context: TestContext, url: string): Promise<Query> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  context.after(() => client.end().catch(() => {}))
  return async (text) => (await client.query(text)).rows
}

interface Setup {
  readonly source: string
  readonly query: Query
  readonly command: ReturnType<typeof commandFolder>
}

/** A source with these tables, and the declaration that `inspect` makes of them. */
async function setUp(context: TestContext, tables: string, edit = (yaml: string) => yaml): Promise<Setup> {
  const source = await databaseFor(context)
  const query = await connectionTo(context, source)
  await query(tables)
  const command = commandFolder()
  context.after(command.remove)
  const inspected = await command.run(['inspect', source])
  assert.equal(inspected.code, 0, inspected.said)
  const yaml = inspected.said.slice(0, inspected.said.lastIndexOf('\n', inspected.said.length - 2) + 1)
  writeFileSync(join(command.folder, 'resources.yaml'), edit(yaml))
  return { source, query, command }
}

interface Target {
  readonly address: string
  query(): Promise<Query>
}

/** A target of each engine. */
async function targets(context: TestContext, folder: string): Promise<Target[]> {
  const file = join(folder, 'target.db')
  const url = await databaseFor(context)
  const inFile: Query = async (text) => {
    const database = new DatabaseSync(file, { readOnly: true })
    try {
      return database.prepare(text).all()
    } finally {
      database.close()
    }
  }
  return [
    { address: `sqlite:${file}`, query: async () => inFile },
    { address: url, query: () => connectionTo(context, url) },
  ]
}

const musicStore = readFileSync(join(import.meta.dirname, 'music-store.sql'), 'utf8')

/** Rows as sorted lines. */
function lines(rows: readonly Record<string, unknown>[]): string[] {
  return rows
    .map((row) => JSON.stringify(Object.values(row).map((each) => (each === null ? null : String(each)))))
    .sort()
}

// For each table: its columns, and its references by the old keys of both sides.
const tables: Readonly<
  Record<string, { collection: string; columns: string[]; links?: Record<string, [string, string]> }>
> = {
  artist: { collection: 'artists', columns: ['artist_id', 'name'] },
  album: { collection: 'albums', columns: ['album_id', 'title'], links: { artist_id: ['artists', 'artist_id'] } },
  genre: { collection: 'genres', columns: ['genre_id', 'name'] },
  media_type: { collection: 'media-types', columns: ['media_type_id', 'name'] },
  track: {
    collection: 'tracks',
    columns: ['track_id', 'name', 'composer', 'milliseconds', 'bytes', 'unit_price'],
    links: {
      album_id: ['albums', 'album_id'],
      media_type_id: ['media-types', 'media_type_id'],
      genre_id: ['genres', 'genre_id'],
    },
  },
  employee: {
    collection: 'employees',
    columns: ['employee_id', 'last_name', 'first_name'],
    links: { reports_to: ['employees', 'employee_id'] },
  },
  customer: {
    collection: 'customers',
    columns: ['customer_id', 'first_name', 'last_name', 'company', 'email'],
    links: { support_rep_id: ['employees', 'employee_id'] },
  },
  invoice: {
    collection: 'invoices',
    columns: ['invoice_id', 'billing_city', 'total'],
    links: { customer_id: ['customers', 'customer_id'] },
  },
  invoice_line: {
    collection: 'invoice-lines',
    columns: ['invoice_line_id', 'unit_price', 'quantity'],
    links: { invoice_id: ['invoices', 'invoice_id'], track_id: ['tracks', 'track_id'] },
  },
  playlist: { collection: 'playlists', columns: ['playlist_id', 'name'] },
  playlist_track: {
    collection: 'playlist-tracks',
    columns: [],
    links: { playlist_id: ['playlists', 'playlist_id'], track_id: ['tracks', 'track_id'] },
  },
}

/** Compares every row of every table, and every reference. Returns the number of rows. */
async function compareAll(source: Query, target: Query): Promise<number> {
  let count = 0
  for (const [table, { collection, columns, links = {} }] of Object.entries(tables)) {
    const names = [...columns, ...Object.keys(links)]
    const joins = Object.entries(links).map(([field, [to, key]], index) => ({
      column: `t${index}.${key} as ${field}`,
      join: `left join "${to}" t${index} on t${index}.id = o.${field}`,
    }))
    const own = columns.map((column) => `o.${column}`)
    const there = lines(await source(`select ${names.join(', ')} from ${table}`))
    const here = lines(
      await target(
        `select ${[...own, ...joins.map(({ column }) => column)].join(', ')} from "${collection}" o
           ${joins.map(({ join }) => join).join(' ')}`,
      ),
    )
    assert.deepEqual(here, there, table)
    count += here.length
  }
  return count
}

test('15,607 rows of a music store go in with one command, with every value and reference', {
  skip,
}, async (context) => {
  const { source, query, command } = await setUp(context, musicStore)
  for (const target of await targets(context, command.folder)) {
    const { code, said } = await command.run(['import', '--from', source, '--database', target.address])
    assert.match(said, /^Imported 15,607 records in \d+\.\d s\.$/m)
    assert.match(said, /^Imported 8,715 records into playlist-tracks\.$/m)
    assert.equal(code, 0, said)
    const read = await target.query()
    assert.equal(await compareAll(query, read), 15_607)
    const [first] = await read('select birth_date, hire_date from employees where employee_id = 1')
    assert.deepEqual(Object.values(first ?? {}), ['1961-01-31T08:30:00.5+00:00', '2002-08-14T22:00:00+00:00'])
    const again = await command.run(['import', '--from', source, '--database', target.address])
    assert.match(again.said, /^albums has records already, and no field that says which rows they are\. Empty it, or/)
    assert.equal(again.code, 1)
  }
})

test('with --key a killed import is continued: nothing is missing, and nothing is there twice', {
  skip,
}, async (context) => {
  const edit = (yaml: string) =>
    yaml.replace(
      'playlist-tracks:\n    fields:\n',
      'playlist-tracks:\n    fields:\n      old_id: { type: string, unique: true }\n',
    )
  const { source, query, command } = await setUp(context, musicStore, edit)
  for (const target of await targets(context, command.folder)) {
    const given = ['import', '--from', source, '--key', 'old_id', '--database', target.address]
    const { child, ended } = command.start(given)
    const read = await target.query()
    const some = async () => Number((await read('select count(*) as count from tracks'))[0]?.['count'] ?? 0)
    // Killed in the middle: tracks are neither the first nor the last collection.
    while ((await some().catch(() => 0)) === 0 && child.exitCode === null) await sleep(5)
    child.kill('SIGKILL')
    await ended
    const before = await read('select count(*) as count from "playlist-tracks"')
    const { code, said } = await command.run(given)
    assert.equal(code, 0, said)
    assert.match(said, /records? (?:was|were) there already and stays? as/)
    assert.equal(await compareAll(query, read), 15_607)
    const key = await read('select old_id from "playlist-tracks" order by id limit 1')
    assert.deepEqual(Object.values(key[0] ?? {}), ['1,1'])
    assert.ok(Number(before[0]?.['count']) < 8_715, 'the import was killed before its end')
  }
})

test('without --key a killed import leaves nothing', { skip }, async (context) => {
  const { source, command } = await setUp(context, musicStore)
  for (const target of await targets(context, command.folder)) {
    assert.equal((await command.run(['migrate', '--apply', '--database', target.address])).code, 0)
    const { child, ended } = command.start(['import', '--from', source, '--database', target.address])
    while (!(await isWriting(target.address, 'artists')) && child.exitCode === null) await sleep(1)
    child.kill('SIGKILL')
    assert.equal((await ended).code, null, 'it was killed before its end')
    const query = await target.query()
    const [left] = await query('select (select count(*) from artists) + (select count(*) from genres) as count')
    assert.equal(Number(left?.['count']), 0)
  }
})

const odd = `
  create type mood as enum ('glad', 'sad');
  create table kinds (
    id uuid primary key default gen_random_uuid(), small smallint, large bigint, real_number real, double double precision,
    exact numeric(12, 3), sum money, yes boolean, mood mood, words text[], numbers int[], settings jsonb, raw json,
    bytes bytea, day date, at timestamptz, local timestamp, clock time, zoned timetz, span interval, fixed char(5),
    network inet, created_at timestamptz, computed int generated always as (small * 2) stored);
  insert into kinds values
    (default, 1, 9007199254740991, 1.5, 0.1, 12.500, 12.34, true, 'sad', '{a,"b,c"}', '{1,2}', '{"a": [1]}', '{"b": 2}',
     '\\x00ff', '2020-02-29', '2020-01-01 10:00:00.123456+02', '2020-01-01 10:00:00', '10:00:00', '10:00:00+02',
     '1 day 2 hours', 'ab', '10.0.0.1', '2001-01-01'),
    (default, 2, 1, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
     null, null, null),
    (default, 3, 9007199254740993, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
     null, null, null, null, null, null),
    (default, 4, null, 'NaN', null, null, null, null, null, null, null, null, null, null, null, 'infinity', null, null,
     null, null, null, null, null);
`

test('types become the values of their fields, and what cannot be one is refused with its row', {
  skip,
}, async (context) => {
  const { source, command } = await setUp(context, odd)
  const [target] = await targets(context, command.folder)
  const { address, query } = target as Target
  const refused = await command.run(['import', '--from', source, '--database', address])
  assert.match(refused.said, /^Left out: the column created_at of kinds: kinds has no field created_at\.$/m)
  assert.match(refused.said, /^Left out: the column computed of kinds/m)
  assert.match(refused.said, /^kinds, id [-0-9a-f]{36}: NUMBER_NOT_EXACT \/large: /m)
  assert.match(refused.said, /^kinds, id [-0-9a-f]{36}: INVALID_TYPE \/real_number: /m)
  assert.match(refused.said, /^kinds, id [-0-9a-f]{36}: INVALID_FORMAT \/at: /m)
  assert.match(refused.said, /^Stopped: 2 records refused\. Nothing is imported\.$/m)
  assert.equal(refused.code, 1)
  const skipping = await command.run([
    'import',
    '--from',
    source,
    '--key',
    'id_',
    '--skip-invalid',
    '--database',
    address,
  ])
  assert.match(skipping.said, /^No collection has the unique field id_\. Declare it, or leave --key out\.$/m)
  const given = ['import', '--from', source, '--skip-invalid', '--database', address]
  assert.match((await command.run(given)).said, /^Imported 2 records into kinds in .*; left out 2 records, for the/m)
  const read = await query()
  const [row, empty] = await read('select * from kinds order by small')
  const { _row, id, created_at, updated_at, deleted_at, _deletion, _revision, ...values } = row ?? {}
  assert.deepEqual(Object.fromEntries(Object.entries(values).filter(([name]) => !name.startsWith('_'))), {
    ...{ small: 1, large: 9_007_199_254_740_991, real_number: 1.5, double: 0.1, exact: '12.500', sum: '12.34' },
    ...{ yes: 1, mood: 'sad', words: '["a","b,c"]', numbers: '[1,2]', settings: '{"a":[1]}', raw: '{"b":2}' },
    ...{ bytes: 'AP8=', day: '2020-02-29', at: '2020-01-01T08:00:00.123456+00:00', local: '2020-01-01T10:00:00+00:00' },
    ...{ clock: '10:00:00', zoned: '10:00:00+02:00', span: 'P1DT2H', fixed: 'ab', network: '10.0.0.1/32' },
  })
  assert.equal(empty?.['words'], null)
})

test('a key that its field cannot have is refused with its row, and so is what refers to it', {
  skip,
}, async (context) => {
  const texts = `create table codes (code text primary key); create table uses (id int primary key, code text references codes);
    insert into codes values ('1'), ('x'); insert into uses values (1, '1'), (2, 'x')`
  const { source, command } = await setUp(context, texts, (yaml) =>
    yaml.replace('codes:\n    fields:\n', 'codes:\n    fields:\n      old_id: { type: integer, unique: true }\n'),
  )
  for (const { address } of await targets(context, command.folder)) {
    const { said } = await command.run(['import', '--from', source, '--key', 'old_id', '--database', address])
    assert.match(said, /^codes, code x: INVALID_TYPE \/old_id: /m)
    assert.match(said, /^uses, id 2: INVALID_REFERENCE \/code: /m)
    assert.match(said, /^Stopped: 2 records refused\. Nothing is imported\.$/m)
  }
})

const circles = `
  create table departments (code text primary key, head int, parent text);
  create table staff (
    number int primary key, name text not null, department text not null references departments,
    badge text unique, sponsor text references staff (badge));
  alter table departments add foreign key (head) references staff, add foreign key (parent) references departments;
  insert into departments values ('A', null, 'B'), ('B', null, 'B'), ('C,1', null, 'A');
  insert into staff values (1, 'Ann', 'A', 'x', 'y'), (2, 'Bea', 'B', 'y', 'x'), (3, 'Cem', 'C,1', null, 'x');
  update departments set head = 1 where code = 'B';
  update departments set head = 2 where code = 'A';
  create table notes (text text, about int);
  insert into notes values ('without a key', 3), (null, null);
`

test('circles across tables, keys of text, unique columns and tables without a key keep their references', {
  skip,
}, async (context) => {
  const { source, command } = await setUp(context, circles, (yaml) =>
    yaml.replace('about: { type: integer, optional: true }', 'about_id: { reference: staff, optional: true }'),
  )
  const map = 'tables: { notes: { columns: { about: about_id } } }\n'
  writeFileSync(join(command.folder, 'map.yaml'), map)
  for (const { address, query } of await targets(context, command.folder)) {
    const { code, said } = await command.run(['import', '--from', source, '--map', 'map.yaml', '--database', address])
    assert.equal(code, 0, said)
    const read = await query()
    const departments = await read(`select d.code, s.name, p.code as parent, d._revision from departments d
      left join staff s on s.id = d.head left join departments p on p.id = d.parent order by d.code`)
    assert.deepEqual(
      departments.map((row) => Object.values(row).join(' ')),
      ['A Bea B 1', 'B Ann B 1', 'C,1   A 1'].map((line) => line.replace('   ', '  ')),
    )
    const staff = await read(`select s.name, d.code, o.name as sponsor from staff s
      left join departments d on d.id = s.department left join staff o on o.id = s.sponsor order by s.name`)
    assert.deepEqual(
      staff.map((row) => Object.values(row).join(' ')),
      ['Ann A Bea', 'Bea B Ann', 'Cem C,1 Ann'],
    )
    const notes = await read('select n.text, s.name from notes n left join staff s on s.id = n.about_id order by n.id')
    assert.deepEqual(notes.map((row) => Object.values(row)), [['without a key', 'Cem'], [null, null]]) // biome-ignore format: one row reads best
  }
})

test('a map leaves tables and columns out, and its mistakes say what to write', { skip }, async (context) => {
  const { source, command } = await setUp(context, circles)
  const [target] = await targets(context, command.folder)
  const { address, query } = target as Target
  const map = (text: string) => writeFileSync(join(command.folder, 'map.yaml'), text)
  const given = ['import', '--from', source, '--map', 'map.yaml', '--database', address]
  map('tables: { notes: yes, staff: { column: {} } }\n')
  const { said } = await command.run(given)
  assert.match(said, /tables\.notes\n.*must be an object, and is "yes"\n.*Write \{ collection: NAME/)
  assert.match(said, /tables\.staff\.column\n.*is not a known key\n.*Did you mean "columns"\?/)
  const names = [
    '  zzz: false',
    '  notes: { collection: note, columns: { text: nope } }',
    '  staff: { columns: { nmae: name, sponsor: nope, department: sponsor, badge: name } }',
  ]
  map(`tables:\n${names.join('\n')}\n`)
  const wrong = await command.run(given)
  const mistakes = [
    /zzz\n.*is not a table of the database\n.*Use (?:\w+, )*\w+ or \w+\.\n/,
    /notes\.collection\n.*is not a collection of the declaration\n.*Did you mean "notes"\?/,
    /staff\.columns\.nmae\n.*is not a column of staff\n.*Did you mean "name"\?/,
    /staff\.columns\.sponsor\n.*is not a field of staff\n.*Use /,
    /staff\.columns\.badge\n.*is the field name, as the column name is\n.*another field, or false .* the column name\./,
  ]
  for (const each of mistakes) assert.match(wrong.said, each)
  assert.match(wrong.said, /^5 things are wrong in map\.yaml:/)
  assert.equal(wrong.code, 1)
  assert.equal(existsSync(join(command.folder, 'target.db')), false, 'nothing is written')
  map('tables: { notes: false, staff: { columns: { sponsor: false } } }\n')
  const ended = await command.run(given)
  assert.match(ended.said, /^Left out: the table notes: the map says so\.?$/m)
  assert.equal(ended.code, 0)
  const read = await query()
  assert.deepEqual(
    Object.values((await read('select count(sponsor) as n, count(*) as all_rows from staff'))[0] ?? {}),
    [0, 3],
  )
  assert.deepEqual(Object.values((await read('select count(*) as n from notes'))[0] ?? {}), [0])
})

test('tables with names that no declaration can have go in all the same', { skip }, async (context) => {
  const { source, query, command } = await setUp(context, `${beforeHostile}${hostile}`)
  await query(`insert into "Straße ""x'; drop" ("Größe", "größe", "日本", "firstName") values (1, 2, 'three', 'four')`)
  await query("insert into orders values ('a'); insert into \"Orders\" values ('b')")
  const [target] = await targets(context, command.folder)
  const { code, said } = await command.run(['import', '--from', source, '--database', (target as Target).address])
  assert.equal(code, 0, said)
  assert.match(said, /^Imported 3 records in /m)
})

test('rows that row-level security hides stop the import: they would be lost in silence', { skip }, async (context) => {
  const secret = `create table notes (id int primary key, text text); insert into notes values (1, 'a'), (2, 'b');
    alter table notes enable row level security; alter table notes force row level security;
    create policy own on notes using (id = 1);`
  const { source, command } = await setUp(context, secret)
  const [target] = await targets(context, command.folder)
  const { address, query } = target as Target
  const { code, said } = await command.run(['import', '--from', source, '--database', address])
  assert.match(said, /^The import failed\. Nothing is imported\.$/m)
  assert.match(said, /row-level security/)
  assert.equal(code, 1)
  assert.deepEqual(Object.values((await (await query())('select count(*) as n from notes'))[0] ?? {}), [0])
})
