/** Claims of deliveries by servers that were killed. */
import { DatabaseSync } from 'node:sqlite'
import { query } from '../postgres/query.ts'

/**
 * Ends the claims of killed servers, as their leases would after 45 seconds.
 *
 * @param servers the names by which they claimed
 */
export async function endLeases(address: string, servers: ReadonlySet<string>): Promise<void> {
  const names = [...servers].map((name) => `'${name}'`).join(', ')
  const text = `update resourced_deliveries set due = 0 where server in (${names})`
  if (!address.startsWith('sqlite:')) {
    await query(address, text)
    return
  }
  const database = new DatabaseSync(address.slice('sqlite:'.length), { timeout: 10_000 })
  try {
    database.exec(text)
  } finally {
    database.close()
  }
}
