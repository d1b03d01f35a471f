/** What is wrong with a webhook besides the schemas of its fields: its URL, its collections and its filter (EVT-8). */
import { type AddressPolicy, isRefusedLiterally } from 'resourced-contract/model/address-policy'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { candidates } from 'resourced-contract/model/nearest'
import { escapeStep } from 'resourced-contract/model/place'
import { isObject } from 'resourced-contract/model/plain-copy'
import { type Catalog, type RecordValues, type Resource, storedResource } from 'resourced-contract/model/resource'
import { webhookBounds } from 'resourced-contract/model/webhook-resources'
import { type Issue, issue } from 'resourced-contract/spec/faults'
import { hasClaim } from '../policy/api-keys.ts'
import { permit } from '../policy/permit.ts'
import { readExportFilter } from '../request/condition.ts'
import type { WebhookMaker } from './plan.ts'

/** A webhook as it would be, and its surroundings. */
interface CheckedWebhook {
  /** The catalog in whose terms records are stored. */
  readonly catalog: Catalog
  /** The name of the version in whose terms the webhook gets events. */
  readonly version: string
  /** The caller as which it reads. */
  readonly maker: CallerView
  readonly values: RecordValues
  /** The fields that the request changes. */
  readonly changed: readonly string[]
  /** Which URLs webhooks may have. */
  readonly addresses: AddressPolicy
}

/** Everything that is wrong with the fields that a request changes. */
export function webhookIssues(webhook: CheckedWebhook): Issue[] {
  const { catalog, version, maker, values, changed, addresses } = webhook
  const issues: Issue[] = []
  const { url, collections, filter } = values
  const wrong = changed.includes('url') && typeof url === 'string' ? wrongUrl(url, addresses) : undefined
  if (wrong !== undefined) issues.push(issue(wrong, { pointer: '/url' }))
  const versionCatalog = catalog.versions.get(version) ?? catalog
  const known = watchable(versionCatalog)
  const chosen = Array.isArray(collections) ? (collections as string[]) : undefined
  if (changed.includes('collections')) {
    for (const [index, name] of (chosen ?? []).entries()) {
      const resource = known.get(name)
      const place = { pointer: `/collections/${index}` }
      if (resource === undefined)
        issues.push(issue('unknownCollection', { ...place, names: candidates(name, known.keys()) }))
      else if (permit(catalog, maker, 'read', storedResource(resource)).kind === 'never') {
        issues.push(issue('unreadable', { ...place, name }))
      }
    }
  }
  // A filter may name only what is sent.
  if (changed.includes('filter') || changed.includes('collections')) {
    issues.push(...filterIssues(filter, versionCatalog, known, chosen ?? [...known.keys()]))
  }
  return issues
}

/** The resources of a version that have events. */
function watchable({ resources }: Pick<Catalog, 'resources'>): ReadonlyMap<string, Resource> {
  return new Map([...resources].filter(([, resource]) => storedResource(resource).events))
}

function wrongUrl(text: string, addresses: AddressPolicy) {
  const url = URL.parse(text)
  if (url === null) return 'urlForm'
  if (url.protocol === 'http:' && !addresses.allowsNetworks) return 'urlHttp'
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'urlHttps'
  if (url.username !== '' || url.password !== '') return 'urlUser'
  if (url.hash !== '') return 'urlFragment'
  // The addresses of a name are judged at each delivery.
  return isRefusedLiterally(url, addresses) ? 'urlAddress' : undefined
}

function filterIssues(
  filter: unknown,
  catalog: Pick<Catalog, 'resources'>,
  known: ReadonlyMap<string, Resource>,
  chosen: readonly string[],
): Issue[] {
  if (!isObject(filter)) return []
  if (JSON.stringify(filter).length > webhookBounds.filter) {
    return [issue('jsonLength', { pointer: '/filter', limit: webhookBounds.filter })]
  }
  return Object.entries(filter).flatMap(([name, condition]): Issue[] => {
    const resource = chosen.includes(name) ? known.get(name) : undefined
    const step = `/${escapeStep(name)}`
    if (resource === undefined) {
      return [issue('unchosen', { pointer: `/filter${step}`, known: chosen })]
    }
    const issues: Issue[] = []
    readExportFilter({ resource, catalog, followsRelations: false }, condition, issues)
    return issues.map((issue) => ({
      ...issue,
      pointer: `/filter${step}${(issue.pointer ?? '').slice('/filter'.length)}`,
    }))
  })
}

/**
 * Whether a caller is who made a webhook: with that id, at least those roles and, where it was made with an API key,
 * its claims. Each token has other claims, such as its times.
 */
export function isMakerOf(caller: CallerView, { id, key, roles, claims }: WebhookMaker): boolean {
  if (caller.id !== id || !roles.every((role) => caller.roles.includes(role))) return false
  return key === null || Object.entries(claims).every(([name, value]) => hasClaim(caller, name, value))
}
