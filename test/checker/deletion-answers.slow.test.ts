/** The checker accepts every response to deletions that the specification permits. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CollectionProfile } from '../../packages/check/src/profile/profile.ts'
import type { Report } from '../../packages/check/src/run/check.ts'
import { type Shop, serveShop } from './shop.ts'
import { casesOf, checkShop, tellAll } from './try-faults.ts'

describe('Deletion is accepted', () => {
  let shop: Shop
  before(async () => {
    shop = await serveShop()
  })
  after(() => shop.serving.close())

  /** The verdicts of deletion where there are these collections alone. */
  async function verdictsOf(...names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const collections = names.map((name) => shop.profile.collections.find((each) => each.name === name))
    const profile = { ...shop.profile, collections: collections as CollectionProfile[] }
    const report: Report = await checkShop({ ...shop, profile }, shop.serving.origin, { only: ['DEL'] })
    const bad = casesOf(report).filter(({ verdict }) => verdict !== 'holds' && verdict !== 'not applicable')
    assert.deepEqual(
      bad.map(({ id }) => id),
      [],
      tellAll(report),
    )
    return new Map(casesOf(report).map(({ id, verdict }) => [id, verdict]))
  }

  it('for good, with 204', async () => {
    const verdicts = await verdictsOf('notes')
    assert.equal(verdicts.get('DEL-1/for-good'), 'holds')
    assert.equal(verdicts.get('DEL-1/kept'), 'not applicable')
    assert.equal(verdicts.get('DEL-6/restored'), 'not applicable')
  })

  it('with 200 and a summary, and 204 when it is repeated', async () => {
    const verdicts = await verdictsOf('receipts')
    assert.equal(verdicts.get('DEL-2/summary'), 'holds')
    assert.equal(verdicts.get('DEL-2/no-body'), 'not applicable')
    assert.equal(verdicts.get('DEL-3/again'), 'holds')
    assert.equal(verdicts.get('DEL-3/at-once'), 'holds')
  })

  it('with 202, by a job', async () => {
    const verdicts = await verdictsOf('archives')
    assert.equal(verdicts.get('DEL-1/gone'), 'holds')
    assert.equal(verdicts.get('DEL-8/done'), 'holds')
    assert.equal(verdicts.get('DEL-8/preferred'), 'not applicable')
    assert.equal(verdicts.get('DEL-3/at-once'), 'not applicable')
  })

  it('if dependents block it', async () => {
    const verdicts = await verdictsOf('items', 'shelves')
    assert.equal(verdicts.get('DEL-4/refused'), 'holds')
    assert.equal(verdicts.get('DEL-5/no-dangling'), 'not applicable')
  })

  it('if dependents are deleted too', async () => {
    const verdicts = await verdictsOf('pictures', 'walls')
    assert.equal(verdicts.get('DEL-4/refused'), 'not applicable')
    assert.equal(verdicts.get('DEL-5/cascade'), 'holds')
    assert.equal(verdicts.get('DEL-5/clear'), 'not applicable')
    assert.equal(verdicts.get('DEL-6/only-that'), 'holds')
  })

  it('if references are cleared', async () => {
    const verdicts = await verdictsOf('frames', 'walls')
    assert.equal(verdicts.get('DEL-5/clear'), 'holds')
    assert.equal(verdicts.get('DEL-5/cascade'), 'not applicable')
  })
})
