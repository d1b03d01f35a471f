/**
 * The parts of a full-text index, so that no single change takes long: FTS5 merges all entries of a word at once, and
 * doubles its list of deleted rows at once, which takes longer in a larger index. See
 * docs/decisions/015-search-in-parts.md.
 */

/** How many parts an index has. */
export const searchParts = 16

/** How many adjacent rows share a part: rows that are written or purged together mostly have adjacent numbers. */
const run = 2 ** 15

/**
 * The part that has the words of a row. Existing databases depend on it: a change of this function must rebuild all
 * indexes.
 */
export function partOf(row: number): number {
  return Math.floor(row / run) % searchParts
}

/** The first row after the adjacent rows that share a part with this one. */
export function endOfRun(row: number): number {
  return (Math.floor(row / run) + 1) * run
}

/** The table of a part. Its number comes last: the names of FTS5's own tables never end so. */
export function partName(search: string, part: number): string {
  return `${search}_${part}`
}

/** The table that had all words of a collection before there were parts; it is dropped when the parts are created. */
export function undividedSearch(collection: string): string {
  return `resourced_search_${collection}`
}

/** The tables of all parts. */
export function partNames(search: string): string[] {
  return Array.from({ length: searchParts }, (_, part) => partName(search, part))
}
