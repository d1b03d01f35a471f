import assert from 'node:assert/strict'
import { test } from 'node:test'
import { always } from 'resourced-contract/model/predicate'
import type { ReadPage, RelatedPath } from '../../plan/plan.ts'
import { type IncludingRead, Memory } from './memory.ts'
import { context, explained, openStore, resource } from './query-plan.fixture.ts'
import { readAnew } from './read-page.ts'

const path = (more: Pick<RelatedPath, 'path' | 'to' | 'source' | 'collection' | 'field'> & Partial<RelatedPath>) => ({
  ...{ above: undefined, referring: always, permitted: always, deleted: undefined, readableFields: undefined },
  ...{ version: undefined, fields: undefined, limit: 20, sort: [], list: undefined },
  ...more,
})

const parts = path({ path: 'parts', to: 'many', source: 'goods', collection: 'parts', field: 'good_id' })
const shelf = path({ path: 'shelf', to: 'one', source: 'goods', collection: 'shelves', field: 'shelf_id' })
const goods = { to: 'many', source: 'shelves', collection: 'goods', field: 'shelf_id' } as const
const others = path({
  path: 'shelf.goods',
  above: 'shelf',
  ...goods,
  limit: 2,
  sort: [{ field: 'size', descending: true }],
})

function planOf(collection: string, paths: readonly RelatedPath[], limit: number): ReadPage & IncludingRead {
  return {
    ...{ kind: 'read-page', resource: resource(collection), parent: undefined, filter: always, permitted: always },
    ...{ search: undefined, deleted: undefined, sort: [], fields: undefined, conditions: {} },
    page: { style: 'cursor', limit, position: undefined },
    include: { paths, conditions: {} },
  }
}

test('REL-5: each path takes two statements, however many records there are, and finds its records by indexes', (t) => {
  const store = openStore()
  t.after(() => store.close())
  for (const [paths, most] of [
    [[parts], 2],
    [[shelf], 2],
    [[shelf, others, parts], 6],
  ] as const) {
    const counts = [2, 50].map((limit) => {
      const read = (include: readonly RelatedPath[]) =>
        explained(store, readAnew(context, new Memory(), planOf('goods', include, limit)))
      const { result, statements } = read(paths)
      assert.equal(result.kind, 'with-related')
      const added = statements.slice(read([]).statements.length)
      for (const { sql, steps } of added) {
        const scans = steps.filter((step) => /^SCAN (?!asked|source VIRTUAL|page|related|json_each)/.test(step))
        assert.deepEqual(scans, [], `${sql} ${steps.join('; ')}`)
      }
      return added.length
    })
    assert.ok(
      counts.every((count) => count === counts[0] && count <= most),
      counts.join(),
    )
  }
})
