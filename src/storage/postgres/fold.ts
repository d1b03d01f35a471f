/** Folding of case in SQL: for texts that have no folded column beside them (`columns.ts`), and are seldom asked for. */
import sql, { raw, type Sql } from 'sql-template-tag'
import { fold } from '../../model/text.ts'

let letters: Sql | undefined

/** The text of a column in folded case: exactly `fold`, whatever PostgreSQL knows of Unicode. */
export function foldSql(column: Sql): Sql {
  letters ??= makeLetters()
  return sql`translate(${column}, ${letters})`
}

// `fold` takes one character for another: all pairs, once.
function makeLetters(): Sql {
  let [from, to] = ['', '']
  for (let code = 0; code <= 0x1ffff; code++) {
    if (code >= 0xd800 && code <= 0xdfff) continue
    const letter = String.fromCodePoint(code)
    const folded = fold(letter)
    if (folded === letter) continue
    from += letter
    to += folded
  }
  return raw(`'${from}', '${to}'`)
}
