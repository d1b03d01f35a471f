/** Who has signed in, and what they may do. */
import type { Action, Caller, Connection } from './connection.tsx'
import { Problem } from './problem.ts'
import type { ApiRequest, ApiResponse, Send } from './send.ts'

/** Operators manage tenants, and see the jobs of their deletions (TEN-3). */
const operated: Readonly<Record<string, readonly Action[]>> = {
  tenants: ['read', 'create', 'delete', 'restore', 'read_deleted'],
  jobs: ['read', 'delete'],
}

/**
 * Asks who the caller is. Operators of tenants may not ask, and are known by that they may read tenants.
 *
 * @throws Problem
 */
export async function loadCaller(
  send: Send,
  how: Pick<ApiRequest, 'credential' | 'signal'>,
): Promise<ApiResponse<Caller>> {
  try {
    return await send<Caller>({ path: '/caller', ...how })
  } catch (refused) {
    if (!(refused instanceof Problem) || refused.code !== 'FORBIDDEN') throw refused
    const query = new URLSearchParams({ limit: '1', fields: 'id' })
    const answer = await send<unknown>({ path: '/tenants', query, ...how }).catch(() => {
      throw refused
    })
    return { ...answer, body: operator() }
  }
}

/** Whether the caller manages tenants. A declared collection may have the name of theirs. */
export function isOperator({ caller, catalog }: Connection): boolean {
  const isOfTenants = catalog.collections.get('tenants')?.made === 'for-clients'
  return isOfTenants && caller.permissions['tenants']?.read?.granted === 'all'
}

function operator(): Caller {
  const all = (rules: readonly Action[]) =>
    Object.fromEntries(rules.map((action) => [action, { granted: 'all' as const, rules: ['role:operator'] }]))
  const permissions = Object.fromEntries(Object.entries(operated).map(([name, actions]) => [name, all(actions)]))
  return { id: 'operator', roles: ['operator'], expires_at: null, credential: 'unknown', permissions }
}
