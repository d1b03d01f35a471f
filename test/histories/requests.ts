/** The requests of random histories, as data, and as they are sent. */
import type { Collection, Values } from './state.ts'

/** A change that a request asks for, alone or in a transaction. */
export type Change =
  | { readonly kind: 'create'; readonly collection: Collection; readonly body: Values }
  | { readonly kind: 'create-many'; readonly bodies: readonly Values[] }
  | { readonly kind: 'upsert'; readonly body: Values; readonly ifMatch?: string; readonly ifNoneMatch?: boolean }
  | { readonly kind: 'upsert-many'; readonly bodies: readonly Values[] }
  | ({ readonly kind: 'merge' | 'replace'; readonly body: Values } & Addressed)
  | { readonly kind: 'merge-many'; readonly bodies: readonly Values[] }
  | { readonly kind: 'merge-matching'; readonly which: Values; readonly body: Values; readonly isJob: boolean }
  | ({ readonly kind: 'delete'; readonly isJob?: boolean } & Addressed)
  | { readonly kind: 'delete-many'; readonly ids: readonly string[] }
  | { readonly kind: 'delete-matching'; readonly which: Values; readonly isJob: boolean }
  | ({ readonly kind: 'restore' } & Addressed)

/** A record by its id. */
interface Addressed {
  readonly collection: Collection
  readonly id: string
  readonly ifMatch?: string
}

export type Read =
  | { readonly kind: 'read'; readonly collection: Collection; readonly id: string }
  | { readonly kind: 'list'; readonly collection: Collection }
  | { readonly kind: 'summary' }

/** What a client does: it sends a request, or makes the two ends of a purge. */
export type Act =
  | Change
  | Read
  | { readonly kind: 'transaction'; readonly changes: readonly Change[] }
  | { readonly kind: 'purge-begins' }
  | { readonly kind: 'purge-ended' }

/** A request without the version in its path. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** The request of a change, alone. */
export function requestOf(act: Exclude<Act, { readonly kind: 'purge-begins' | 'purge-ended' }>): Request {
  switch (act.kind) {
    case 'create':
      return { method: 'POST', path: `/${act.collection}`, body: act.body }
    case 'create-many':
      return { method: 'POST', path: '/items', body: act.bodies }
    case 'upsert': {
      const { body, ifMatch, ifNoneMatch = false } = act
      const headers = { ...conditionOf(ifMatch), ...(ifNoneMatch && { 'if-none-match': '*' }) }
      return { method: 'PUT', path: `/items?sku=${body['sku']}`, body, headers }
    }
    case 'upsert-many':
      return { method: 'PUT', path: '/items?key=sku', body: act.bodies }
    case 'merge':
    case 'replace': {
      const { kind, collection, id, body, ifMatch } = act
      const method = kind === 'merge' ? 'PATCH' : 'PUT'
      return { method, path: `/${collection}/${id}`, body, headers: conditionOf(ifMatch) }
    }
    case 'merge-many':
      return { method: 'PATCH', path: '/items', body: act.bodies }
    case 'merge-matching':
      return { method: 'PATCH', path: `/items?${queryOf(act.which)}`, body: act.body, headers: preferenceOf(act) }
    case 'delete': {
      const { collection, id, ifMatch, isJob = false } = act
      return {
        method: 'DELETE',
        path: `/${collection}/${id}`,
        headers: { ...conditionOf(ifMatch), ...preferenceOf({ isJob }) },
      }
    }
    case 'delete-many':
      return { method: 'POST', path: '/items/bulk-delete', body: { ids: act.ids } }
    case 'delete-matching':
      return { method: 'DELETE', path: `/items?${queryOf(act.which)}`, headers: preferenceOf(act) }
    case 'restore':
      return { method: 'POST', path: `/${act.collection}/${act.id}/restore`, headers: conditionOf(act.ifMatch) }
    case 'read':
      return { method: 'GET', path: `/${act.collection}/${act.id}` }
    case 'list':
      return { method: 'GET', path: `/${act.collection}?per_page=100` }
    case 'summary':
      return { method: 'GET', path: '/items/summary?group=kind&sum=amount' }
    case 'transaction':
      return { method: 'POST', path: '/transactions', body: { operations: act.changes.map(operationOf) } }
  }
}

function operationOf(change: Change) {
  const { method, path, body } = requestOf(change)
  const ifMatch = 'ifMatch' in change ? change.ifMatch : undefined
  return { method, path, ...(body !== undefined && { body }), ...(ifMatch !== undefined && { if_match: ifMatch }) }
}

function conditionOf(ifMatch: string | undefined): Readonly<Record<string, string>> {
  return ifMatch === undefined ? {} : { 'if-match': ifMatch }
}

function preferenceOf({ isJob }: { readonly isJob: boolean }): Readonly<Record<string, string>> {
  return isJob ? { prefer: 'respond-async' } : {}
}

function queryOf(which: Values): string {
  return Object.entries(which)
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}
