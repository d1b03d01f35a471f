/** The response with related records (REL-2): the envelope, and its entity tag, which is made of its bytes (REL-6). */
import { hasConversions, isMapped, type Resource, resourceOfStored } from 'resourced-contract/model/resource'
import { type Fault, fault, issue } from 'resourced-contract/spec/faults'
import { cacheControl, type HttpResponse, type ResponseHeaders } from '../http/message.ts'
import {
  decidePreconditions,
  type EntityTag,
  formatEntityTag,
  parseEntityTags,
  tagWithRelated,
} from '../http/preconditions.ts'
import { keyedTag } from '../plan/check-record.ts'
import type { Outcome, WithRelated } from '../plan/outcome.ts'
import type { Include, Plan, RelatedPath } from '../plan/plan.ts'
import { listAddresses } from '../plan/plan-include.ts'
import type { Planning } from '../plan/planning.ts'
import { jsonFromStored } from '../versions/translate-record.ts'

/** The request, as far as the addresses of further records are made of it. */
type Addressing = Pick<Planning, 'versionCatalog' | 'cursorSecret' | 'basePath'> & {
  readonly path: string
  readonly query: string
}

/** A response before its conditions are decided, and the request that it was made for. */
interface RelatedAnswer {
  readonly asked: Pick<Addressing, 'versionCatalog' | 'path' | 'query'>
  readonly headers: ResponseHeaders
  readonly body: string
  readonly tag: EntityTag
  /** The tag of the record alone; `undefined`: it is a list. */
  readonly recordTag: string | undefined
}

// A storage returns the same outcome object until something of it changes.
const answers = new WeakMap<WithRelated, RelatedAnswer>()

/**
 * Adds the related records to a response.
 *
 * @param represent makes the response to the same request without them
 * @throws Fault PRECONDITION_FAILED
 */
export function relatedResponse(
  plan: Plan,
  outcome: WithRelated,
  represent: () => HttpResponse,
  addressing: Addressing,
): HttpResponse {
  const { include } = plan as { readonly include: Include }
  const known = answers.get(outcome)
  const isSame = known !== undefined && isFor(known, addressing)
  const answer = isSame ? known : makeAnswer(plan.resource, include.paths, outcome, represent(), addressing)
  if (!isSame) answers.set(outcome, answer)
  const { headers, body, tag, recordTag } = answer
  const current = { tag, ...(recordTag !== undefined && { matchTags: [recordTag] }) }
  const verdict = decidePreconditions({ method: 'GET', conditions: include.conditions, current })
  if (verdict === 'proceed') return { status: 200, headers: { ...headers }, body }
  if (verdict !== 'not-modified')
    throw fault('PRECONDITION_FAILED', { errors: [issue('failedCondition', { header: verdict.failed })] })
  const kept = Object.entries(headers).filter(
    ([name]) => name === 'Cache-Control' || name === 'Vary' || name === 'ETag',
  )
  return { status: 304, headers: Object.fromEntries(kept), body: undefined }
}

function isFor({ asked }: RelatedAnswer, { versionCatalog, path, query }: Addressing): boolean {
  return asked.versionCatalog === versionCatalog && asked.path === path && asked.query === query
}

function makeAnswer(
  resource: Resource,
  paths: readonly RelatedPath[],
  { answer, related, included }: WithRelated,
  base: HttpResponse,
  addressing: Addressing,
): RelatedAnswer {
  const { versionCatalog, path, query } = addressing
  const members = [
    `"included":{${includedJson(included, addressing)}}`,
    `"related":{${related.map((each) => relatedJson(each, paths, addressing)).join()}}`,
  ]
  const text = String(base.body).trimEnd()
  const data = answer.kind === 'page' ? text.slice(1, -1) : `"data":${text}`
  const body = `{${data},${members.join()}}\n`
  const digest = keyedTag(addressing.cursorSecret, body)
  const { 'Last-Modified': _, ETag: own, ...others } = base.headers
  // A response is fresh as long as all of its records are.
  const resources = paths.map(({ collection }) => resourceOfStored(versionCatalog, collection) as Resource)
  const maxAge = Math.min(...[resource, ...resources].map((each) => each.maxAge))
  const recordTag = answer.kind === 'record' ? opaqueOf(own) : undefined
  const tag = { opaque: recordTag === undefined ? digest : tagWithRelated(recordTag, digest), weak: false }
  const headers = { ...others, 'Cache-Control': cacheControl(maxAge), ETag: formatEntityTag(tag) }
  return { asked: { versionCatalog, path, query }, headers, body, tag, recordTag }
}

function opaqueOf(tag: string | undefined): string {
  const tags = parseEntityTags(tag ?? '')
  return Array.isArray(tags) ? (tags[0]?.opaque ?? '') : ''
}

function includedJson(included: WithRelated['included'], { versionCatalog }: Addressing): string {
  const collections = new Map<string, string[]>()
  for (const { collection, json } of included) {
    const resource = resourceOfStored(versionCatalog, collection) as Resource
    const isConverted = isMapped(resource) && hasConversions(resource)
    const shown = isConverted ? jsonFromStored(resource, `[${json}]`) : json
    const members = collections.get(resource.name) ?? []
    members.push(...shown.split(',\n').map((record) => `${idText(record)}:${record}`))
    collections.set(resource.name, members)
  }
  return [...collections].map(([name, members]) => `"${name}":{${members.join()}}`).join()
}

/** The id of a record as JSON: the first member of the record's JSON. */
function idText(record: string): string {
  const start = '{"id":'.length
  return record.slice(start, record.indexOf('"', start + 1) + 1)
}

function relatedJson(
  { path: name, records }: WithRelated['related'][number],
  paths: readonly RelatedPath[],
  addressing: Addressing,
): string {
  // The version may be a parameter.
  const kept = addressing.query.split('&').filter((part) => part.startsWith('version='))
  const addressOf = listAddresses(addressing, paths.find(({ path }) => path === name) as RelatedPath, kept)
  const members = records.map(({ id, ids, total, last }) => {
    const next = total > ids.length ? addressOf(id, last) : null
    return `"${id}":${JSON.stringify({ ids, total_count: total, next })}`
  })
  return `"${name}":{${members.join()}}`
}

/** The refusal of related records that are too many or too large, with the parameters to lower (REL-5). */
export function includeTooLarge({ limits }: Extract<Outcome, { readonly kind: 'include-too-large' }>): Fault {
  const errors = limits.map(({ parameter, fits }) => issue('largeInclude', { parameter, name: parameter, fits }))
  return fault('INCLUDE_TOO_LARGE', { errors })
}
