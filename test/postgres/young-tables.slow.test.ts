/** Statements that were planned while a table had few rows stay fast while it grows, before PostgreSQL counts it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { databaseFor, whyNoDatabase } from './database.ts'
import { query } from './query.ts'
import { servedFor } from './served.ts'

const everybody = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const

// The index of two filters has the ids last.
const cities = defineInterface({
  name: 'atlas',
  resources: {
    cities: {
      fields: {
        population: { type: 'integer', filter: true, sort: true },
        feature: { enum: ['city', 'town'], filter: true },
      },
      access: everybody,
    },
  },
})

const skip = whyNoDatabase ?? false

test('BLK-1: an array of changes finds its records by their ids, however many came since', {
  skip,
}, async (context) => {
  const url = await databaseFor(context)
  // A table that was never analyzed, as each is in its first minute.
  const served = await servedFor(context, { url }, { declaration: cities })
  const create = async (count: number) => {
    const { status, json } = await served.send(
      'POST',
      '/v1/cities',
      Array.from({ length: count }, (_, number) => ({ feature: 'city', population: number })),
    )
    assert.equal(status, 201)
    return json.data.map(({ id }: { id: string }) => id) as string[]
  }
  const ids = await create(10)
  let turn = 0
  const change = async () => {
    turn++
    const { status } = await served.send(
      'PATCH',
      '/v1/cities',
      ids.map((id) => ({ id, population: turn })),
    )
    assert.equal(status, 200)
  }
  // The plan of a prepared statement is kept after some uses.
  for (let time = 0; time < 20; time++) await change()
  for (let thousand = 0; thousand < 10; thousand++) await create(1_000)
  // Those of other indexes than that of the ids.
  const scans = async () => {
    // Connections tell of their work each second.
    await sleep(1_100)
    await change()
    const [row] = await query(
      url,
      `select sum(idx_scan) as count from pg_stat_user_indexes
      where relname = 'cities' and indexrelname not like '%_pkey' and indexrelname not like 'cities_by_id_%'`,
    )
    return Number(row?.['count'])
  }
  const before = await scans()
  assert.equal(await scans(), before)
})
