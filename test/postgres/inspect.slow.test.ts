/** `resourced inspect`: declarations of tables that exist already, on a real PostgreSQL, by the command itself. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { parse } from 'yaml'
import { commandFile } from '../command-file.ts'
import { databaseFor, whyNoDatabase } from './database.ts'
import { beforeHostile, everyday, hostile } from './inspect.fixture.ts'

const skip = whyNoDatabase ?? false

function run(given: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const environment = { ...process.env, DATABASE_URL: undefined, ...env }
  return spawnSync(process.execPath, [commandFile, ...given], {
    encoding: 'utf8',
    env: environment,
    maxBuffer: 100_000_000,
  })
}

async function databaseWith(context: TestContext, text: string): Promise<{ url: string; client: pg.Client }> {
  const url = await databaseFor(context)
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  context.after(() => client.end().catch(() => {}))
  await client.query(text)
  return { url, client }
}

/** Loads a declaration with the command, and gives its content. */
function load(context: TestContext, yaml: string): { name: string; resources: Record<string, Resource> } {
  const folder = mkdtempSync(join(tmpdir(), 'inspect-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'resources.yaml')
  writeFileSync(file, yaml)
  const { status, stderr } = run(['openapi', file])
  assert.equal(status, 0, stderr)
  return parse(yaml)
}

interface Resource {
  readonly fields: Record<string, Record<string, unknown>>
  readonly unique?: string[][]
  readonly within?: string
}

test('everyday tables become a declaration with their types, limits and references', { skip }, async (context) => {
  const { url } = await databaseWith(context, everyday)
  const { status, stdout, stderr } = run(['inspect', url])
  assert.equal(status, 0, stderr)
  const { resources } = load(context, stdout)
  assert.deepEqual(Object.keys(resources), ['actors', 'films', 'film-actors', 'languages', 'rentals', 'reviews'])
  assert.deepEqual(resources['films']?.fields, {
    title: { type: 'string', maxLength: 255, filter: true, description: 'As on the poster' },
    description: { type: 'string', optional: true },
    release_year: { type: 'integer', minimum: 1901, maximum: 2155, optional: true },
    language_id: { reference: 'languages', onDelete: 'restrict' },
    original_language_id: { reference: 'languages', onDelete: 'clear', optional: true },
    rental_duration: { type: 'integer', exclusiveMinimum: 0, default: 3 },
    rental_rate: { type: 'decimal', precision: 4, scale: 2, sort: true, default: '4.99' },
    length: { type: 'integer', filter: true, optional: true },
    rating: { type: 'string', enum: ['G', 'PG', 'PG-13', 'R'], optional: true, default: 'G' },
    special_features: { type: 'array', items: { type: 'string' }, default: [] },
    settings: { default: { a: [1] } },
    status: { type: 'string', maxLength: 10, enum: ["it's", 'done', 'a AND b'], default: "it's" },
    is_new: { type: 'boolean', default: true },
    shown_on: { type: 'string', format: 'date', optional: true, default: { now: true } },
    shown_at: { type: 'string', format: 'date-time', optional: true, default: '2020-01-02T03:04:05Z' },
    last_update: { type: 'string', format: 'date-time', default: { now: true }, filter: true, sort: true },
    film_number: { type: 'integer', sequence: {} },
  })
  assert.deepEqual(resources['films']?.unique, [['title', 'release_year']])
  assert.deepEqual(resources['actors']?.fields, {
    email: { type: 'string', maxLength: 320, unique: true, filter: true },
  })
  assert.deepEqual(resources['film-actors']?.unique, [['film_id', 'actor_id']])
  // A review is a part of its film; of two references that cascade, neither is the whole.
  assert.equal(resources['reviews']?.within, 'film_id')
  assert.deepEqual(resources['reviews']?.fields, {
    film_id: { reference: 'films', onDelete: 'cascade' },
    parent_id: { reference: 'reviews', onDelete: 'cascade', optional: true },
    stars: { type: 'integer', sort: true },
  })
  assert.equal(resources['film-actors']?.within, undefined)
  for (const comment of [
    /# The primary key film_id is integer, and ids of records are UUIDs\./,
    /# Left out: the column title_length: the database computes it\./,
    /# Does not fit: the check film_check: /,
    /# Left out: the partition rental_2026\./,
    /# The primary key has several columns \(film_id, actor_id\)\./,
    /# The server numbers records from 1: an import numbers them anew\./,
    /# Does not fit: the index film_lower, which is no index of columns and all rows: /,
    /# Does not fit: the index film_features, which is no index of columns and all rows: /,
  ]) {
    assert.match(stdout, comment)
  }
})

test('tables with hostile names, comments and values become a declaration that loads', { skip }, async (context) => {
  const { url, client } = await databaseWith(context, beforeHostile)
  // An enumeration can be used in a default after the transaction that creates it.
  await client.query(hostile)
  const { status, stdout, stderr } = run(['inspect', url])
  assert.equal(status, 0, stderr)
  const { resources } = load(context, stdout)
  assert.ok('orders' in resources && 'orders-2' in resources && 'my-jobs' in resources && 'strasse-x-drop' in resources)
  assert.deepEqual(resources['orders-3']?.fields['quote_d']?.['enum'], [
    ...['a', '"', '::', ' AND ', ')', 'new\nline', 'back\\slash', '', ' ', 'null', 'true', '- x', '# y'],
  ])
  assert.equal('resourced-mines' in resources, false)
  assert.match(stdout, /# Left out: the table resourced_mine, which belongs to Resourced\./)
  assert.match(stdout, /# Left out: the materialized view kept\./)
  assert.match(stdout, /# Does not fit: the trigger tri'gger/)
  assert.doesNotMatch(stdout, /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
})

test('500 tables become a declaration, and schemas can be chosen', { skip }, async (context) => {
  const { url } = await databaseWith(
    context,
    `do $$ begin for i in 1..500 loop
       execute format('create table table_%s (id uuid primary key, name text not null, previous uuid %s)', i,
         case when i > 1 then format('references table_%s', i - 1) else '' end);
     end loop; end $$;
     create schema other; create table other.table_1 (x text)`,
  )
  const all = run(['inspect', url])
  assert.equal(all.status, 0, all.stderr)
  assert.equal(Object.keys(load(context, all.stdout).resources).length, 500)
  const chosen = run(['inspect', url, '--schema', 'other'])
  assert.deepEqual(Object.keys(load(context, chosen.stdout).resources), ['tables-1'])
  const unknown = run(['inspect', url, '--schema', 'nowhere'])
  assert.equal(unknown.status, 1)
  assert.match(unknown.stderr, /^The database has no schema "nowhere"\. It has other, public\.\n$/)
})

test('it only reads, waits for no lock for long, and prints no password', { skip }, async (context) => {
  const { url, client } = await databaseWith(context, everyday)
  const secret = new URL(url)
  secret.password = 'sEcReT-42'
  const refused = run(['inspect', secret.href])
  assert.doesNotMatch(refused.stdout + refused.stderr, /sEcReT-42/)
  const fromEnvironment = run(['inspect'], { DATABASE_URL: url })
  assert.equal(fromEnvironment.status, 0, fromEnvironment.stderr)
  const { password } = new URL(url)
  if (password !== '') assert.equal((fromEnvironment.stdout + fromEnvironment.stderr).includes(password), false)

  await client.query('begin; lock table film in access exclusive mode')
  const { status, stderr } = run(['inspect', url])
  await client.query('rollback')
  assert.ok(status === 0 || status === 1)
  if (status === 1) assert.match(stderr, /^PostgreSQL is busy\./)
})

test('what cannot be inspected ends in one sentence', async () => {
  const cases: [string[], RegExp][] = [
    [[], /^No database is named\. Write resourced inspect postgres:/],
    [['sqlite:data.db'], /^Only tables of PostgreSQL can be inspected/],
    [['nonsense'], /^The database address is not understood/],
    [['postgres://u:sEcReT@127.0.0.1:1/x'], /^No PostgreSQL server listens at 127\.0\.0\.1, port 1\./],
  ]
  for (const [given, expected] of cases) {
    const { status, stdout, stderr } = run(['inspect', ...given])
    assert.ok(status === 1 || status === 2)
    assert.equal(stdout, '')
    assert.match(stderr, expected)
    assert.equal(stderr.trimEnd().split('\n').length, 1)
    assert.doesNotMatch(stderr, /sEcReT/)
  }
})
