/** Who uses which version: so that it is known whom a sunset will hurt. */
import { withoutCredentials } from '../../model/credentials.ts'
import { isLeaving } from '../../versions/versions.ts'
import type { Observation } from './observe.ts'

/** Of each version that is to go so many callers are told apart; all others are one. */
export const mostCallers = 1_000

// Of a token's subject nobody knows how long it is, and series are kept for ever.
const longestCaller = 200

/** So many requests for a version. */
export interface VersionUse {
  readonly version: string
  /** Empty where callers are not told apart: of a version that stays, and of those who are not known. */
  readonly caller: string
  readonly requests: number
}

/** Counts requests for versions. */
export interface VersionUsage {
  count(seen: Pick<Extract<Observation, { kind: 'request' }>, 'version' | 'caller'>): void
  counts(): readonly VersionUse[]
}

/** Begins to count. */
export function countVersions(): VersionUsage {
  const versions = new Map<string, Map<string, number>>()
  return {
    count({ version, caller = '' }) {
      if (version === undefined) return
      let callers = versions.get(version.name)
      if (callers === undefined) {
        callers = new Map()
        versions.set(version.name, callers)
      }
      const known = isLeaving(version) ? caller : ''
      const before = callers.get(known)
      if (before !== undefined) callers.set(known, before + 1)
      else {
        const name = labelOf(known, callers.size)
        callers.set(name, (callers.get(name) ?? 0) + 1)
      }
    },
    counts: () =>
      [...versions].flatMap(([version, callers]) =>
        [...callers].map(([caller, requests]) => ({ version, caller, requests })),
      ),
  }
}

/** A caller as metrics show them: a subject is a name, but whoever gives them out may have made one of a secret (SEC-3). */
function labelOf(caller: string, known: number): string {
  if (caller.length > longestCaller || known >= mostCallers) return 'other'
  return withoutCredentials(caller)
}
