import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { sqlContext } from '../../sql/context.ts'
import { sqlite } from '../../sqlite/dialect.ts'
import { resourceOf } from '../rows/other-records.ts'
import { reachWithin } from './cascade.ts'

const catalog = completeCatalog({
  name: 'tree',
  resources: { folders: { fields: { parent_id: { reference: 'folders', onDelete: 'cascade', optional: true } } } },
})
const context = sqlContext({ catalog, dialect: sqlite })
const folders = resourceOf(catalog, 'folders')

/** Drives the search by hand, in a tree where `a` has the child `b`, and `b` has the children `a` and `c`. */
function search(most: number) {
  const children: Record<string, string[]> = { a: ['b'], b: ['a', 'c'], c: [] }
  const texts: string[] = []
  const transaction = reachWithin(context, folders, ['a'], most)
  let step = transaction.next()
  while (step.done !== true) {
    const { sql, values } = step.value
    texts.push(sql)
    step = transaction.next((children[String(values[0])] ?? []).map((id) => ({ id })))
  }
  const { closure, isComplete } = step.value
  return { ids: isComplete ? [...(closure.get('folders') ?? [])] : undefined, texts }
}

test('DEL-5: a search for children ends in cycles, and finds each record once', () => {
  assert.deepEqual(search(10).ids, ['a', 'b', 'c'])
})

test('DEL-8: a search stops at more records than it may find, and reads no more than one beyond', () => {
  const { ids, texts } = search(1)
  assert.equal(ids, undefined)
  assert.equal(texts.length, 1)
  // SQLite would compile the statement anew each time for `limit ?`.
  assert.match(String(texts[0]), / limit \+\?/)
})

test('DEL-8: a search without a bound has no limit in its SQL', () => {
  const { ids, texts } = search(Number.POSITIVE_INFINITY)
  assert.deepEqual(ids, ['a', 'b', 'c'])
  for (const text of texts) assert.doesNotMatch(text, /limit/)
})
