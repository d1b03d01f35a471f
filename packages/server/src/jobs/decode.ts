/** Turns the bytes of a file into UTF-8, while they arrive. A byte order mark says the encoding, and is removed. */
import { isAscii, isUtf8 } from 'node:buffer'

/** A file is in another encoding than it was said to be. */
export class EncodingError extends Error {
  /** The line that cannot be read, counted from 1. */
  readonly line: number

  constructor(message: string, line = 1) {
    super(message)
    this.line = line
  }
}

/** Whether an encoding is known, by any of the names of the Encoding standard. */
export function isEncoding(label: string): boolean {
  return canonicalName(label) !== undefined
}

/** The name in the Encoding standard: `latin1` is `windows-1252`. */
function canonicalName(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

const marks: readonly (readonly [encoding: string, bytes: Uint8Array])[] = [
  ['utf-8', Uint8Array.of(0xef, 0xbb, 0xbf)],
  ['utf-16le', Uint8Array.of(0xff, 0xfe)],
  ['utf-16be', Uint8Array.of(0xfe, 0xff)],
]

/** How many bytes a byte order mark and the first characters need. */
const glance = 4

/** How many bytes are looked at for zeros. */
const mostLooked = 4_096

/**
 * The bytes of a file in UTF-8, without a byte order mark.
 *
 * @param given its encoding; `undefined`: by its byte order mark, otherwise UTF-8
 * @throws EncodingError where the file has another encoding
 */
export async function* decoded(
  source: AsyncIterable<Uint8Array>,
  given: string | undefined,
): AsyncGenerator<Uint8Array> {
  const said = given === undefined ? undefined : canonicalName(given)
  let start: Uint8Array | undefined = new Uint8Array()
  let decode: ((chunk?: Uint8Array) => Uint8Array) | undefined
  for await (const chunk of source) {
    let next = chunk
    if (start !== undefined) {
      start = start.length === 0 ? chunk : Buffer.concat([start, chunk])
      if (start.length < glance) continue
      next = begin(start)
      start = undefined
    }
    yield decode === undefined ? next : decode(next)
  }
  if (start !== undefined) {
    const next = begin(start)
    yield decode === undefined ? next : decode(next)
  }
  if (decode !== undefined) yield decode()

  /** Chooses the decoder by the first bytes, and returns these without their byte order mark. */
  function begin(bytes: Uint8Array): Uint8Array {
    const [marked, mark] = marks.find(([, each]) => each.every((byte, index) => bytes[index] === byte)) ?? []
    refuseOther(bytes, said, marked)
    const encoding = said ?? marked ?? 'utf-8'
    if (encoding !== 'utf-8') decode = decoderOf(encoding)
    return mark === undefined ? bytes : bytes.subarray(mark.length)
  }
}

/** @throws EncodingError where the first bytes show another encoding than the one that is said or marked */
function refuseOther(bytes: Uint8Array, said: string | undefined, marked: string | undefined): void {
  if (said !== undefined && marked !== undefined && said !== marked) {
    const found = `The file begins with the byte order mark of ${marked}, so it is not ${said}.`
    throw new EncodingError(`${found} Leave --encoding out.`)
  }
  if (marked !== undefined) return
  if (said === undefined || said === 'utf-8') {
    const wide = wideOf(bytes)
    if (wide === undefined) return
    throw new EncodingError(`The file is not UTF-8: it looks like ${wide}. Say --encoding ${wide}.`)
  }
  if (said.startsWith('utf-16')) {
    const wide = wideOf(bytes)
    if (wide !== undefined && wide !== said) {
      throw new EncodingError(`The file looks like ${wide}, not ${said}. Say --encoding ${wide}.`)
    }
    if (wide === undefined && bytes.includes(0x0a) && !bytes.includes(0) && isUtf8(whole(bytes))) {
      throw new EncodingError(`The file is UTF-8, not ${said}. Leave --encoding out.`)
    }
  } else if (isUtf8(whole(bytes)) && !isAscii(whole(bytes))) {
    throw new EncodingError(`The file is UTF-8, not ${said}. Leave --encoding out.`)
  }
}

/** UTF-16 without a byte order mark: most characters of any language's markup and digits have a zero byte. */
function wideOf(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | undefined {
  const zeros = [0, 0]
  for (const [index, byte] of bytes.subarray(0, mostLooked).entries()) if (byte === 0) zeros[index % 2]!++
  const [even, odd] = zeros as [number, number]
  if (even + odd < Math.min(bytes.length, mostLooked) / 10) return undefined
  return odd > 10 * even ? 'utf-16le' : even > 10 * odd ? 'utf-16be' : undefined
}

/** UTF-8 without a last character that is cut off. */
function whole(bytes: Uint8Array): Uint8Array {
  if (isUtf8(bytes)) return bytes
  const last = bytes.findLastIndex((byte) => byte >= 0xc0)
  return last >= bytes.length - 3 ? bytes.subarray(0, Math.max(last, 0)) : bytes
}

/** A function that turns the chunks of a text into UTF-8, and without a chunk ends the text. */
function decoderOf(encoding: string): (chunk?: Uint8Array) => Uint8Array {
  const decoder = new TextDecoder(encoding, { fatal: true })
  let line = 1
  return (chunk) => {
    try {
      const bytes = Buffer.from(chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true }))
      for (const byte of bytes) if (byte === 0x0a) line++
      return bytes
    } catch {
      throw new EncodingError(
        `The file is not ${encoding} from about here on. Name its encoding with --encoding.`,
        line,
      )
    }
  }
}
