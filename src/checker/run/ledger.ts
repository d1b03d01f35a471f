/** What a run has sent that may have created something, and what of it still exists. */
import { type Answer, type Exchange, fieldOf, jsonOf } from '../client/exchange.ts'

const safe: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** A text that the checker puts into what it creates: unique, and recognisable in any record. */
const markPattern = /checked-[\da-f]{10}/g

/** The most marks that are kept in mind apart, and the most identifiers that answers named. */
const most = 20_000

/** The creations of a run. One ledger serves discovery and cases alike. */
export class Ledger {
  /** Records that exist and are the checker's: paths from the root. */
  readonly remains = new Set<string>()
  /** Records that existed before the run: paths from the root. They are never deleted. */
  readonly foreign = new Set<string>()
  /** The marks that were sent, each with whether some request that carried it was not plainly answered 201. */
  readonly marks = new Map<string, boolean>()
  /** Paths of records that answers to requests which may create have named: by Location, or by an identifier. */
  readonly named = new Set<string>()
  /** Addresses of jobs that were accepted (202). */
  readonly jobs = new Set<string>()
  /** How many requests that may create got no answer: their effect may come later. */
  unanswered = 0
  /** How many records were created, as far as answers say so. */
  created = 0

  /** Notes a request and its answer. */
  note({ asked, answer }: Exchange): void {
    if (safe.has(asked.method)) return
    if (answer?.status === 202) this.#noteJob(asked.url, answer)
    // A deletion creates a job at most.
    if (asked.method === 'DELETE') return
    const isPlain = answer?.status === 201
    for (const [mark] of `${asked.url} ${asked.body ?? ''} ${asked.bytes ?? ''}`.matchAll(markPattern)) {
      if (this.marks.size < most) this.marks.set(mark, this.marks.get(mark) === true || !isPlain)
    }
    if (answer === undefined) {
      this.unanswered++
      return
    }
    const location = fieldOf(answer, 'Location')
    if (location !== undefined && URL.canParse(location, asked.url) && this.named.size < most) {
      this.named.add(new URL(location, asked.url).pathname)
    }
    if (answer.status >= 300 || this.named.size >= most || !URL.canParse(asked.url)) return
    const path = new URL(asked.url).pathname.replace(/\/+$/, '')
    // A request goes to the collection of what it creates, or to a record beside it.
    for (const id of idsIn(jsonOf(answer))) {
      for (const above of [path, path.slice(0, path.lastIndexOf('/'))])
        this.named.add(`${above}/${encodeURIComponent(id)}`)
    }
  }

  /** Adds a record that the checker created. Returns false for one that existed before the run: it must not be touched. */
  add(path: string): boolean {
    if (this.foreign.has(path)) return false
    this.remains.add(path)
    this.created++
    return true
  }

  #noteJob(from: string, answer: Answer): void {
    const address = textIn(jsonOf(answer), 'status_url') ?? fieldOf(answer, 'Location')
    if (address === undefined || !URL.canParse(address, from)) return
    const url = new URL(address, from)
    if (url.origin === new URL(from).origin) this.jobs.add(url.pathname)
  }

  /** Whether a record holds a text that only the checker can have sent. */
  isMarked(record: unknown): boolean {
    const text = typeof record === 'string' ? record : JSON.stringify(record)
    return [...text.matchAll(markPattern)].some(([mark]) => this.marks.has(mark))
  }
}

/** The identifiers that an answer gives its record: bare, or in an envelope. Those of other records are none. */
function idsIn(body: unknown): string[] {
  return [body, ...envelopes.map((name) => memberOf(body, name))].flatMap((record) =>
    identifiers.flatMap((name) => {
      const id = memberOf(record, name)
      return (typeof id === 'string' && id !== '') || typeof id === 'number' ? [String(id)] : []
    }),
  )
}

const envelopes = ['data', 'item', 'record', 'result']
const identifiers = ['id', '_id', 'ID', 'uuid', 'key']

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

function textIn(value: unknown, name: string): string | undefined {
  const found = memberOf(value, name)
  return typeof found === 'string' ? found : undefined
}
