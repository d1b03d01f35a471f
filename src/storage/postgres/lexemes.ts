/**
 * The words of a record as a `tsvector` takes them. A longer word than it takes stands there in pieces, each after the hash
 * of all that comes before it: so that it is found whole, and by whatever it begins with, as on every engine.
 */
import { hash } from 'node:crypto'

/** The most bytes of a word in one piece, and of a piece of a longer one. With what stands beside it a lexeme has 2,046 at most. */
const longest = 2_000

/** The most bytes of all lexemes together: a `tsvector` takes 1,048,575. */
const most = 1_000_000

const encoder = new TextEncoder()

// Words have neither sign. Pieces begin with the first, and the last one ends with the second.
const piece = '/'
const end = '.'

/**
 * The lexemes of words, each of them once, for `array_to_tsvector`. What is too much for a `tsvector` is left out.
 *
 * @param words with blanks between (`searchText`)
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

/** The lexeme that records with a word have, and no others. */
export function lexemeOf(word: string): string {
  return piecesOf(word).at(-1) as string
}

/** What one lexeme of a record begins with exactly if one of its words begins so. */
export function lexemePrefixOf(beginning: string): string {
  const lexeme = lexemeOf(beginning)
  return lexeme.endsWith(end) ? lexeme.slice(0, -end.length) : lexeme
}

function piecesOf(word: string): string[] {
  // No UTF-16 unit takes more than three bytes.
  if (word.length * 3 <= longest) return [word]
  const pieces: string[] = []
  let before = ''
  while (before.length < word.length) {
    const { read } = encoder.encodeInto(word.slice(before.length), new Uint8Array(longest))
    const part = word.slice(before.length, before.length + read)
    const isLast = before.length + read === word.length
    if (isLast && before === '') return [word]
    // The first piece begins as the word does: a shorter beginning finds it.
    const mark = before === '' ? '' : `${piece}${hash('sha256', before, 'base64url').slice(0, 22)}`
    pieces.push(before === '' ? `${part}${piece}` : `${mark}${part}${isLast ? end : ''}`)
    before += part
  }
  return pieces
}
