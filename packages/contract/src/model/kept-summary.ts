/** Summaries whose figures are kept (SUM-3): as they are declared, and complete. */

/** Figures that are kept with every change of a record (SUM-3). */
export interface SummaryDeclaration {
  /** The groups, as `group` of a request names them: at most three; none: one row for all records. */
  readonly group: readonly string[]
  /** Fields that are added up: integers and decimals. */
  readonly sum?: readonly string[]
}

/** The same, complete. Groups have the names that requests have. */
export interface KeptSummary {
  readonly name: string
  readonly groups: readonly string[]
  readonly sums: readonly string[]
}
