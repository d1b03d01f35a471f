/** Every way to many records, and which of them it asks for. */
import type { Action } from 'resourced-contract/model/declaration'
import type { Received, Sent } from '../harness.ts'
import { type Caller, callers, strangers } from './callers.ts'
import { type Kind, kinds, type Room } from './room.ts'
import { collectionOf } from './vault.ts'

/** A list that is asked for. */
export interface List {
  readonly room: Room
  readonly guarded: Action
  readonly path: string
  readonly caller: Caller
}

export interface Way {
  readonly name: string
  readonly query?: string
  readonly matches?: (kind: Kind) => boolean
  /** Whose parent it is nested under; `missing`: one that is not there. */
  readonly under?: 'ann' | 'bob' | 'missing'
  /** Where it is not answered with a page: the status instead of 200, once the caller is let in. */
  readonly status?: number
  /** Asks, and gives the answer that counts; a GET where left out. */
  readonly ask?: (list: List, query: string) => Promise<Answer>
}

/** A status, and where records were shown their titles and how many there are said to be. */
export interface Answer {
  readonly status: number
  readonly titles?: readonly string[]
  readonly total?: number
}

export const pageOf = ({ status, json }: Received): Answer =>
  status === 200 ? { status, titles: titlesOf(json.data), total: json.pagination.total_count } : { status }

function titlesOf(records: readonly { readonly title: string }[]): string[] {
  return records.map(({ title }) => title)
}

const asking = (more: Partial<Sent>) => async (list: List, query: string) => {
  const { status } = await list.room.send(list.caller, { path: `${list.path}?${query}`, ...more })
  return { status }
}

export const listWays: readonly Way[] = [
  { name: 'list' },
  { name: 'page', query: 'page=1&per_page=100' },
  { name: 'offset', query: 'offset=0&limit=100' },
  { name: 'filter', query: 'level=open', matches: ({ level }) => level === 'open' },
  { name: 'filter by owner', query: 'owner_id=bob', matches: ({ owner_id }) => owner_id === 'bob' },
  { name: 'filter by holder', query: 'holder[not]=ann', matches: ({ holder }) => holder !== 'ann' },
  { name: 'sort', query: 'sort=-title' },
  { name: 'q', query: 'q=open', matches: ({ name }) => name.includes('open') },
  { name: 'cursor walk', ask: walk },
  { name: "cursor of the administrator's", ask: borrow },
  { name: 'list under own', under: 'ann', matches: ({ parentOwner }) => parentOwner === 'ann' },
  { name: "list under other's", under: 'bob', matches: ({ parentOwner }) => parentOwner === 'bob' },
  { name: 'list under missing', under: 'missing' },
  { name: 'HEAD of the list', status: 200, ask: asking({ method: 'HEAD' }) },
  { name: 'list If-None-Match', status: 304, ask: asking({ headers: { 'if-none-match': '*' } }) },
  { name: 'QUERY', ask: (list) => query(list) },
  { name: 'export', ask: exported },
]
/** Those that are asked with `include_deleted` as well. */
export const deletedToo = new Set([
  'list',
  'page',
  'filter',
  'sort',
  'q',
  'cursor walk',
  'list under own',
  "list under other's",
])

async function walk({ room, caller, path }: List, query: string): Promise<Answer> {
  const titles: string[] = []
  let total: number | undefined
  let next = ''
  do {
    const { status, json } = await room.send(caller, { path: `${path}?limit=2${next}${query && `&${query}`}` })
    if (status !== 200) return { status }
    titles.push(...titlesOf(json.data))
    const { total_count, next_cursor } = json.pagination
    total ??= total_count
    if (total !== total_count) total = Number.NaN
    next = next_cursor === null ? '' : `&cursor=${next_cursor}`
  } while (next !== '')
  return { status: 200, titles, total: total ?? Number.NaN }
}

/** The first record and what follows it by the cursor of one who may see the most: it grants nothing (PAG-5). */
async function borrow({ room, guarded, caller, path }: List): Promise<Answer> {
  const first = await room.send(caller, { path: `${path}?limit=100` })
  for (const lender of callers) {
    const { status, json } = await room.send(lender, { path: `${path}?limit=1` })
    const cursor = status === 200 ? json.pagination.next_cursor : null
    if (cursor === null) continue
    const rest = await room.send(caller, { path: `${path}?limit=100&cursor=${cursor}` })
    if (rest.status !== first.status) return { status: rest.status }
    if (rest.status !== 200) continue
    const hidden = titlesOf(rest.json.data).filter((title) => {
      const kind = kinds.find(({ name }) => name === title)
      return kind === undefined || !room.allows(caller, 'read', guarded, kind)
    })
    if (hidden.length > 0) return { status: 200, titles: hidden, total: rest.json.pagination.total_count }
  }
  return pageOf(first)
}

async function query({ room, caller, path }: List): Promise<Answer> {
  return pageOf(await room.send(caller, { method: 'QUERY', path, body: { limit: 100 } }))
}

/** The lines of an export's file; and nobody else has the file, or the job (JOB-4). */
async function exported({ room, guarded, caller }: List): Promise<Answer> {
  const body = { collection: collectionOf(guarded), format: 'ndjson' }
  const asked = await room.send(caller, { path: '/v2/exports', body })
  if (asked.status !== 202) return { status: asked.status }
  await room.idle()
  const { job_id, status_url } = asked.json
  const content = `/v2/exports/${job_id}/content`
  for (const each of [...callers, ...strangers]) {
    const isAsker = each.id === caller.id
    // Others than the asker have the file where they may read everything (AUT-9).
    const readsAll = each.isAdministrator && ['anyone', 'undeclared'].includes(room.form.name)
    for (const [path, method, may] of [
      [content, 'GET', isAsker || readsAll || (each.isAdministrator && guarded !== 'read')],
      [content, 'HEAD', isAsker || readsAll || (each.isAdministrator && guarded !== 'read')],
      [status_url, 'GET', isAsker || each.isAdministrator],
    ] as const) {
      const expected = !each.isAuthenticated ? 401 : may ? 200 : 403
      const { status } = await room.send(each, { path, method })
      if (status !== expected) return { status, titles: [`${method} ${path} by ${each.name}`], total: 0 }
    }
  }
  const { status, text } = await room.send(caller, { path: content })
  const titles = titlesOf(
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line)),
  )
  return { status, titles, total: titles.length }
}
