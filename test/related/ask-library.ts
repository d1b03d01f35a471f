/** Asks random questions of random libraries, and compares what is found with what a caller should find (WHR-3). */
import assert from 'node:assert/strict'
import { randomFrom } from '../durability/random.ts'
import { type Trial, trial } from '../harness.ts'
import {
  callers,
  collections,
  condition,
  type Library,
  library,
  names,
  type Random,
  type Row,
  references,
  View,
  waysOf,
} from './random-library.ts'

/** Asks so many questions of one library, and changes its records between them. Returns how many found something. */
export async function askLibrary(seed: number, questions: number): Promise<number> {
  const next = randomFrom(seed)
  const random: Random = (below) => Math.floor(next() * below)
  const made = library(random)
  const current = await trial(made.declaration, { memory: true })
  try {
    const rows = new Map<string, Row[]>([...collections, 'grants'].map((name) => [name, []]))
    for (let count = 0; count < 60; count++) await change(random, current, rows)
    let found = 0
    for (let count = 0; count < questions; count++) {
      if (count % 20 === 19) await change(random, current, rows)
      found += await ask(random, current, made, rows, `seed ${seed}, question ${count}`)
    }
    return found
  } finally {
    await current.close()
  }
}

type Stored = Map<string, Row[]>

async function change(random: Random, { send }: Trial, rows: Stored): Promise<void> {
  const as = callers[random(callers.length)] as string
  const collection = [...collections, 'grants'][random(4)] as string
  const own = rows.get(collection) as Row[]
  const someId = (target: string) => {
    const all = rows.get(target) as Row[]
    return all.length === 0 || random(5) === 0 ? null : ((all[random(all.length)] as Row).id as string)
  }
  if (collection === 'grants') {
    const shop_id = someId('shops')
    if (shop_id === null) return
    const answer = await send({ path: '/v1/grants', body: { shop_id, to: as } })
    assert.equal(answer.status, 201, answer.text)
    own.push(answer.json)
    return
  }
  if (own.length > 12 && random(3) === 0) {
    const [gone] = own.splice(random(own.length), 1) as [Row]
    // Grants block the deletion of their shop.
    const isUsed = collection === 'shops' && rows.get('grants')?.some((grant) => grant['shop_id'] === gone.id)
    if (isUsed) own.push(gone)
    else {
      const answer = await send({ method: 'DELETE', path: `/v1/${collection}/${gone.id}` })
      assert.ok(answer.status === 204 || answer.status === 403, answer.text)
      if (answer.status === 403) own.push(gone)
      else clear(rows, gone.id)
      own.sort((left, right) => (left.id < right.id ? -1 : 1))
    }
    return
  }
  const to = Object.entries(references[collection] ?? {}).map(([field, target]) => [field, someId(target)])
  const body = {
    name: random(6) === 0 ? null : names[random(names.length)],
    size: random(6) === 0 ? null : random(4),
    is_open: random(6) === 0 ? null : random(2) === 0,
    ...Object.fromEntries(to),
  }
  const answer = await send({ path: `/v1/${collection}`, body, as })
  assert.equal(answer.status, 201, answer.text)
  own.push({ ...body, owner_id: as, id: answer.json.id })
}

function clear(rows: Stored, id: string): void {
  for (const [collection, to] of Object.entries(references)) {
    const own = rows.get(collection) as Row[]
    for (const [index, row] of own.entries()) {
      const cleared = Object.keys(to).filter((field) => row[field] === id)
      if (cleared.length > 0) own[index] = { ...row, ...Object.fromEntries(cleared.map((field) => [field, null])) }
    }
  }
}

async function ask(random: Random, { send }: Trial, made: Library, rows: Stored, what: string): Promise<number> {
  const collection = collections[random(collections.length)] as string
  const as = callers[random(callers.length)] as (typeof callers)[number]
  const asked = condition(random, collection, 2, 2)
  const view = new View(made, rows, as)
  const path = sortPath(random, collection)
  const isSorted = random(3) === 0 && path.length > 0
  const sort = isSorted ? { sort: path.join('.') } : {}
  const body = { where: asked, limit: 100, fields: ['id'], ...sort }
  const answer = await send({ method: 'QUERY', path: `/v1/${collection}`, body, as })
  const told = `${what}: ${as} ${collection} ${JSON.stringify(body)} ${JSON.stringify(made.rules)} ${answer.text}`
  const isRefused =
    view.refuses(collection, asked) || (isSorted && view.refuses(collection, conditionOf(path, collection)))
  // A condition that is true of all records, or of none, names nothing: `{ every: {} }`.
  if (isRefused && answer.status === 403) return 0
  assert.equal(answer.status, 200, told)
  const found = view.find(collection, asked)
  const value = (row: Row) => (isSorted ? view.sortValue(collection, path, row) : null)
  const expected = found.toSorted((left, right) => compare(value(left), value(right)) || (left.id < right.id ? -1 : 1))
  const ids = answer.json.data.map(({ id }: Row) => id)
  assert.deepEqual([ids, answer.json.pagination.total_count], [expected.map(({ id }) => id), expected.length], told)
  return expected.length > 0 ? 1 : 0
}

/** A path of relations to one that ends in a field. */
function sortPath(random: Random, collection: string): string[] {
  const ways = waysOf(collection).filter(({ to }) => to === 'one')
  const way = ways[random(ways.length)]
  if (way === undefined) return []
  const next = waysOf(way.target).filter(({ to }) => to === 'one')[0]
  const field = random(2) === 0 ? 'name' : 'size'
  return random(3) === 0 && next !== undefined ? [way.name, next.name, field] : [way.name, field]
}

/** A condition that names what a path names. */
function conditionOf([name = '', ...others]: readonly string[], collection: string): Record<string, never> {
  if (others.length === 0) return { [name]: { null: true } as never }
  const target = waysOf(collection).find((way) => way.name === name)?.target as string
  return { [name]: conditionOf(others, target) as never }
}

/** Ascending, null last. */
function compare(left: unknown, right: unknown): number {
  if (left === right) return 0
  if (left === null || right === null) return left === null ? 1 : -1
  return (left as string | number) < (right as string | number) ? -1 : 1
}
