/**
 * Notes what a run must know to the end: every request that may have created something, what of it still exists, and
 * the responses that cases about the whole run judge.
 */
import type { Client } from '../client/client.ts'
import { type Answer, type Exchange, fieldOf, isSuccess, jsonOf } from '../client/exchange.ts'
import { objectOf } from '../values/json.ts'

const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Unique text in everything that the checker creates. */
const markPattern = /checked-[\da-f]{10}/g

/** The most marks, and the most paths from responses, that a ledger keeps. */
const most = 20_000

/** The most responses that are kept for cases about all of them. */
const mostKept = 5_000

/** The creations of a run. The trial and the cases share one ledger. */
export class Ledger {
  /** Paths of records that the checker created and that still exist. */
  readonly remains = new Set<string>()
  /** Paths of records that existed before the run. They are never deleted. */
  readonly foreign = new Set<string>()
  /** Marks that were sent, each with whether a request with it got another response than 201, or none. */
  readonly marks = new Map<string, boolean>()
  /** Paths of records that responses to creating requests named, by Location or by an identifier. */
  readonly named = new Set<string>()
  /** Paths of jobs that the server accepted (202). */
  readonly jobs = new Set<string>()
  /** Number of requests that may create something and got no response: their effect may come later. */
  unanswered = 0
  /** Number of records that were created, as responses say. */
  created = 0
  /** Paths whose deletion the server answered with success. */
  readonly deleted = new Set<string>()
  /** Number of records that were gone although no request deleted them by their own address. */
  vanished = 0
  /** Error responses, and those that set a cookie, for cases about the whole run. */
  readonly kept: Exchange[] = []

  /** Adds a record that the checker created. Returns false for one that existed before the run. */
  add(path: string): boolean {
    if (this.foreign.has(path)) return false
    this.remains.add(path)
    this.created++
    return true
  }

  watch(client: Client): this {
    client.watch((exchange) => this.note(exchange))
    return this
  }

  note(exchange: Exchange): void {
    const { asked, answer } = exchange
    const isKept = answer !== undefined && (answer.status >= 400 || fieldOf(answer, 'Set-Cookie') !== undefined)
    if (isKept && this.kept.length < mostKept) this.kept.push(exchange)
    if (safe.has(asked.method)) return
    if (answer?.status === 202) this.#noteJob(asked.url, answer)
    if (asked.method === 'DELETE') {
      if (isSuccess(answer) && this.deleted.size < most) this.deleted.add(bare(new URL(asked.url).pathname))
      return
    }
    const isPlain = answer?.status === 201
    for (const [mark] of `${asked.url} ${asked.body ?? ''} ${asked.bytes ?? ''}`.matchAll(markPattern)) {
      if (this.marks.size < most) this.marks.set(mark, this.marks.get(mark) === true || !isPlain)
    }
    if (answer === undefined) {
      this.unanswered++
      return
    }
    const location = fieldOf(answer, 'Location')
    if (location !== undefined && URL.canParse(location, asked.url)) this.#name(new URL(location, asked.url).pathname)
    if (!isSuccess(answer) || !URL.canParse(asked.url)) return
    const path = new URL(asked.url).pathname.replace(/\/+$/, '')
    // The path of the request is the one of the collection, or of a record in it.
    for (const id of identifiersIn(jsonOf(answer))) {
      for (const above of [path, path.slice(0, path.lastIndexOf('/'))]) this.#name(`${above}/${encodeURIComponent(id)}`)
    }
  }

  #name(path: string): void {
    if (this.named.size < most) this.named.add(bare(path))
  }

  #noteJob(from: string, answer: Answer): void {
    const { status_url: address = fieldOf(answer, 'Location') } = objectOf(jsonOf(answer))
    const url = typeof address === 'string' ? URL.parse(address, from) : null
    if (url?.origin === new URL(from).origin) this.jobs.add(url.pathname)
  }

  /** Whether a record holds a text that only the checker can have sent. */
  isMarked(record: unknown): boolean {
    return [...JSON.stringify(record).matchAll(markPattern)].some(([mark]) => this.marks.has(mark))
  }
}

/** A path without the slash that some servers want at its end. */
function bare(path: string): string {
  return path.replace(/\/+$/, '')
}

/** Usual members that hold the record in a response, and that hold its identifier. */
const envelopes = ['data', 'item', 'record', 'result']
const identifiers = ['id', '_id', 'ID', 'uuid', 'documentId', 'key']

/** The identifiers of the record in a response, without those of other records. */
function identifiersIn(body: unknown): string[] {
  const whole = objectOf(body)
  const [only, ...others] = Object.values(whole)
  // Some servers name the envelope for the record: {"city": {…}}.
  const held = others.length === 0 ? [objectOf(only)] : envelopes.map((name) => objectOf(whole[name]))
  return [whole, ...held].flatMap((record) =>
    identifiers.flatMap((name) => {
      const id = record[name]
      return (typeof id === 'string' && id !== '') || typeof id === 'number' ? [String(id)] : []
    }),
  )
}
