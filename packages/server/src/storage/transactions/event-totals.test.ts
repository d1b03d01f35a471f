import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import type { Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { Type } from 'typebox'
import { sqlContext } from '../sql/context.ts'
import { predicateSql } from '../sql/predicate.ts'
import { Connection } from '../sqlite/connection.ts'
import { sqlite } from '../sqlite/dialect.ts'
import { migrate } from '../sqlite/migrate.ts'

test('the events of the records that a caller may read are found by indexes, and no other events are read (EVT-4)', (context) => {
  const owned = { events: true, fields: { owner_id: Type.String({ readOnly: true }) }, owner: 'owner_id' } as const
  const catalog = completeCatalog(defineInterface({ name: 'desk', resources: { tasks: owned, notes: owned } }))
  const connection = new Connection(':memory:')
  context.after(() => connection.close())
  migrate(connection.database, catalog, { apply: 'additive', now: 0 })
  const own: Predicate = { kind: 'compare', field: 'owner_id', operator: 'eq', value: 'ann' }
  const grants = ['tasks', 'notes'].map((collection) => ({ collection, read: own, readDeleted: own }))
  const list = { ...sqlContext({ catalog, dialect: sqlite, tagSecret: undefined }), semijoin: 'in' } as const
  const readable = predicateSql(list, catalog.system.get('events') as Resource, { kind: 'event', grants })
  const steps = connection.database
    .prepare(`explain query plan select count(*) from events t where ${readable.sql}`)
    .all(...(readable.values as string[]))
    .map(({ detail }) => String(detail))
  assert.ok(steps.some((step) => step.startsWith('SEARCH te USING INDEX events_by_record')))
  assert.deepEqual(
    steps.filter((step) => /^SCAN te?\b/.test(step)),
    [],
  )
})
