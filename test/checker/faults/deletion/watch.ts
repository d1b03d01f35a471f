/** What faults of deletion remember of the records that went by. */
import type { Fault, PlantedAnswer, PlantedRequest, Server } from '../../planted.ts'

export type Row = Readonly<Record<string, unknown>>

/** Records by their paths, from the root: as they were made, and what became of them by requests of their own. */
export interface Watch {
  readonly made: Map<string, Row>
  /** When. */
  readonly deleted: Map<string, number>
  readonly restored: Set<string>
}

/** A fault that remembers. */
export function watched(plant: (server: Server, watch: Watch) => Server): Fault['plant'] {
  return (server) => {
    const watch: Watch = { made: new Map(), deleted: new Map(), restored: new Set() }
    return plant(async (request) => {
      const answer = await server(request)
      note(watch, request, answer)
      return answer
    }, watch)
  }
}

function note({ made, deleted, restored }: Watch, { method, path }: PlantedRequest, answer: PlantedAnswer): void {
  if (answer.status >= 300) return
  const { location } = answer.headers
  if (method === 'POST' && answer.status === 201 && location !== undefined) made.set(location, rowOf(answer))
  if (method === 'DELETE' && !path.includes('?')) {
    deleted.set(path, Date.now())
    restored.delete(path)
  }
  if (method === 'POST' && path.endsWith('/restore')) {
    deleted.delete(path.slice(0, -'/restore'.length))
    restored.add(path.slice(0, -'/restore'.length))
  }
}

/** A fault in answers. */
export function answering(change: (answer: PlantedAnswer, request: PlantedRequest) => PlantedAnswer): Fault['plant'] {
  return (server) => async (request) => change(await server(request), request)
}

/** An answer's body, an object. */
export function rowOf({ body }: Pick<PlantedAnswer, 'body'>): Row {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as Row) : {}
  } catch {
    return {}
  }
}

/** An answer with another body, and status. */
export function telling(answer: PlantedAnswer, body: unknown, status = answer.status): PlantedAnswer {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { ...answer.headers, 'content-type': 'application/json', 'content-length': '0' }
  return { status, headers, body: text }
}

export function withStatus(answer: PlantedAnswer, status: number): PlantedAnswer {
  return { ...answer, status }
}

/** A message without a header field. */
export function without<T extends { readonly headers: PlantedRequest['headers'] }>(message: T, name: string): T {
  const { [name]: _, ...headers } = message.headers
  return { ...message, headers }
}

/** The records that a list shows. */
export function dataOf(answer: Pick<PlantedAnswer, 'body'>): readonly Row[] | undefined {
  const { data } = rowOf(answer) as { data?: readonly Row[] }
  return data
}

/** A list with other records. */
export function showing(answer: PlantedAnswer, data: readonly unknown[]): PlantedAnswer {
  return telling(answer, { ...rowOf(answer), data })
}

/** The path of a record's collection, and the identifiers that a bulk deletion lists. */
export function collectionOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

export function idsIn({ body }: PlantedRequest): readonly unknown[] {
  const { ids } = rowOf({ body }) as { ids?: unknown }
  return Array.isArray(ids) ? ids : []
}

export function isBulk({ method, path }: PlantedRequest): boolean {
  return method === 'POST' && path.endsWith('/bulk-delete')
}

/** A plain list of a collection, by one filter: its path, and the value of the filter. */
export function filteredList({ method, path }: PlantedRequest): { path: string; value: string } | undefined {
  const found = /^(\/v3\/[a-z]+)\?(name|text|label)=([^&]*)$/.exec(path)
  if (method !== 'GET' || found === null) return undefined
  return { path: found[1] as string, value: decodeURIComponent(found[3] as string) }
}

/** What records of one case have in common. */
export function markOf(row: Row | undefined): unknown {
  return row?.['name'] ?? row?.['text'] ?? row?.['label']
}
