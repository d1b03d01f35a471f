/**
 * What a client has learnt from the answers so far: where records are, what they look like, their tags, cursors and
 * jobs.
 */
import { pick, type Random } from '../durability/random.ts'
import type { Answered, Asked } from './twins.ts'

/** A record as it was last seen. */
export interface SeenRecord {
  readonly path: string
  readonly collection: string
  readonly values: Readonly<Record<string, unknown>>
}

/** What is remembered of everything; what was learnt long ago is forgotten. */
export class Known {
  readonly records = new Map<string, SeenRecord>()
  /** The addresses of records that were there once. */
  readonly gone = new Set<string>()
  readonly tags: { readonly path: string; readonly tag: string; readonly modified: string | undefined }[] = []
  /** Addresses of other pages. */
  readonly pages: string[] = []
  readonly jobs: string[] = []
  readonly files: string[] = []
  /** Requests that changed something under a key. */
  readonly keyed: Asked[] = []

  /** The id of some record of a collection that was there once. */
  idOf(random: Random, collection: string): string | undefined {
    const name = storedName(collection)
    const found = [...this.records.values()].filter((each) => storedName(each.collection) === name)
    return found.length === 0 ? undefined : String(pick(random, found.slice(-40)).values['id'])
  }

  /** Reads an answer. */
  learn(asked: Asked, { status, headers, body }: Answered): void {
    const [path = ''] = asked.target.split('?')
    if (status < 300 && asked.headers['idempotency-key'] !== undefined) remember(this.keyed, asked)
    if ((asked.method === 'DELETE' && status < 300) || status === 404) {
      if (this.records.delete(path)) this.gone.add(path)
    }
    const tag = headers['ETag']
    if (tag !== undefined) remember(this.tags, { path, tag, modified: headers['Last-Modified'] })
    for (const [, page] of (headers['Link'] ?? '').matchAll(/<([^>]+)>; rel="?(?:next|prev)/g)) {
      if (page !== undefined) remember(this.pages, page)
    }
    if (
      !/^application\/(?:problem\+)?json/.test(headers['Content-Type'] ?? '') ||
      status >= 400 ||
      status === 206 ||
      body === ''
    )
      return
    const content = JSON.parse(body) as Record<string, unknown> | unknown[]
    if (Array.isArray(content)) return
    if (typeof content['status_url'] === 'string') remember(this.jobs, content['status_url'])
    const result = content['result'] as { content_url?: unknown } | null | undefined
    if (typeof result?.content_url === 'string') remember(this.files, result.content_url)
    const [, version = '', collection = ''] = path.split('/')
    const nested =
      path.split('/').length === 5 && !path.endsWith('/restore') ? (path.split('/')[4] as string) : collection
    for (const each of Array.isArray(content['data']) ? content['data'] : [content]) {
      const values = each as Record<string, unknown>
      if (typeof values['id'] !== 'string') continue
      const place = `/${version}/${nested}/${values['id']}`
      this.records.set(place, { path: place, collection: nested, values })
      if (this.records.size > 400) this.records.delete(this.records.keys().next().value as string)
    }
  }
}

/** What versions call differently is the same. */
function storedName(collection: string): string {
  return collection === 'animals' ? 'beasts' : collection
}

function remember<T>(all: T[], each: T): void {
  all.push(each)
  if (all.length > 40) all.shift()
}
