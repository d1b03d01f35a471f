/**
 * Compresses responses for clients that take that. The server does it because a proxy that does it makes entity
 * tags weak.
 */
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { type Coding, compressedTag, type Encoding, encodingsFor } from 'resourced-contract/fields/accept-encoding'
import { type HttpRequest, type HttpResponse, isFile, isStream } from '../http/message.ts'
import { FairTurns, type TurnOwner } from '../storage/fair-turns.ts'
import { BoundedMap } from '../storage/sql/bounded-map.ts'

/** Longer bodies are compressed, in bytes. */
const mostUncompressed = 1_024

// Of zlib's four threads, which also read files.
const threads = 3
// How long a response waits for its turn before it gets 503, in milliseconds.
const patience = 30_000

/** The most bytes of bodies and their compressed forms that are remembered. */
const mostRemembered = 8 * 1_048_576
const largestRemembered = mostRemembered / 8

/**
 * The methods whose responses are compressed, because they show no secret: the key of POST /api-keys, for example, is
 * shown by that POST alone. An observer of the network could guess a secret from the length of a compressed body that
 * repeats a guess (BREACH).
 */
export const compressedMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'QUERY'])

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT, ZSTD_c_compressionLevel } = zlib.constants

type Compress = (body: Uint8Array) => Promise<Uint8Array>

const gzip = promisify<Uint8Array, zlib.ZlibOptions, Uint8Array>(zlib.gzip)
const brotli = promisify<Uint8Array, zlib.BrotliOptions, Uint8Array>(zlib.brotliCompress)
// Some runtimes lack it.
const hasZstd = 'zstdCompress' in zlib
const zstd = hasZstd ? promisify<Uint8Array, zlib.ZstdOptions, Uint8Array>(zlib.zstdCompress) : gzip

// Levels at which a second of a processor saves most: higher ones cost twice as much for a few percent of the bytes.
// Both sizes spare memory for longer bodies.
const compressions: Readonly<Record<Coding, Compress>> = {
  zstd: (body) => zstd(body, { params: { [ZSTD_c_compressionLevel]: 1 }, pledgedSrcSize: body.length }),
  br: (body) => brotli(body, { params: { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_SIZE_HINT]: body.length } }),
  gzip: (body) => gzip(body, { level: 4 }),
}

// The one that costs least first.
const available: readonly Encoding[] = [...(hasZstd ? (['zstd'] as const) : []), 'br', 'gzip', 'identity']

/** Compresses the responses of an application. */
export class Compressor {
  readonly #turns = new FairTurns({ running: threads, waiting: Number.POSITIVE_INFINITY, patience })
  /** By encoding and body, so that nobody gets a body that they did not get uncompressed too. */
  readonly #remembered = new BoundedMap<Uint8Array>(mostRemembered)
  /** By `Accept-Encoding`. */
  readonly #accepted = new BoundedMap<readonly Encoding[]>(100)

  /**
   * Chooses the encoding that the client takes. Files, ranges and streams stay as they are. The header fields say what
   * the choice depends on.
   *
   * @returns `undefined`: the response stays as it is
   */
  choose(request: HttpRequest, { status, headers, body }: HttpResponse): Coding | undefined {
    if (isFile(body) || isStream(body)) return undefined
    if (body === undefined && status !== 304) return undefined
    const { ETag: tag, Vary: vary } = headers
    // Pages have their encodings already.
    if (vary?.includes('Accept-Encoding')) return undefined
    const isLong = body !== undefined && isLonger(body)
    if (isLong || vary !== undefined)
      headers['Vary'] = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
    const accepted = request.headers['accept-encoding']
    if (status === 304 && tag !== undefined) {
      headers['ETag'] = confirmedTag(tag, request.headers['if-none-match'], this.#encodingsFor(accepted))
    }
    if (accepted === undefined || status === 206 || typeof body !== 'string') return undefined
    const encodings = this.#encodingsFor(accepted)
    // A short body is compressed only for a client that refuses it otherwise.
    const encoding = isLong || !encodings.includes('identity') ? encodings[0] : 'identity'
    return encoding === 'identity' ? undefined : encoding
  }

  /**
   * Compresses a response under a tag of its own.
   *
   * @param owner whose responses take turns with those of others
   * @throws StorageFault `crowded`, `abandoned`
   */
  async compress(
    request: HttpRequest,
    response: HttpResponse,
    coding: Coding,
    owner: TurnOwner,
  ): Promise<HttpResponse> {
    const body = String(response.body)
    const known = this.#remembered.get(coding + body)
    if (known !== undefined) return compressed(response, coding, known)
    return this.#turns.run(owner, () => this.#compress(response, coding, body), request.abandoned?.())
  }

  #encodingsFor(accepted: string | undefined): readonly Encoding[] {
    return this.#accepted.of(accepted ?? 'identity', () => encodingsFor(accepted, available))
  }

  async #compress(response: HttpResponse, coding: Coding, body: string): Promise<HttpResponse> {
    // The same body may have been compressed while this one waited for its turn.
    const known = this.#remembered.get(coding + body)
    if (known !== undefined) return compressed(response, coding, known)
    const bytes = await compressions[coding](Buffer.from(body))
    const weight = body.length + bytes.length
    // A body without a tag, such as the metrics, seldom comes again.
    if (response.headers['ETag'] !== undefined && weight <= largestRemembered) {
      this.#remembered.set(coding + body, bytes, weight)
    }
    return compressed(response, coding, bytes)
  }
}

function isLonger(body: string | Uint8Array): boolean {
  return body.length > mostUncompressed || Buffer.byteLength(body) > mostUncompressed
}

function compressed({ status, headers, body: _ }: HttpResponse, coding: Coding, bytes: Uint8Array): HttpResponse {
  const { ETag: tag } = headers
  const own = tag === undefined ? undefined : { ETag: withCoding(tag, coding) }
  return { status, headers: { ...headers, 'Content-Encoding': coding, ...own }, body: bytes }
}

/** The tag of a 304: the one that the client sent, of those that a 200 could have. A cache finds its response by it. */
function confirmedTag(tag: string, ifNoneMatch: string | undefined, accepted: readonly Encoding[]): string {
  const tags = [...accepted, ...available].map((each) => (each === 'identity' ? tag : withCoding(tag, each)))
  return tags.find((each) => ifNoneMatch?.includes(each)) ?? tag
}

function withCoding(tag: string, coding: Coding): string {
  return `"${compressedTag(tag.slice(1, -1), coding)}"`
}
