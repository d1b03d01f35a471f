/** How much transactions must be kept apart, so that what was true when they decided is true when they end. */
import type { Catalog } from '../../model/resource.ts'
import type { Write } from '../../plan/plan.ts'
import type { Isolation } from './send.ts'

/**
 * What a transaction asks of records that it refers to, or that are to be unique, it holds, or an index does. A business rule
 * asks whether there is any record of some kind: what is not there cannot be held. So whoever writes a collection that has
 * such a rule, or that one asks about, is checked by PostgreSQL against all others who do.
 */
export function isolationOf(catalog: Catalog): {
  /** Of one change. */
  readonly of: (plan: Pick<Write, 'kind' | 'resource'>) => Isolation
  /** Of what may change anything. */
  readonly ofAll: Isolation
} {
  const concerned = new Set(
    [...catalog.resources.values()].flatMap(({ name, rules }) =>
      rules.flatMap((rule) => {
        if (!('unless' in rule)) return []
        const { none, some } = rule.unless
        return [name, none, some].filter((each) => each !== undefined)
      }),
    ),
  )
  const ofAll: Isolation = concerned.size > 0 ? 'serializable' : 'read committed'
  return {
    of({ kind, resource }) {
      // The number of a subject's keys is counted, and no row stands for a key that is not there yet.
      if (kind === 'create-key') return 'serializable'
      const isOne = kind === 'create' || kind === 'replace' || kind === 'merge' || kind === 'patch'
      return isOne && !concerned.has(resource.name) ? 'read committed' : ofAll
    },
    ofAll,
  }
}
