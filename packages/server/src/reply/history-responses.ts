/** What responses say of the states of a record (RFC 7089): header fields, and the time map (HIS-3). */
import { formatHttpDate, formatLinks, type Link } from 'resourced-contract/fields/header-fields'
import { historyCollection } from 'resourced-contract/model/names'
import { type Catalog, resourceOfStored } from 'resourced-contract/model/resource'
import { linkType } from 'resourced-contract/spec/media-types'
import type { HttpResponse, ResponseHeaders } from '../http/message.ts'
import type { Memento, PageOutcome, Revision } from '../plan/outcome.ts'
import type { ReadPage } from '../plan/plan.ts'

/** What the addresses of a record and of its states depend on. */
interface Addresses {
  readonly versionCatalog: Catalog
  readonly basePath: string
}

/** A revision as a time map needs it. */
interface Listed {
  readonly id: string
  readonly kind: string
  readonly created_at: string
}

/** The date of a state, as a header field and as an attribute of links. */
function dateOf(at: string): string {
  return formatHttpDate(Date.parse(at) / 1000)
}

function recordPath({ versionCatalog, basePath }: Addresses, collection: string, id: string): string {
  return `${basePath}/${resourceOfStored(versionCatalog, collection)?.name}/${id}`
}

function stateLink({ basePath }: Addresses, { id, at }: Revision, rel: string): Link {
  return { target: `${basePath}/${historyCollection}/${id}`, rel, attributes: { datetime: dateOf(at) } }
}

/** The header fields of a response that shows a state of a record. */
export function mementoHeaders(
  { collection, id, at, revision, bounds = [] }: Memento,
  addresses: Addresses,
): ResponseHeaders {
  const path = recordPath(addresses, collection, id)
  const links: Link[] = [
    { target: path, rel: 'original timegate' },
    { target: `${path}/${historyCollection}`, rel: 'timemap', attributes: { type: linkType } },
  ]
  const named = new Map<string, Revision & { readonly rels: string[] }>()
  const name = (state: Revision, rel?: string) => {
    const known = named.get(state.id) ?? { ...state, rels: [] }
    named.set(state.id, known)
    if (rel !== undefined) known.rels.push(rel)
  }
  const [first, last = first] = bounds
  if (first !== undefined) name(first, 'first')
  if (last !== undefined) name(last, 'last')
  if (revision !== null) name({ id: revision, at })
  for (const { rels, ...state } of named.values())
    links.push(stateLink(addresses, state, [...rels, 'memento'].join(' ')))
  return { 'Memento-Datetime': dateOf(at), Link: formatLinks(links) }
}

/**
 * Makes the response that shows a page of revisions as a time map. Deletions have no state.
 *
 * @param list the header fields for caches, and the links to the pages of the list
 */
export function timeMap(
  plan: ReadPage,
  { json, total }: PageOutcome,
  { caching, pages }: { readonly caching: ResponseHeaders; readonly pages: readonly Link[] },
  context: Addresses & { readonly path: string; readonly query: string },
): HttpResponse {
  const { resource, id } = plan.parent as NonNullable<ReadPage['parent']>
  const states = (JSON.parse(`[${json}]`) as Listed[]).filter(({ kind }) => kind !== 'deleted')
  const links: Link[] = [
    { target: recordPath(context, resource.name, id), rel: 'original timegate' },
    {
      target: `${context.path}${context.query === '' ? '' : `?${context.query}`}`,
      rel: 'self',
      attributes: { type: linkType },
    },
    ...pages
      .filter(({ rel }) => rel !== 'self')
      .map(({ target, rel }) => ({ target, rel: `${rel} timemap`, attributes: { type: linkType } })),
    ...states.map((state) => stateLink(context, { id: state.id, at: state.created_at }, 'memento')),
  ]
  const headers = {
    'Content-Type': linkType,
    ...caching,
    Link: formatLinks(pages),
    'X-Total-Count': String(total),
  }
  return { status: 200, headers, body: `${formatLinks(links, ',\n')}\n` }
}
