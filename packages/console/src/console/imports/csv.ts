/** Reads CSV (RFC 4180) while it arrives: cells in quotes may contain line breaks, and lines end in LF, CR LF or CR. */

/** One row of a file. */
export interface Row {
  /** Where it begins, counted from 1. */
  readonly line: number
  readonly cells: readonly string[]
  /** Why it cannot be read. */
  readonly wrong?: string
}

/** Takes the next piece of a text, and returns the rows that end in it; with `isLast`, all that remain. */
type ReadRows = (text: string, isLast?: boolean) => Row[]

/** The longest cell, in characters: one that is longer has a quote that nothing closes. */
const longestCell = 4_000_000

/** @param delimiter the character between two cells */
export function csvReader(delimiter: string): ReadRows {
  let cells: string[] = []
  let cell = ''
  let place: 'start' | 'plain' | 'quoted' | 'closed' = 'start'
  let wrong: string | undefined
  let line = 1
  let begin = 1
  let before = ''
  let isBroken = false
  const endOfRow = (rows: Row[]) => {
    cells.push(cell)
    // A blank line is no row.
    if (cells.length > 1 || cell !== '') rows.push({ line: begin, cells, ...(wrong !== undefined && { wrong }) })
    cells = []
    cell = ''
    place = 'start'
    wrong = undefined
  }
  return (text, isLast = false) => {
    // Beyond an open quote nobody knows which texts are cells.
    if (isBroken) return []
    const rows: Row[] = []
    let from = 0
    for (let at = 0; at < text.length; at += 1) {
      const character = text.charAt(at)
      const isSecondOfTwo = character === '\n' && before === '\r'
      before = character
      if (place === 'quoted') {
        if (character === '\n') line += 1
        if (character !== '"') continue
        cell += text.slice(from, at)
        from = at + 1
        place = 'closed'
      } else if (character === '"' && (place === 'closed' || place === 'start')) {
        // Two quotes in a quoted cell are one.
        from = place === 'closed' ? at : at + 1
        place = 'quoted'
      } else if (isSecondOfTwo) {
        from = at + 1
      } else if (character === delimiter || character === '\n' || character === '\r') {
        cell += text.slice(from, at)
        from = at + 1
        if (character === delimiter) {
          cells.push(cell)
          cell = ''
          place = 'start'
          continue
        }
        endOfRow(rows)
        line += 1
        begin = line
      } else {
        if (place === 'closed') wrong = 'A cell goes on after its closing quote. Put the whole cell into quotes.'
        place = 'plain'
      }
    }
    cell += text.slice(from)
    isBroken = place === 'quoted' && (isLast || cell.length > longestCell)
    if (isBroken) wrong = 'A cell of the row that begins here opens a quote that nothing closes.'
    if (isBroken || (isLast && (cells.length > 0 || cell !== ''))) endOfRow(rows)
    return rows
  }
}

const delimiters = [',', ';', '\t', '|']

/** The delimiter of a text: the one that divides its first row into the most cells. */
export function guessDelimiter(text: string): string {
  const widthOf = (delimiter: string) => csvReader(delimiter)(text, true)[0]?.cells.length ?? 0
  return delimiters.reduce((best, each) => (widthOf(each) > widthOf(best) ? each : best))
}

/** One line of CSV. */
export function csvLine(cells: readonly string[], delimiter: string): string {
  const isSpecial = (cell: string) => /["\r\n]/.test(cell) || cell.includes(delimiter)
  return cells.map((cell) => (isSpecial(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(delimiter)
}
