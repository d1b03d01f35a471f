/** Near misses: which of the words that exist was probably meant. */

/**
 * The candidate that differs least from `word`, `undefined` where none is near: one edit for each three characters,
 * at most three. Two letters swapped count as one edit. Else the first that goes on where `word` ends (`owner`: `owner_id`).
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  // What is longer than any name was not mistyped.
  if (word.length > 80) return undefined
  const known = [...candidates]
  const wanted = word.toLowerCase()
  let best: string | undefined
  let least = Math.min(3, Math.max(1, Math.floor(word.length / 3))) + 1
  for (const candidate of known) {
    const edits = distance(wanted, candidate.toLowerCase())
    if (edits < least) {
      best = candidate
      least = edits
    }
  }
  return best ?? (word === '' ? undefined : known.find((candidate) => candidate.startsWith(`${wanted}_`)))
}

/** The remedy for a word that does not exist: the nearest that does, else a list of them. */
export function suggest(word: string, candidates: Iterable<string>, otherwise?: string): string {
  const known = [...candidates]
  const near = nearest(word, known)
  if (near !== undefined) return `Did you mean "${near}"?`
  if (otherwise !== undefined) return otherwise
  return known.length === 0 ? 'Remove it.' : `Use ${oneOf(known)}.`
}

/** Words as a sentence lists them: `a, b or c`; long lists are cut. */
export function oneOf(names: readonly string[], conjunction = 'or'): string {
  const shown = names.slice(0, 12)
  if (shown.length < names.length) return `${shown.join(', ')} … (${names.length} in all)`
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} ${conjunction} ${shown.at(-1)}`
}

/** Edits between two texts: insert, delete, replace, swap neighbours. */
function distance(from: string, to: string): number {
  if (Math.abs(from.length - to.length) > 3) return Number.POSITIVE_INFINITY
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const next = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1] ? 0 : 1
      let least = Math.min(next[column - 1]! + 1, last[column]! + 1, last[column - 1]! + same)
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (swapped) least = Math.min(least, before[column - 2]! + 1)
      next.push(least)
    }
    before = last
    last = next
  }
  return last[to.length]!
}
