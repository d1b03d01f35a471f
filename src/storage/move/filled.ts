/** A database that was to be filled, and is not empty. */
import { StorageFault } from '../storage.ts'
import type { Row } from '../transaction.ts'

/**
 * Says what it holds.
 *
 * @param held its clocks (`clockSums`)
 */
export function notEmpty(held: readonly Row[]): StorageFault {
  const some = held
    .filter(({ live, deleted }) => Number(live) + Number(deleted) > 0)
    .map(({ collection, live, deleted }) => `${Number(live) + Number(deleted)} in ${collection}`)
  const what = some.length === 0 ? 'tables without records' : `records (${some.join(', ')})`
  return new StorageFault('failed', `The database to move to holds ${what} already. Name an empty one.`)
}
