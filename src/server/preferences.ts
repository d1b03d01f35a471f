/** What a request prefers (RFC 7240), by what its address can follow (MET-8). */
import type { HttpRequest } from '../http/message.ts'
import { type Decided, decidePreferences, type PreferenceName } from '../http/preferences.ts'
import type { Preferred } from '../plan/plan.ts'
import type { Target } from '../request/target.ts'
import { fault, type Issue } from '../spec/faults.ts'

/** What an address follows beside `return`. */
function understoodAt(target: Target, method: string): readonly PreferenceName[] {
  // A key is shown once: an answer without it would be a key lost. A job that is deleted leaves nothing to represent.
  const isSystem = target.kind === 'export' || ('resource' in target && target.resource.made !== 'by-clients')
  if (isSystem && (method === 'POST' || method === 'DELETE')) return []
  if (target.kind === 'bulk-delete' || target.kind === 'exports') return ['return', 'respond-async']
  if (method !== 'DELETE') return ['return']
  return target.kind === 'collection' ? ['return', 'respond-async', 'max-affected'] : ['return', 'respond-async']
}

/** What planning has to know of it. */
export function preferredOf({ return: answer, values }: Decided): Preferred {
  const most = values.get('max-affected')
  return {
    return: answer,
    asynchronously: values.has('respond-async'),
    most: most === undefined ? undefined : Number(most),
  }
}

/**
 * What a request prefers, as far as its address follows it.
 *
 * @throws Fault UNKNOWN_PREFERENCE where `handling=strict` asks for it, or a bound cannot be read
 */
export function preferencesOf({ headers, method }: HttpRequest, target: Target): Decided {
  const decided = decidePreferences(headers['prefer'], understoodAt(target, method))
  if (decided.unmet.length === 0) return decided
  const errors = decided.unmet.map((message): Issue => ({ code: 'UNKNOWN_PREFERENCE', message, header: 'Prefer' }))
  throw fault('UNKNOWN_PREFERENCE', { errors })
}
