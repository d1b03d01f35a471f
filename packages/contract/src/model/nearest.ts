/** Suggests the name that was probably meant by an unknown one. */
import { type Candidates, suggestion } from '../spec/words.ts'

/**
 * The candidate that differs least from `word`; `undefined`: none is near. One edit is allowed for each three
 * characters, at most three; swapped letters count as one. Otherwise the first candidate that continues `word`
 * (`owner`: `owner_id`).
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  // Names are shorter: this is not a typing error.
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

/** What an unknown word may have meant, for a sentence (`suggestion`). */
export function candidates(word: string, known: Iterable<string>): Candidates {
  const all = [...known]
  return { near: nearest(word, all), known: all }
}

/** The remedy for an unknown word: the nearest candidate, or a list of all. */
export function suggest(word: string, known: Iterable<string>, otherwise?: string): string {
  const found = candidates(word, known)
  return found.near === undefined && otherwise !== undefined ? otherwise : suggestion(found)
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
