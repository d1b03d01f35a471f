/** A page of a collection: its envelope, links and header fields (PAG-3, PAG-7). */
import { formatLinks, type Link } from '../http/fields/link.ts'
import type { HttpResponse } from '../http/message.ts'
import type { Position } from '../model/predicate.ts'
import { sealCursor } from '../plan/cursor.ts'
import type { PageOutcome, ReadPage } from '../plan/plan.ts'
import { type Fault, fault } from '../spec/faults.ts'
import { listCaching, type ReplyContext } from './headers.ts'

/** Makes the response that shows a page. */
export function pageResponse(plan: ReadPage, outcome: PageOutcome, context: ReplyContext): HttpResponse {
  const { pagination, links } = describe(plan, outcome, context)
  return {
    status: 200,
    headers: {
      'Content-Type': 'application/json',
      ...listCaching(plan.versionResource ?? plan.resource, outcome.tag),
      // A QUERY is more than its address: a link could not lead back to it.
      ...(context.request.method === 'QUERY' ? {} : { Link: formatLinks(links) }),
      'X-Total-Count': String(outcome.total),
    },
    body: `{"data":[${outcome.json}],"pagination":${JSON.stringify(pagination)}}\n`,
  }
}

/** The refusal of a page whose records have too many bytes, with the page size that fits (LIM-6). */
export function pageTooLarge({ page }: ReadPage, fits: number): Fault {
  const parameter = page.style === 'page' ? 'per_page' : 'limit'
  const records = fits === 1 ? 'one of its records fits' : `${fits} of its records fit`
  const message = `The page has too many bytes: ${records}. Use ${parameter}=${fits}.`
  const advice = 'for fewer fields, or by cursor: such a page ends early and says where to go on.'
  const detail = `Ask with ${parameter}=${fits}, ${advice}`
  return fault('PAGE_TOO_LARGE', { detail, errors: [{ code: 'PAGE_TOO_LARGE', message, parameter }] })
}

interface Description {
  readonly pagination: Readonly<Record<string, unknown>>
  readonly links: Link[]
}

function describe(plan: ReadPage, outcome: PageOutcome, context: ReplyContext): Description {
  const { page } = plan
  const total_count = outcome.total
  const link = linker(context)
  if (page.style === 'page') {
    const { perPage } = page
    const pages = Math.ceil(total_count / perPage)
    const at = (rel: string, number: number) => link(rel, { page: String(number), per_page: String(perPage) })
    const links = [at('first', 1)]
    if (page.page > 1) links.push(at('prev', Math.min(page.page - 1, Math.max(pages, 1))))
    if (page.page < pages) links.push(at('next', page.page + 1))
    links.push(at('last', Math.max(pages, 1)))
    return { pagination: { total_count, page: page.page, per_page: perPage, total_pages: pages }, links }
  }
  if (page.style === 'offset') {
    const { offset, limit } = page
    const at = (rel: string, start: number) => link(rel, { offset: String(start), limit: String(limit) })
    const links = [at('first', 0)]
    const last = total_count === 0 ? 0 : Math.floor((total_count - 1) / limit) * limit
    if (offset > 0) links.push(at('prev', Math.max(0, Math.min(offset, total_count) - limit)))
    if (offset + limit < total_count) links.push(at('next', offset + limit))
    links.push(at('last', last))
    return { pagination: { total_count, offset, limit }, links }
  }
  const seal = (direction: Position['direction'], keys: Position['keys'] | undefined): string | null =>
    keys === undefined ? null : sealCursor(context.cursorSecret, plan.cursorBinding ?? '', { direction, keys })
  const next_cursor = seal('forward', outcome.next)
  const previous_cursor = seal('backward', outcome.previous)
  const limit = String(page.limit)
  const links = [link('first', { limit })]
  if (previous_cursor !== null) links.push(link('prev', { cursor: previous_cursor, limit }))
  if (next_cursor !== null) links.push(link('next', { cursor: next_cursor, limit }))
  return { pagination: { total_count, limit: page.limit, next_cursor, previous_cursor }, links }
}

/** Makes links to other pages of the same list: the query as it was sent, the page parameters replaced. */
function linker({ path, query }: ReplyContext) {
  const kept = query.split('&').filter((part) => part !== '' && !/^(page|per_page|offset|limit|cursor)(=|$)/.test(part))
  const prefix = `${path}?${kept.map((part) => `${part}&`).join('')}`
  return (rel: string, parameters: Readonly<Record<string, string>>): Link => {
    const own = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
    return { target: `${prefix}${own.join('&')}`, rel }
  }
}
