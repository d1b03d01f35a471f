import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Dangling, Stage } from './import-stage.ts'

/** Stages rows with the keys 0, 1, … that refer to these keys, and orders them. */
async function ordered(references: readonly (readonly number[])[], stored: ReadonlyMap<string, string> = new Map()) {
  const stage = new Stage()
  const dangling: Dangling[] = []
  for (const [number, keys] of references.entries()) {
    const links = keys.map((key, index) => ({ field: `f${index}`, space: 0, key: String(key) }))
    const row = { collection: 0, place: `line ${number}`, id: `id ${number}`, value: { number }, references: links }
    assert.equal(stage.add({ ...row, keys: [[0, String(number)]] }), undefined)
  }
  await stage.resolve(
    async (_, keys) => new Map(keys.flatMap((key) => (stored.has(key) ? [[key, stored.get(key) as string]] : []))),
    (each) => dangling.push(each),
  )
  stage.order()
  const rows = [...stage.rows()]
  const circles = rows.map(({ circle }) => (circle === undefined ? undefined : stage.circle(circle)))
  stage.close()
  return { rows, dangling, circles }
}

/** Whether a row reaches another one by references. */
function reaches(references: readonly (readonly number[])[], from: number, to: number): boolean {
  const seen = new Set<number>()
  const waiting = [...(references[from] ?? [])]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (next === to) return true
    if (seen.has(next)) continue
    seen.add(next)
    waiting.push(...(references[next] ?? []))
  }
  return false
}

test('property: a row comes after those that it refers to, and circles are exactly the rows that reach each other', async () => {
  const graphs = fc
    .integer({ min: 1, max: 12 })
    .chain((size) => fc.array(fc.array(fc.nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size }))
  await fc.assert(
    fc.asyncProperty(graphs, async (references) => {
      const { rows, circles, dangling } = await ordered(references)
      assert.deepEqual(dangling, [])
      const order = rows.map(({ value }) => Number(value['number']))
      assert.deepEqual(
        [...order].sort((left, right) => left - right),
        [...references.keys()],
      )
      for (const [place, number] of order.entries()) {
        const mates = new Set(
          [...references.keys()].filter(
            (other) => other !== number && reaches(references, number, other) && reaches(references, other, number),
          ),
        )
        const circle = new Set(
          [...(circles[place] ?? [])].map((id) => Number(id.slice(3))).filter((each) => each !== number),
        )
        assert.deepEqual(circle, mates)
        for (const target of references[number] ?? []) {
          const isBefore = order.indexOf(target) < place
          assert.ok(isBefore || target === number || mates.has(target), `${number} before ${target}`)
        }
        assert.equal(rows[place]?.isOwnTarget, references[number]?.includes(number))
      }
    }),
    { numRuns: 300 },
  )
})

test('references become ids: of rows, or of records that are there; others are dangling, and their rows are taken out', async () => {
  const { rows, dangling } = await ordered([[1], [7], [9], [2]], new Map([['7', 'stored']]))
  assert.deepEqual(
    rows.map(({ value }) => value),
    [
      { number: 1, f0: 'stored' },
      { number: 3, f0: 'id 2' },
      { number: 0, f0: 'id 1' },
    ],
  )
  assert.deepEqual(dangling, [{ place: 'line 2', field: 'f0', space: 0, key: '9' }])
})

test('a second row with the same key is refused with the place of the first', () => {
  const stage = new Stage()
  const row = { collection: 0, id: 'x', value: {}, references: [], keys: [[0, 'a']] as const }
  assert.equal(stage.add({ ...row, place: 'line 1' }), undefined)
  assert.equal(stage.add({ ...row, place: 'line 5' }), 'line 1')
  assert.equal(stage.add({ ...row, place: 'line 6', keys: [[1, 'a']] }), undefined)
  stage.close()
})

test('a chain of 20,000 rows in the wrong order, with a circle at its end', async () => {
  const size = 20_000
  const references = Array.from({ length: size }, (_, number) => (number < size - 1 ? [number + 1] : [size - 3]))
  const { rows } = await ordered(references)
  assert.equal(rows.length, size)
  assert.deepEqual(rows.slice(0, 4).map(({ value }) => value['number']), [size - 3, size - 2, size - 1, size - 4]) // biome-ignore format: one row reads best
  assert.equal(rows.at(-1)?.value['number'], 0)
})
