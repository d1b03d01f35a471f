/** The steps from what a database holds to what it should hold, as plain data. */
import type { Conversion, Field } from '../../model/resource.ts'
import type { Held } from '../sql/table-spec.ts'
import type { ColumnSpec, IndexSpec, SearchSpec, TableSpec } from '../sql/tables.ts'

/** What a step would destroy: rows of a table, or values of a column. */
export type Loss = 'nothing' | { readonly rows: number } | { readonly values: number }

/** What has to be counted before a step can be judged. Each engine answers with one statement. */
export type Question =
  | { readonly ask: 'rows'; readonly table: string }
  /** Rows that have a value (`values`), or none (`nulls`), in a column. */
  | { readonly ask: 'values' | 'nulls'; readonly table: string; readonly column: string }
  /** Values that `convertValue` cannot convert. */
  | {
      readonly ask: 'inconvertible'
      readonly table: string
      readonly column: string
      readonly from: Held
      readonly to: Held
    }
  /** Live rows beyond the first of each group that has the same values, none of them `null`. */
  | { readonly ask: 'duplicates'; readonly table: string; readonly columns: readonly string[] }

/** The answer to a question. */
export interface Answer {
  readonly count: number
  /** The id of one record counted. */
  readonly example?: string | undefined
}

/** What a step does. */
export type Change =
  | { readonly kind: 'create-table'; readonly spec: TableSpec }
  | { readonly kind: 'drop-table'; readonly search: string | undefined }
  | { readonly kind: 'add-column'; readonly column: ColumnSpec }
  | { readonly kind: 'drop-column'; readonly column: string }
  | { readonly kind: 'change-type'; readonly column: ColumnSpec; readonly from: Held }
  /** Gives the column's default to rows that have no value. */
  | { readonly kind: 'fill-default'; readonly column: ColumnSpec }
  /** From now on no row may lack a value, or every row may. The database is only asked: the program keeps it. */
  | { readonly kind: 'require'; readonly column: string }
  | { readonly kind: 'allow-null'; readonly column: string }
  /** Fills a column that is made from another one. */
  | { readonly kind: 'derive-column'; readonly column: ColumnSpec }
  | { readonly kind: 'create-index'; readonly index: IndexSpec }
  | { readonly kind: 'drop-index'; readonly index: string }
  /** Makes the full-text index anew from the rows. */
  | { readonly kind: 'build-search'; readonly search: SearchSpec }
  | { readonly kind: 'drop-search'; readonly search: string }
  | { readonly kind: 'rename-table'; readonly to: string }
  /** By the old name. */
  | { readonly kind: 'rename-columns'; readonly columns: ReadonlyMap<string, string> }
  /** Gives values the form that a declared change says. */
  | {
      readonly kind: 'convert-column'
      readonly column: ColumnSpec
      readonly from: Held
      readonly conversion: Conversion
      readonly field: Field
    }
  /** Makes records of the API keys of a database in which they were none. */
  | { readonly kind: 'move-keys' }
  /** Counts the records of a collection. */
  | { readonly kind: 'set-clock' }
  /** Something that is not ours has a name that we need. */
  | { readonly kind: 'blocked' }

/** One step. Until its question is answered and `weigh` has read the answer, it is taken to be harmless. */
export type MigrationStep = Change & {
  readonly table: string
  /** What it does, for people. */
  readonly sentence: string
  readonly loses: Loss
  /** It cannot be done; the sentence says why, and what would help. */
  readonly impossible: boolean
  readonly question: Question | undefined
}

/** A step that has not been weighed. */
export function step(table: string, change: Change, sentence: string, question?: Question): MigrationStep {
  return { ...change, table, sentence, loses: 'nothing', impossible: change.kind === 'blocked', question }
}

/** Whether a step can be taken without asking anyone. */
export function isHarmless(step: MigrationStep): boolean {
  return step.loses === 'nothing' && !step.impossible
}
