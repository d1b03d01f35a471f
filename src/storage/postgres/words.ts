/**
 * The words of a text in SQL, as `words` in model/text.ts takes them apart: for versions that do not show all that is searched.
 * Their words stand in no index of their own, so that the texts of what the index finds are looked at again.
 */
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { markRanges, plainLetters } from '../../model/text.ts'
import { foldToSql } from './fold.ts'

let separators: Sql | undefined

/** That texts have all of these words between them, the last as a prefix. */
export function haveWordsSql(texts: readonly Sql[], words: readonly string[]): Sql {
  // A text that is null counts as empty.
  const found = sql`' ' || ${wordsSql(sql`concat_ws(' ', ${join(texts, ', ')})`, words)} || ' '`
  const sought = words.map((word, index) => ` ${word}${index === words.length - 1 ? '' : ' '}`)
  const each = sought.map((part) => sql`strpos(found, ${part}) > 0`)
  return sql`(select ${join(each, ' and ')} from (select ${found} as found offset 0) words)`
}

/** The words of a text with a blank between them, in folded case as far as some words need it. */
function wordsSql(text: Sql, sought: readonly string[]): Sql {
  const characters = new Set([...sought.join(''), ...Object.keys(plainLetters)])
  separators ??= raw(`'[^${wordRanges()}]+'`)
  const bare = sql`normalize(regexp_replace(normalize(${text}, NFKD), ${raw(`'[${markRanges}]'`)}, '', 'g'), NFKC)`
  let plain = foldToSql(bare, characters)
  for (const [letter, letters] of Object.entries(plainLetters)) {
    plain = sql`replace(${plain}, ${raw(`'${letter}', '${letters}'`)})`
  }
  return sql`regexp_replace(${plain}, ${separators}, ' ', 'g')`
}

/** The characters of words as ranges: what PostgreSQL calls a letter depends on how a database is set. */
function wordRanges(): string {
  const character = /[\p{L}\p{N}\p{M}\p{Co}]/u
  const ranges: string[] = []
  const escaped = (code: number) => `\\U${code.toString(16).padStart(8, '0')}`
  let first: number | undefined
  for (let code = 1; code <= 0x110000; code++) {
    const isSurrogate = code >= 0xd800 && code <= 0xdfff
    const isInWord = code < 0x110000 && !isSurrogate && character.test(String.fromCodePoint(code))
    if (isInWord) first ??= code
    else if (first !== undefined) {
      ranges.push(first === code - 1 ? escaped(first) : `${escaped(first)}-${escaped(code - 1)}`)
      first = undefined
    }
  }
  return ranges.join('')
}
