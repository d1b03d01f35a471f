/** Whether a server gives the identifier of a record that was deleted to the next one that is made. */
import { randomBytes } from 'node:crypto'
import type { CaseState, CreatedRecord } from '../case/case-state.ts'
import { NotSetUp } from '../case/not-judged.ts'
import type { Exchange } from '../client/exchange.ts'
import { type CollectionProfile, canCreate } from '../profile/profile.ts'
import { removeAll } from './cleanup.ts'
import { create, type World } from './context.ts'

/**
 * Finds it out with two records, one after the other. Where it is so, what a case has deleted may be another's record the next
 * moment: no two cases may then run at a time, and nothing is deleted twice without a look at what it is.
 */
export async function reusesIdentifiers(world: World): Promise<boolean> {
  const collection = world.profile.collections.find(canCreate)
  if (collection === undefined) return false
  try {
    const first = await made(world, collection)
    // Only numbers are counted on from what is there.
    if (!/^\d+$/.test(first) || world.ledger.remains.size > 0) return false
    return first === (await made(world, collection))
  } catch (error) {
    if (error instanceof NotSetUp) return false
    throw error
  }
}

/** The identifier of a record that is made, and deleted again. */
async function made(world: World, collection: CollectionProfile): Promise<string> {
  const records = new Map<string, CreatedRecord>()
  const mark = `checked-${randomBytes(5).toString('hex')}`
  const exchanges: CaseState['exchanges'] = new Map<string, Exchange[]>()
  try {
    await create(world, { profile: world.profile, collection, mark, made: records, exchanges }, 'one')
    return records.get('one')?.id ?? ''
  } finally {
    await removeAll(world, [...records.values()].reverse())
  }
}
