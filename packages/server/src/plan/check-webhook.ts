/** What is wrong with a webhook besides the schemas of its fields: its URL, its collections and its filter (EVT-8). */
import { type AddressPolicy, isRefusedLiterally } from 'resourced-contract/model/address-policy'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { oneOf, suggest } from 'resourced-contract/model/nearest'
import { escapeStep } from 'resourced-contract/model/place'
import { isObject } from 'resourced-contract/model/plain-copy'
import { type Catalog, type RecordValues, type Resource, storedResource } from 'resourced-contract/model/resource'
import { webhookBounds } from 'resourced-contract/model/webhook-resources'
import type { Issue } from 'resourced-contract/spec/faults'
import { permit } from '../policy/permit.ts'
import { readExportFilter } from './plan-export.ts'

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
  if (changed.includes('url') && typeof url === 'string') issues.push(...urlIssues(url, addresses))
  const known = watchable(catalog.versions.get(version) ?? catalog)
  const chosen = Array.isArray(collections) ? (collections as string[]) : undefined
  if (changed.includes('collections')) {
    for (const [index, name] of (chosen ?? []).entries()) {
      const resource = known.get(name)
      const pointer = `/collections/${index}`
      if (resource === undefined) {
        const message = `No collection with events has this name. ${suggest(name, [...known.keys()])}`
        issues.push({ code: 'NOT_IN_ENUM', message, pointer })
      } else if (permit(catalog, maker, 'read', storedResource(resource)).kind === 'never') {
        const message = `The webhook reads with the permissions of its maker, who may not read ${name}.`
        issues.push({ code: 'FORBIDDEN', message, pointer })
      }
    }
  }
  // A filter may name only what is sent.
  if (changed.includes('filter') || changed.includes('collections')) {
    issues.push(...filterIssues(filter, known, chosen ?? [...known.keys()]))
  }
  return issues
}

/** The resources of a version that have events. */
function watchable({ resources }: Pick<Catalog, 'resources'>): ReadonlyMap<string, Resource> {
  return new Map([...resources].filter(([, resource]) => storedResource(resource).events))
}

function urlIssues(text: string, addresses: AddressPolicy): Issue[] {
  const wrong = (message: string): Issue[] => [{ code: 'INVALID_VALUE', message, pointer: '/url' }]
  const url = URL.parse(text)
  if (url === null) return wrong('url is no absolute address. Write one such as https://example.com/events.')
  if (url.protocol === 'http:' && !addresses.allowsNetworks) {
    return wrong('url must begin with https://. http needs a network that the operator allows.')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return wrong('url must begin with https://.')
  if (url.username !== '' || url.password !== '') {
    return wrong('url must have no user name and no password: deliveries are signed instead.')
  }
  if (url.hash !== '') return wrong('url must have no fragment: servers never receive it.')
  // The addresses of a name are judged at each delivery.
  if (isRefusedLiterally(url, addresses)) {
    return wrong(
      'url must lead to a public address, by https on port 443 or from 1024 on, or to a network that is allowed.',
    )
  }
  return []
}

function filterIssues(filter: unknown, known: ReadonlyMap<string, Resource>, chosen: readonly string[]): Issue[] {
  if (!isObject(filter)) return []
  if (JSON.stringify(filter).length > webhookBounds.filter) {
    const message = `filter has at most ${webhookBounds.filter} characters as JSON.`
    return [{ code: 'TOO_LONG', message, pointer: '/filter' }]
  }
  return Object.entries(filter).flatMap(([name, condition]): Issue[] => {
    const resource = chosen.includes(name) ? known.get(name) : undefined
    const step = `/${escapeStep(name)}`
    if (resource === undefined) {
      const message = `filter has a condition for each collection: ${oneOf(chosen)}.`
      return [{ code: 'UNKNOWN_FIELD', message, pointer: `/filter${step}` }]
    }
    const issues: Issue[] = []
    readExportFilter(resource, condition, issues)
    return issues.map((issue) => ({
      ...issue,
      pointer: `/filter${step}${(issue.pointer ?? '').slice('/filter'.length)}`,
    }))
  })
}
