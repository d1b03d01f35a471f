/**
 * Search in SQL of PostgreSQL, with the results of every other engine: case folding (`fold` in model/text.ts), the
 * words of a record as lexemes of a `tsvector`, and the words of a text (`words` in model/text.ts).
 */

import { hash } from 'node:crypto'
import sql, { join, raw, type Sql } from 'sql-template-tag'
import { fold, markRanges, plainLetters } from '../../model/text.ts'

let letters: Sql | undefined
let pairs: readonly (readonly [letter: string, folded: string])[] | undefined

/**
 * The text of a column in folded case: exactly as `fold`, independent of PostgreSQL's version of Unicode. For texts
 * without a folded column.
 */
export function foldSql(column: Sql): Sql {
  letters ??= lettersOf(foldedPairs())
  return sql`translate(${column}, ${letters})`
}

/** The same for letters that fold to some characters only, which is far less work. */
export function foldToSql(column: Sql, characters: ReadonlySet<string>): Sql {
  return sql`translate(${column}, ${lettersOf(foldedPairs().filter(([, folded]) => characters.has(folded)))})`
}

function lettersOf(wanted: readonly (readonly [string, string])[]): Sql {
  const [from, to] = [0, 1].map((side) => wanted.map((pair) => pair[side]).join(''))
  return raw(`'${from}', '${to}'`)
}

// `fold` replaces single characters: this finds all pairs, once.
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

/**
 * The most bytes of a word that is one lexeme, and of a piece of a longer word. PostgreSQL allows 2,046 bytes for a
 * lexeme.
 */
const longest = 2_000

/** The most bytes of all lexemes of a record: a `tsvector` holds 1,048,575. */
const most = 1_000_000

const encoder = new TextEncoder()

// Words contain neither character. Pieces begin with the first, and the last piece ends with the second.
const piece = '/'
const end = '.'

/**
 * The distinct lexemes of words, for `array_to_tsvector`; those that a `tsvector` cannot hold are left out. A word that
 * is too long is stored in pieces, each after a hash of all that comes before it, so that the whole word and every
 * prefix of it are found.
 *
 * @param words separated by blanks (`searchText`)
 */
export function lexemesOf(words: string): string[] {
  const lexemes = new Set<string>()
  let bytes = 0
  for (const word of words.split(' ')) {
    for (const lexeme of word === '' ? [] : piecesOf(word)) {
      if (lexemes.has(lexeme)) continue
      bytes += Buffer.byteLength(lexeme)
      if (bytes > most) return [...lexemes]
      lexemes.add(lexeme)
    }
  }
  return [...lexemes]
}

/** The lexeme that exactly the records with a word have. */
export function lexemeOf(word: string): string {
  return piecesOf(word).at(-1) as string
}

/** The prefix that a lexeme of a record has exactly if one of its words begins with `beginning`. */
export function lexemePrefixOf(beginning: string): string {
  const lexeme = lexemeOf(beginning)
  return lexeme.endsWith(end) ? lexeme.slice(0, -end.length) : lexeme
}

function piecesOf(word: string): string[] {
  // A UTF-16 unit takes three bytes at most.
  if (word.length * 3 <= longest) return [word]
  const pieces: string[] = []
  let before = ''
  while (before.length < word.length) {
    const { read } = encoder.encodeInto(word.slice(before.length), new Uint8Array(longest))
    const part = word.slice(before.length, before.length + read)
    const isLast = before.length + read === word.length
    if (isLast && before === '') return [word]
    // The first piece begins as the word does, so a shorter prefix finds it.
    const mark = before === '' ? '' : `${piece}${hash('sha256', before, 'base64url').slice(0, 22)}`
    pieces.push(before === '' ? `${part}${piece}` : `${mark}${part}${isLast ? end : ''}`)
    before += part
  }
  return pieces
}

let separators: Sql | undefined

/**
 * Whether texts have all of these words between them, the last as a prefix. For versions that do not show all texts
 * that are searched.
 */
export function haveWordsSql(texts: readonly Sql[], words: readonly string[]): Sql {
  // `concat_ws` skips texts that are null.
  const found = sql`' ' || ${wordsSql(sql`concat_ws(' ', ${join(texts, ', ')})`, words)} || ' '`
  const sought = words.map((word, index) => ` ${word}${index === words.length - 1 ? '' : ' '}`)
  const each = sought.map((part) => sql`strpos(found, ${part}) > 0`)
  return sql`(select ${join(each, ' and ')} from (select ${found} as found offset 0) words)`
}

/** The words of a text, separated by blanks, in folded case as far as the sought words need it. */
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

/** The characters of words as ranges: what PostgreSQL treats as a letter depends on the locale of the database. */
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
