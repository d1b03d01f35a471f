/** The words of a record as a `tsvector` takes them. */

/** The most bytes of a lexeme. */
const longest = 2046

/** The most bytes of all lexemes together: a `tsvector` takes 1,048,575. */
const most = 1_000_000

const encoder = new TextEncoder()

/**
 * The lexemes of words, each of them once, for `array_to_tsvector`. Longer words are cut to whole characters; what is too
 * much for a `tsvector` is left out.
 *
 * @param words with blanks between (`searchText`)
 */
export function lexemesOf(words: string): string[] {
  const lexemes = new Set<string>()
  let bytes = 0
  for (const word of words.split(' ')) {
    const lexeme = lexemeOf(word)
    if (lexeme === '' || lexemes.has(lexeme)) continue
    bytes += Buffer.byteLength(lexeme)
    if (bytes > most) break
    lexemes.add(lexeme)
  }
  return [...lexemes]
}

/** A word as it stands in a `tsvector`: what is looked for has to be cut as what is found was. */
export function lexemeOf(word: string): string {
  // No UTF-16 unit takes more than three bytes.
  if (word.length * 3 <= longest) return word
  const { read } = encoder.encodeInto(word, new Uint8Array(longest))
  return word.slice(0, read)
}
