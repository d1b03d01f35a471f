/** How much one query may name (LIM-5): the numbers, for those who read queries and those who describe them. */

/** The most of each. */
export const queryBounds = {
  /** Different words of `q`. */
  words: 32,
  /** Parameters that are filters. */
  filters: 50,
  /** Values of all filters together: each repeat, and each item of an `[in]`. */
  values: 1_000,
  sortTerms: 8,
  fields: 200,
  /** Characters of `q`, and of all texts of `contains` and `starts_with` together. */
  characters: 10_000,
} as const
