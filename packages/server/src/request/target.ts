/**
 * Addresses: the targets of paths, and their methods. Finding a target refuses nothing, so that authentication comes
 * first (CON-6).
 */

import type { CountedAction } from 'resourced-contract/model/declaration'
import { historyCollection } from 'resourced-contract/model/names'
import { type Catalog, isHistory, isRestorable, type Resource, uniqueKeysOf } from 'resourced-contract/model/resource'
import { operatorsOf } from 'resourced-contract/model/tenants'
import { type Fault, fault } from 'resourced-contract/spec/faults'
import { decodeTargetPart } from '../http/message.ts'

/** Something that has an address. */
export type Target =
  | {
      readonly kind: 'collection'
      readonly resource: Resource
      readonly parent?: { readonly resource: Resource; readonly id: string }
    }
  /** Groups of the records of a collection, and their figures (SUM-1). */
  | { readonly kind: 'summary'; readonly resource: Resource }
  | { readonly kind: 'record'; readonly resource: Resource; readonly id: string }
  /** Deletes many records at once (DEL-9). */
  | { readonly kind: 'bulk-delete'; readonly resource: Resource }
  /** Restores a deleted record (DEL-6). */
  | { readonly kind: 'restore'; readonly resource: Resource; readonly id: string }
  /** Previews the deletion of a record (DEL-12). */
  | { readonly kind: 'deletion'; readonly resource: Resource; readonly id: string }
  /** Accepts transactions (BLK-4). */
  | { readonly kind: 'transactions' }
  /** Accepts exports (JOB-6). */
  | { readonly kind: 'exports' }
  /** An export with its file and its job (LIM-8). */
  | { readonly kind: 'export'; readonly id: string }
  /** The file that an export has made. */
  | { readonly kind: 'export-content'; readonly id: string }
  | { readonly kind: 'openapi' }
  /** The caller's identity and permissions (AUT-11). */
  | { readonly kind: 'caller' }
  | { readonly kind: 'health'; readonly probe: 'live' | 'ready' }
  /** The metrics of the server, for administrators (OPS-7). */
  | { readonly kind: 'metrics' }
  | PageTarget

/** A page for people, or one of its files (DOC-4). */
export interface PageTarget {
  readonly kind: 'page'
  readonly page: 'console' | 'docs'
  /** The name of the file; `undefined`: the page itself. */
  readonly file: string | undefined
  /** Whether the path begins with a version. */
  readonly isVersioned: boolean
}

/** An address that only authenticated callers use. */
export type AddressTarget = Exclude<Target, { readonly kind: 'health' | 'page' }>

/** Where a request's path leads. */
export type Found =
  | { readonly kind: 'found'; readonly target: Target }
  | { readonly kind: 'missing' }
  /** The path has an invalid percent-escape (RES-10). */
  | { readonly kind: 'malformed' }

const missing: Found = { kind: 'missing' }

const reading = ['GET', 'HEAD', 'OPTIONS']

/** What each kind of address supports; HEAD goes with GET. */
const methods: Readonly<Record<Target['kind'], readonly string[]>> = {
  collection: ['GET', 'HEAD', 'POST', 'QUERY', 'OPTIONS'],
  summary: ['GET', 'HEAD', 'QUERY', 'OPTIONS'],
  record: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
  restore: ['POST', 'OPTIONS'],
  deletion: reading,
  'bulk-delete': ['POST', 'OPTIONS'],
  transactions: ['POST', 'OPTIONS'],
  exports: ['POST', 'OPTIONS'],
  export: ['DELETE', 'OPTIONS'],
  'export-content': reading,
  openapi: reading,
  caller: reading,
  health: reading,
  metrics: reading,
  page: reading,
}

const listing = ['GET', 'HEAD', 'QUERY', 'OPTIONS']
const history = ['GET', 'HEAD', 'DELETE', 'QUERY', 'OPTIONS']
const readingOrDeleting = ['GET', 'HEAD', 'DELETE', 'OPTIONS']
/** Records of the server that support something else. */
const systemRecord: Readonly<Record<string, readonly string[]>> = {
  webhooks: ['GET', 'HEAD', 'PATCH', 'DELETE', 'OPTIONS'],
  deliveries: reading,
  events: reading,
  revisions: reading,
}

/** The methods of an address in the order of `Allow`; they do not depend on the caller. */
export function methodsOf(target: Target): readonly string[] {
  if (target.kind === 'collection' || target.kind === 'record') {
    const { resource } = target
    if (resource.made !== 'by-clients' && target.kind === 'record')
      return systemRecord[resource.name] ?? readingOrDeleting
    if (isHistoryOf(target)) return history
    if (resource.made === 'by-server' || (resource.made === 'for-clients' && isNested(target))) return listing
    if (target.kind === 'collection' && !isNested(target)) return methodsOfCollection(resource)
  }
  return methods[target.kind]
}

/** The address of the history of a record (HIS-2). */
export type HistoryTarget = Extract<Target, { readonly kind: 'collection' }> & {
  readonly parent: { readonly resource: Resource; readonly id: string }
}

export function isHistoryOf(target: Target): target is HistoryTarget {
  return target.kind === 'collection' && target.parent !== undefined && isHistory(target.resource)
}

/** PUT needs a unique field (BLK-2), and DELETE is declared (DEL-10). */
function methodsOfCollection(resource: Resource): readonly string[] {
  if (resource.made !== 'by-clients') return methods.collection
  const isPossible = { PUT: uniqueKeysOf(resource).size > 0, DELETE: resource.deletion.byFilter }
  return everyMethod.filter((name) => isPossible[name as keyof typeof isPossible] ?? true)
}

/** Whether an address is that of the events (EVT-2). */
export function isEventList(target: Target): boolean {
  return target.kind === 'collection' && target.resource.made === 'by-server' && target.resource.name === 'events'
}

/** Every method that some address supports, in the order of `Allow`. */
export const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'QUERY', 'OPTIONS']

/**
 * Finds the target of a path.
 *
 * @param path the path of the request target after the base path, percent-encoded, without query
 * @param versioned whether paths begin with the version of the catalog
 */
export function findTarget(catalog: Catalog, path: string, versioned = true): Found {
  const segments = segmentsOf(path)
  if (path.includes('%')) {
    for (const [index, segment] of segments.entries()) {
      const decoded = decodeTargetPart(segment)
      if (decoded === undefined) return { kind: 'malformed' }
      segments[index] = decoded
    }
  }
  // The path begins with a slash; no segment after it is empty.
  if (segments[0] !== '' || segments.includes('', 1)) return missing
  if (segments[1] === 'health') return health(segments)
  if (versioned && segments[1] !== catalog.version) return pageAt(segments, 1, versioned)
  const first = versioned ? 2 : 1
  const collection = segments[first]
  const id = storable(segments[first + 1])
  const child = segments[first + 2]
  if (collection === undefined || segments.length > first + 3) return missing
  if (collection === 'openapi.json') return id === undefined ? found({ kind: 'openapi' }) : missing
  if (collection === 'caller') return id === undefined ? found({ kind: 'caller' }) : missing
  if (collection === 'exports') return exportAt(id, child)
  const resource =
    catalog.resources.get(collection) ??
    catalog.system.get(collection) ??
    operatorsOf(catalog)?.resources.get(collection)
  // A declared collection of this name keeps its address.
  if (resource === undefined && collection === 'transactions' && id === undefined)
    return found({ kind: 'transactions' })
  if (resource === undefined) return pageAt(segments, first, versioned)
  // Revisions are listed for one record.
  if (id === undefined) return isHistory(resource) ? missing : found({ kind: 'collection', resource })
  if (child === undefined && id === 'bulk-delete' && resource.deletion.bulk !== undefined) {
    return found({ kind: 'bulk-delete', resource })
  }
  if (child === undefined && id === 'summary' && resource.made === 'by-clients') {
    return found({ kind: 'summary', resource })
  }
  if (child === undefined) return found({ kind: 'record', resource, id })
  if (child === 'restore') return isRestorable(resource) ? found({ kind: 'restore', resource, id }) : missing
  if (child === 'deletion' && resource.made === 'by-clients') return found({ kind: 'deletion', resource, id })
  if (child === historyCollection && resource.history !== undefined) {
    const revisions = catalog.system.get(historyCollection) as Resource
    return found({ kind: 'collection', resource: revisions, parent: { resource, id } })
  }
  const siblings = resource.made === 'by-clients' ? catalog.resources : catalog.system
  const nested = resource.children.includes(child) ? siblings.get(child) : undefined
  return nested === undefined ? missing : found({ kind: 'collection', resource: nested, parent: { resource, id } })
}

/** Some databases refuse U+0000 even in a search; no id has it. */
function storable(id: string | undefined): string | undefined {
  return id?.includes('\0') ? id.replaceAll('\0', '\ufffd') : id
}

function exportAt(id: string | undefined, part: string | undefined): Found {
  if (id === undefined) return found({ kind: 'exports' })
  if (part === undefined) return found({ kind: 'export', id })
  return part === 'content' ? found({ kind: 'export-content', id }) : missing
}

/**
 * Finds a page, or a file of one. There is one console for all versions.
 *
 * @param first the index of the page's name
 */
function pageAt(segments: readonly string[], first: number, versioned: boolean): Found {
  const page = segments[first]
  const isVersioned = versioned && first > 1
  if (page !== 'docs' && (page !== 'console' || isVersioned)) return missing
  if (segments.length === first + 1) return found({ kind: 'page', page, file: undefined, isVersioned })
  if (segments[first + 1] !== 'assets' || segments.length !== first + 3) return missing
  return found({ kind: 'page', page, file: segments[first + 2], isVersioned })
}

/** The path between slashes. V8 enters every text that is split into a table of all texts, which takes longer. */
function segmentsOf(path: string): string[] {
  const segments: string[] = []
  let start = 0
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', start)) {
    segments.push(path.slice(start, slash))
    start = slash + 1
  }
  segments.push(path.slice(start))
  return segments
}

function found(target: Target): Found {
  return { kind: 'found', target }
}

function health(segments: readonly string[]): Found {
  const probe = segments[2]
  if (segments.length === 3 && probe === 'metrics') return found({ kind: 'metrics' })
  if (segments.length !== 3 || (probe !== 'live' && probe !== 'ready')) return missing
  return found({ kind: 'health', probe })
}

/**
 * Refuses a method that an address does not support.
 *
 * @throws Fault METHOD_NOT_ALLOWED with `Allow`
 */
export function requireMethod(target: Target, method: string): void {
  const methods = methodsOf(target)
  if (methods.includes(method)) return
  throw fault('METHOD_NOT_ALLOWED', {
    detail: `This address supports ${methods.join(', ')}.`,
    headers: { Allow: methods.join(', ') },
  })
}

/** The refusal of a change by filter (BLK-3): PATCH of the collection takes only an array. */
export function updateNotDeclared(target: Target): Fault {
  const methods = methodsOf(target).join(', ')
  return fault('UPDATE_BY_FILTER_NOT_DECLARED', {
    detail: `This address supports ${methods}, and PATCH with an array of records.`,
    headers: { Allow: methods },
  })
}

function isNested(target: Target): boolean {
  return target.kind === 'collection' && target.parent !== undefined
}

/**
 * The target of an address that has one and supports the method.
 *
 * @param basePath what addresses of the version begin with
 * @throws Fault MALFORMED_URL, NOT_FOUND, METHOD_NOT_ALLOWED
 */
export function requireTarget(found: Found, method: string, basePath: string): AddressTarget {
  if (found.kind === 'malformed') {
    throw fault('MALFORMED_URL', {
      detail: 'A percent sign in the path is not followed by two hexadecimal digits of UTF-8.',
    })
  }
  if (found.kind === 'missing' || found.target.kind === 'health' || found.target.kind === 'page') {
    throw fault('NOT_FOUND', {
      detail: `This address does not exist. ${basePath}/openapi.json lists all addresses.`,
    })
  }
  requireMethod(found.target, method)
  return found.target
}

/**
 * The template that an address fits.
 *
 * @param basePath the beginning of the version's paths: `/v1`
 * @param root the beginning of every address: `/api`, or empty
 * @example
 * routeOf(target, '/v1') // '/v1/projects/{id}/tasks'
 */
export function routeOf(target: Target, basePath: string, root = ''): string {
  switch (target.kind) {
    case 'collection': {
      const { parent, resource } = target
      return parent === undefined
        ? routesOf(resource, basePath).collection
        : `${basePath}/${parent.resource.name}/{id}/${resource.name}`
    }
    case 'record':
      return routesOf(target.resource, basePath).record
    case 'health':
      return `${root}/health/${target.probe}`
    case 'metrics':
      return `${root}/health/metrics`
    case 'page': {
      const page = `${target.isVersioned ? basePath : root}/${target.page}`
      return target.file === undefined ? page : `${page}/assets/{name}`
    }
    default: {
      const collection = 'resource' in target ? `/${target.resource.name}` : ''
      return `${basePath}${collection}/${endings[target.kind]}`
    }
  }
}

/** How other templates end, after the collection or the version. */
const endings = {
  summary: 'summary',
  restore: '{id}/restore',
  deletion: '{id}/deletion',
  'bulk-delete': 'bulk-delete',
  transactions: 'transactions',
  exports: 'exports',
  export: 'exports/{id}',
  'export-content': 'exports/{id}/content',
  openapi: 'openapi.json',
  caller: 'caller',
} as const

/** The routes that most requests have. */
interface Routes {
  readonly basePath: string
  readonly collection: string
  readonly record: string
}

/** Metrics look routes up by their text. V8 hashes a text once, so the text is not made anew for each request. */
const knownRoutes = new WeakMap<Resource, Routes>()

function routesOf(resource: Resource, basePath: string): Routes {
  const known = knownRoutes.get(resource)
  if (known?.basePath === basePath) return known
  const collection = `${basePath}/${resource.name}`
  const routes = { basePath, collection, record: `${collection}/{id}` }
  knownRoutes.set(resource, routes)
  return routes
}

const byMethod: Readonly<Record<string, CountedAction>> = {
  GET: 'read',
  HEAD: 'read',
  QUERY: 'read',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
}

/** What a PUT of a collection may do with a record. */
export const upsertActions: readonly CountedAction[] = ['update', 'create']

/** The actions of a request on a resource: one, but for PUT of a collection; none, such as of OPTIONS. */
export function actionsOf(target: Target, method: string): readonly CountedAction[] {
  if (target.kind === 'collection' && method === 'PUT') return upsertActions
  const isByMethod = ['collection', 'summary', 'record', 'deletion'].includes(target.kind)
  const action = isByMethod ? byMethod[method] : undefined
  if (action !== undefined) return [action]
  if (method !== 'POST') return []
  if (target.kind === 'bulk-delete') return ['delete']
  return target.kind === 'restore' ? ['restore'] : []
}
