/** Limits of every interface, which declarations cannot change. LIM-3 and LIM-5 state the numbers. */

/** The most bytes of the head of a request (LIM-3). */
export const headLimits = {
  /** The request target. */
  target: 8_000,
  /** All header fields: names and values, with the four bytes that separate and end each of them on the wire. */
  headers: 16_384,
} as const

/** The most that one query may name (LIM-5). */
export const queryLimits = {
  /** Different words of `q`. */
  words: 32,
  /** Parameters that are filters. */
  filters: 50,
  /** Values of all filters together: each repeat, and each item of an `[in]`. */
  values: 1_000,
  sortTerms: 8,
  fields: 200,
  /** Characters of `q`, and of all texts together that operators such as `contains` take. */
  characters: 10_000,
} as const

/** The most that one summary may have (SUM-1). */
export const summaryLimits = {
  groups: 3,
  /** The figures of each group, beside `count`. */
  figures: 20,
  /** Different days, or months, of the records in UTC, where the periods of a zone or weeks are found. */
  slots: 20_000,
} as const

/** The most that one transaction may have (BLK-4). */
export const transactionLimits = {
  operations: 100,
  /** Records that it changes, cascades included. */
  records: 1_000,
  /** Characters of the name of an operation. */
  name: 40,
} as const
