/** WHR-6: every engine gives a text the score that `scoreOf` gives it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { words } from 'resourced-contract/model/text'
import sql from 'sql-template-tag'
import { engine } from '../../../../../test/engine.ts'
import { openTables } from './statements.fixture.ts'
import { scoreOf } from './values.ts'

const catalog = completeCatalog({ name: 'notes', resources: { notes: { fields: { text: { type: 'string' } } } } })
const tables = await openTables(catalog)
after(() => tables.close())

const part = fc.constantFrom(
  ...['a', 'A', 'b', 'ab', 'aba', 'ß', 'ss', 'é', 'e\u0301', 'ø', 'o', 'İ', 'ı', 'æ', 'ﬁ', 'fi', 'ⅰ', 'i', '東京', '5'],
  ...[' ', ' ', ' ', '  ', '-', '_', '.', '\n', '\u00a0', "'", '%', '/', '🚀', '\u{10400}', '\u{10428}'],
)
const text = fc.array(part, { maxLength: 30 }).map((parts) => parts.join(''))

test('WHR-6: the score of any text for any words is the same in SQL and in JavaScript', async () => {
  let positive = 0
  const property = fc.asyncProperty(text, fc.option(text), text, async (one, other, q) => {
    const sought = words(q).slice(0, 5)
    if (sought.length === 0) return
    const texts = [one, other].map((each, index) => ({
      text: tables.dialect.cast(each, 'text'),
      weight: [1, 7][index] as number,
    }))
    const [row] = await tables.all(sql`select ${tables.dialect.relevance(texts, sought)} as score`)
    const score = scoreOf(one, sought) + 7 * (other === null ? 0 : scoreOf(other, sought))
    if (score > 0) positive++
    assert.equal(Number(row?.['score']), score)
  })
  await fc.assert(property, { numRuns: engine === 'sqlite' ? 500 : 1_500 })
  assert.ok(positive > 30, `${positive}`)
})

test('WHR-6: a word counts eight times at most, twice where it is whole, and only the last as a beginning', () => {
  assert.equal(scoreOf('box box', ['box']), 4)
  assert.equal(scoreOf('box boxes', ['box']), 3)
  assert.equal(scoreOf('box boxes', ['box', 'o']), 2)
  assert.equal(scoreOf('box '.repeat(9), ['box']), 16)
  assert.equal(scoreOf(`${'box '.repeat(9)}${'boxes '.repeat(9)}`, ['box']), 24)
})
