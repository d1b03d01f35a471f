/** Places in the text of a declaration, and the code frames that show them. */

/** A piece of one line. */
export interface SourcePlace {
  /** Counted from 1. */
  readonly line: number
  /** In UTF-16 units, counted from 1. */
  readonly column: number
  /** In UTF-16 units, at least 1. */
  readonly length: number
  /** The whole line. */
  readonly text: string
}

/** Finds the places of offsets in one text. */
export class SourceText {
  readonly #text: string
  #starts: readonly number[] | undefined

  constructor(text: string) {
    this.#text = text
  }

  /**
   * The place of a range, as far as the range is on its first line.
   *
   * @param start in UTF-16 units
   * @param end the offset after the range
   */
  place(start: number, end = start + 1): SourcePlace {
    const starts = this.#lineStarts()
    const offset = Math.max(0, Math.min(start, this.#text.length))
    const after = starts.findIndex((each) => each > offset)
    const line = after < 0 ? starts.length : after
    return this.#placeOnLine(line, offset - starts[line - 1]! + 1, end - offset)
  }

  /** The place at a line and a column, both counted from 1. */
  at(line: number, column: number): SourcePlace {
    return this.#placeOnLine(Math.min(line, this.#lineStarts().length), column, 1)
  }

  #placeOnLine(line: number, column: number, length: number): SourcePlace {
    const starts = this.#lineStarts()
    const text = this.#text.slice(starts[line - 1], starts[line]).replace(/[\r\n]+$/, '')
    return { line, column, length: Math.max(1, Math.min(length, text.length - column + 1)), text }
  }

  #lineStarts(): readonly number[] {
    this.#starts ??= [0, ...Array.from(this.#text.matchAll(/\r\n|\r|\n/g), ({ 0: end, index }) => index + end.length)]
    return this.#starts
  }
}

/** The name of a place for people: `line 3, column 7`. */
export function placeName({ line, column }: SourcePlace): string {
  return `line ${line}, column ${column}`
}

// A line in a frame: longer lines are cut around the place.
const widest = 100

/**
 * The line of a place with its number, and carets below what is wrong. Control characters are replaced, so that a
 * declaration cannot steer the terminal.
 */
export function codeFrame({ line, column, length, text }: SourcePlace): [line: string, marks: string] {
  const begin = text.length <= widest ? 0 : Math.max(0, Math.min(column - 1 - widest / 2, text.length - widest))
  const shown = text.slice(begin, begin + widest).replace(/\p{C}|[\u2028\u2029]/gu, ' ')
  const number = String(line)
  const left = column - 1 - begin
  const marks = '^'.repeat(Math.max(1, Math.min(length, widest - left)))
  return [`${number} │ ${shown}`, `${' '.repeat(number.length)} │ ${' '.repeat(left)}${marks}`]
}
