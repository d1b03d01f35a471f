/** What a database is opened with for its API keys alone. */
import { completeCatalog } from '../../model/catalog.ts'
import type { Catalog } from '../../model/resource.ts'

/** The catalog that has the keys and nothing else: whatever is declared, and before anything is. */
export function keysAlone(): Catalog {
  const { system, ...rest } = completeCatalog({ name: 'keys', resources: {} })
  return { ...rest, system: new Map([...system].filter(([name]) => name === 'api-keys')) }
}
