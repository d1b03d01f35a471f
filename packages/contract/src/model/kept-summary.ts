/** Summaries and sums that are kept with every change (SUM-3, RES-17): as they are declared, and complete. */

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

/** A sum of the records of a collection that another one keeps (`sumOf`). */
export interface Total {
  /** The collection that keeps it, and the field that holds it. */
  readonly collection: string
  readonly field: string
  /** The fields of this collection: the reference, and what is added up. */
  readonly reference: string
  readonly amount: string
}
