/** Takes a JSON array apart while it arrives: the bytes of each element, never the whole array. */

/** A part of the array, or the reason why there are no more. */
export type Part =
  | {
      readonly kind: 'element'
      /** With the white space after it. */
      readonly bytes: Uint8Array
      /** Where it begins; the column counts characters. Both from 1. */
      readonly line: number
      readonly column: number
    }
  | { readonly kind: 'too-large'; readonly line: number }
  /** The text is no array, or goes on after it, or ends within it. */
  | { readonly kind: 'broken'; readonly line: number; readonly message: string }

const byte = { quote: 0x22, comma: 0x2c, open: 0x5b, backslash: 0x5c, close: 0x5d, openBrace: 0x7b, closeBrace: 0x7d }
const newline = 0x0a

/**
 * Splits at the commas between elements. It counts brackets and skips strings, no more: whether an element is JSON, its
 * reader decides. Since a bracket out of place leaves some element that is none, the parts are all JSON exactly where
 * the whole is.
 */
export class ArraySplitter {
  readonly #mostBytes: number
  #state: 'before' | 'between' | 'element' | 'after' | 'broken' = 'before'
  /** Whether an element must follow: a comma was read. */
  #owed = false
  #depth = 0
  #inString = false
  #escaped = false
  #line = 1
  #column = 0
  #started = { line: 1, column: 1 }
  #pieces: Uint8Array[] = []
  #size = 0

  /** @param mostBytes the largest element; of a larger one nothing is kept */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** The parts that end in a chunk. */
  push(chunk: Uint8Array): Part[] {
    const parts: Part[] = []
    // Where the current element's bytes begin in this chunk.
    let from = 0
    for (let index = 0; index < chunk.length && this.#state !== 'broken'; index++) {
      const code = chunk[index] as number
      if (code === newline) {
        this.#line++
        this.#column = 0
      } else if ((code & 0xc0) !== 0x80) this.#column++
      if (this.#state === 'element') {
        if (!this.#endsAt(code)) continue
        this.#keep(chunk.subarray(from, index))
        parts.push(this.#finish())
        this.#state = code === byte.comma ? 'between' : 'after'
        this.#owed = code === byte.comma
      } else if (isBlank(code)) {
      } else if (this.#state === 'between' && code !== byte.comma && (code !== byte.close || this.#owed)) {
        this.#state = 'element'
        this.#started = { line: this.#line, column: this.#column }
        from = index
        this.#endsAt(code)
      } else if (this.#state === 'between' && code === byte.close) this.#state = 'after'
      else if (this.#state === 'before' && code === byte.open) this.#state = 'between'
      else parts.push(this.#break(this.#objection(code)))
    }
    if (this.#state === 'element') this.#keep(chunk.subarray(from))
    return parts
  }

  /** What is wrong once the text has ended. */
  end(): Part[] {
    if (this.#state === 'after' || this.#state === 'broken') return []
    if (this.#state === 'before') return [this.#break('The file is empty: it must hold a JSON array of records.')]
    if (this.#state === 'between') return [this.#break('The file ends before the array does.')]
    return [this.#break(`The file ends within the record that begins at line ${this.#started.line}.`)]
  }

  /** Whether the element ends before this byte. */
  #endsAt(code: number): boolean {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (code === byte.backslash) this.#escaped = true
      else if (code === byte.quote) this.#inString = false
      return false
    }
    if (code === byte.quote) this.#inString = true
    else if (code === byte.open || code === byte.openBrace) this.#depth++
    else if (code === byte.comma) return this.#depth === 0
    else if (code === byte.close || code === byte.closeBrace) {
      if (this.#depth === 0) return code === byte.close
      this.#depth--
    }
    return false
  }

  #keep(bytes: Uint8Array): void {
    this.#size += bytes.length
    if (this.#size > this.#mostBytes) this.#pieces = []
    else if (bytes.length > 0) this.#pieces.push(bytes)
  }

  #finish(): Part {
    const [pieces, size] = [this.#pieces, this.#size]
    this.#pieces = []
    this.#size = 0
    if (size > this.#mostBytes) return { kind: 'too-large', line: this.#started.line }
    const bytes = pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces)
    return { kind: 'element', bytes, ...this.#started }
  }

  #objection(code: number): string {
    if (this.#state === 'after') return 'Nothing may follow the array.'
    if (this.#state === 'between') return 'A record is missing before the comma.'
    const remedy = code === byte.openBrace ? ' A file with one object on each line is NDJSON: say --format ndjson.' : ''
    return `The file must hold a JSON array of records: [ must come first.${remedy}`
  }

  #break(message: string): Part {
    this.#state = 'broken'
    this.#pieces = []
    return { kind: 'broken', line: this.#line, message }
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === newline || code === 0x09 || code === 0x0d
}
