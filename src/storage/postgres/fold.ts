/** Folding of case in SQL: for texts that have no folded column beside them (`columns.ts`), and are seldom asked for. */
import sql, { raw, type Sql } from 'sql-template-tag'
import { fold } from '../../model/text.ts'

let letters: Sql | undefined
let pairs: readonly (readonly [letter: string, folded: string])[] | undefined

/** The text of a column in folded case: exactly `fold`, whatever PostgreSQL knows of Unicode. */
export function foldSql(column: Sql): Sql {
  letters ??= lettersOf(foldedPairs())
  return sql`translate(${column}, ${letters})`
}

/** The same, as far as it makes one of some characters: far less work where only those matter. */
export function foldToSql(column: Sql, characters: ReadonlySet<string>): Sql {
  return sql`translate(${column}, ${lettersOf(foldedPairs().filter(([, folded]) => characters.has(folded)))})`
}

function lettersOf(wanted: readonly (readonly [string, string])[]): Sql {
  const [from, to] = [0, 1].map((side) => wanted.map((pair) => pair[side]).join(''))
  return raw(`'${from}', '${to}'`)
}

// `fold` takes one character for another: all pairs, once.
function foldedPairs(): readonly (readonly [string, string])[] {
  if (pairs !== undefined) return pairs
  const found: [string, string][] = []
  for (let code = 0; code <= 0x1ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const letter = String.fromCodePoint(code)
    const folded = fold(letter)
    if (folded !== letter) found.push([letter, folded])
  }
  pairs = found
  return found
}
