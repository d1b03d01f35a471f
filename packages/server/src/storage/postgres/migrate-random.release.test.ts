import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type pg from 'pg'
import { canonicalValue } from 'resourced-contract/model/decimal'
import type { Resource } from 'resourced-contract/model/resource'
import { whyNoDatabase } from '../../../../../test/postgres/database.ts'
import { catalogs, type Records, readsBack, records } from '../migration/migration-random.fixture.ts'
import { MigrationRefused } from '../migration/migration-step.ts'
import { columnsOf, indexedColumns } from '../sql/columns.ts'
import { boundOf } from '../sql/records.ts'
import { tablesFor } from '../sql/system-tables.ts'
import { derivedOf, indexText } from '../sql/values.ts'
import { lexemesOf, postgres } from './dialect.ts'
import { all, clockOf, emptyDatabase, insert, now, schemaOf } from './migrate.fixture.ts'
import { migratePostgres } from './migrate.ts'
import { query } from './session.ts'

/** Writes the records as the program would: every column, words and clock right. */
async function insertAll(client: pg.Client, resource: Resource, given: Records): Promise<void> {
  for (const [index, each] of given.entries()) {
    const record: Record<string, unknown> = {}
    for (const field of resource.fields) {
      // A unique field has a value in one record at most.
      const value = field.unique && index > 0 ? undefined : each.values[field.name]?.[field.type]
      // A decimal that does not fit its field is left out.
      const read = canonicalValue(field, value)
      const fits = field.decimal === undefined || readsBack(field.decimal, read)
      record[field.name] = (fits ? read : undefined) ?? (field.required ? field.default : null)
    }
    const bound = columnsOf(resource).map((column) => [column.name, boundOf(column, record)])
    const row = { id: `id${index + 1}`, deleted_at: each.deleted ? 'then' : null, ...Object.fromEntries(bound) }
    await insert(client, resource.name, row, index)
    const searched = resource.fields.filter((field) => field.search).map((field) => record[field.name] as string | null)
    if (searched.length === 0) continue
    const words = `update "${resource.name}" set _words = array_to_tsvector($1::text[]) where id = $2`
    await query(client, words, [lexemesOf(indexText(indexedColumns(resource), searched)), row.id])
  }
}

async function checkRows(client: pg.Client, resource: Resource): Promise<void> {
  const words = resource.fields.some((field) => field.search) ? ', tsvector_to_array(_words)::text as words' : ''
  const rows = await all(client, `select *${words} from "${resource.name}" order by _row`)
  for (const row of rows) {
    for (const { name, field, role } of columnsOf(resource)) {
      if (role === 'value') {
        assert.ok(!field.required || row[name] !== null, `${name} is required`)
        assert.ok(field.decimal === undefined || row[name] === null || readsBack(field.decimal, row[name]))
      } else assert.equal(row[name], derivedOf({ by: role }, row[field.name] ?? null), name)
    }
    if (words === '') continue
    const texts = resource.fields.filter((field) => field.search).map((field) => row[field.name] as string | null)
    const found = String(row['words']).replace(/^\{|\}$|"/g, '')
    assert.deepEqual(
      found.split(',').sort(),
      lexemesOf(indexText(indexedColumns(resource), texts))
        .join(',')
        .split(',')
        .sort(),
    )
  }
  const deleted = rows.filter((row) => row['deleted_at'] !== null).length
  const clock = await clockOf(client, resource.name)
  assert.deepEqual([clock?.['live'], clock?.['deleted']], [rows.length - deleted, deleted])
}

/** The schema, and its stored description. */
async function shapeOf(client: pg.Client): Promise<unknown> {
  return [await schemaOf(client), await all(client, "select value from resourced_meta where key = 'shape'")]
}

const title = 'from any declaration with records to any other, the schema ends as a fresh one, and every row fits it'

test(title, { skip: whyNoDatabase ?? false }, async (context) => {
  const client = await emptyDatabase(context)
  let refusals = 0
  let runs = 0
  const enter = async (schema: string) => {
    await client.query(`drop schema if exists fresh cascade; create schema ${schema}; set search_path = ${schema}`)
  }
  const property = fc.asyncProperty(catalogs, catalogs, records, async (first, second, given) => {
    await enter(`run_${++runs}`)
    await migratePostgres(client, first, { apply: 'additive', now })
    for (const resource of first.resources.values()) await insertAll(client, resource, given)
    const unchanged = await shapeOf(client)
    try {
      await migratePostgres(client, second, { apply: 'all', now })
    } catch (error) {
      // Only values that are to be unique and are not can be in the way here.
      assert.ok(error instanceof MigrationRefused, error as Error)
      assert.ok(error.steps.every((step) => !step.impossible || step.kind === 'create-index'))
      assert.deepEqual(await shapeOf(client), unchanged)
      refusals++
      return
    }
    for (const resource of second.resources.values()) {
      await checkRows(client, resource)
      const [kept] = await all(client, `select count(*) as n from "${resource.name}"`)
      assert.equal(kept?.['n'], first.resources.has(resource.name) ? given.length : 0)
    }
    assert.equal((await migratePostgres(client, second, { apply: 'never', now })).applied, false)
    const collections = tablesFor(second, postgres.layout).filter((table) => table.kind === 'resource').length
    const clocks = await all(client, 'select collection, count(*) as n from resourced_clocks group by 1')
    assert.deepEqual(new Set(clocks.map((row) => row['n'])), new Set(collections === 0 ? [] : [16]))
    assert.equal(clocks.length, collections)
    const migrated = await shapeOf(client)
    await enter('fresh')
    await migratePostgres(client, second, { apply: 'additive', now })
    assert.deepEqual(migrated, await shapeOf(client))
  })
  await fc.assert(property, { numRuns: 60 })
  assert.ok(refusals < runs / 4, `${refusals} of ${runs} were refused`)
})
