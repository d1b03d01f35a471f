/**
 * A full-text index in parts, so that no change of it takes long. FTS5 merges all that it holds of a word at one go,
 * and doubles its list of deleted rows at one go: the larger the index, the longer. See
 * docs/decisions/015-search-in-parts.md.
 */

/** How many parts an index has. */
export const searchParts = 16

/**
 * How many rows stand together in a part: what is written together, or purged together, mostly has numbers side by
 * side.
 */
const run = 2 ** 15

/** The part that has the words of a row. Databases are made by it: what changes it must build all indexes anew. */
export function partOf(row: number): number {
  return Math.floor(row / run) % searchParts
}

/** The first row after those that stand together with this one. */
export function endOfRun(row: number): number {
  return (Math.floor(row / run) + 1) * run
}

/** The table of a part. Its number stands last, where no table has it that FTS5 makes for itself. */
export function partName(search: string, part: number): string {
  return `${search}_${part}`
}

/** The table that held all words of a collection before there were parts: it goes when they are made. */
export function undividedSearch(collection: string): string {
  return `resourced_search_${collection}`
}

/** The tables of all parts. */
export function partNames(search: string): string[] {
  return Array.from({ length: searchParts }, (_, part) => partName(search, part))
}
