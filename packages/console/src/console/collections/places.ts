/**
 * Where the pages of a list begin. A page is found by the cursor of the one before it, so the places of all pages that
 * somebody has passed are kept: the records are not, and are read again when they are needed. Whoever jumps to another
 * part of the list gets pages by their number there.
 */
import type { Page } from '../interface/records.ts'

export interface Place {
  /** The cursor of the page, or how many records are before it; `undefined`: the first page. */
  readonly at: string | number | undefined
  /** How many records are before it. */
  readonly start: number
}

export const firstPlace: Place = { at: undefined, start: 0 }

/** A part of a list: from a row to the one after its last one. */
interface Rows {
  readonly first: number
  readonly end: number
}

/**
 * The places of the pages that have some rows, as far as cursors lead there.
 *
 * @param size how many records a page has
 */
export function placesWithin(places: readonly Place[], { first, end }: Rows, size: number): Place[] {
  return places.filter(({ start }, index) => start < end && (places[index + 1]?.start ?? start + size) > first)
}

/** The places of the pages that have some rows to which no cursor leads yet. */
export function numberedPlaces(places: readonly Place[], { first, end }: Rows, size: number): Place[] {
  const known = (places.at(-1)?.start ?? 0) + size
  // The next cursor comes with the last page that is known.
  if (first < known) return []
  const begin = Math.floor(first / size)
  return Array.from({ length: Math.max(0, Math.ceil(end / size) - begin) }, (_, index) => {
    const start = (begin + index) * size
    return { at: start, start }
  })
}

/**
 * Notes where the page after a page begins.
 *
 * @returns `places` itself if that is known. If the page has changed, the places after it are forgotten.
 */
export function withPage(places: readonly Place[], { at, start }: Place, page: Page): readonly Place[] {
  const index = places.findIndex((place) => place.at === at && place.start === start)
  if (index === -1) return places
  const next = places[index + 1]
  const end = start + page.data.length
  const found = page.pagination.next_cursor ?? undefined
  if (next?.at === found && (next === undefined || next.start === end)) return places
  return [...places.slice(0, index + 1), ...(found === undefined ? [] : [{ at: found, start: end }])]
}
