/** Migration steps as data: what each one does, what it would lose, and whether it may be taken. */
import type { Conversion, Field } from '../../model/resource.ts'
import type { ColumnSpec, Held, IndexSpec, SearchSpec, TableSpec } from '../sql/table-spec.ts'

/** What a step would destroy: rows of a table, or values of a column. */
export type Loss = 'nothing' | { readonly rows: number } | { readonly values: number }

/** What has to be counted before a step can be assessed. */
export type Question =
  | { readonly ask: 'rows'; readonly table: string }
  /** Rows with a value (`values`) or without one (`nulls`) in a column. */
  | { readonly ask: 'values' | 'nulls'; readonly table: string; readonly column: string }
  /** Values that `convertValue` cannot convert. */
  | {
      readonly ask: 'inconvertible'
      readonly table: string
      readonly column: string
      readonly from: Held
      readonly to: Held
    }
  /** Live rows beyond the first of each group with the same values, none of them `null`. */
  | { readonly ask: 'duplicates'; readonly table: string; readonly columns: readonly string[] }

/** The answer to a question. */
export interface Answer {
  readonly count: number
  /** The id of one counted record. */
  readonly example?: string | undefined
}

/** What a step does. */
export type Change =
  | { readonly kind: 'create-table'; readonly spec: TableSpec }
  | { readonly kind: 'drop-table' }
  | { readonly kind: 'add-column'; readonly column: ColumnSpec }
  | { readonly kind: 'drop-column'; readonly column: string }
  | { readonly kind: 'change-type'; readonly column: ColumnSpec; readonly from: Held }
  /** Writes the column's default into rows without a value. */
  | { readonly kind: 'fill-default'; readonly column: ColumnSpec }
  /** Changes only what is remembered of a column: the program, not the database, enforces required fields. */
  | { readonly kind: 'require'; readonly column: string }
  | { readonly kind: 'allow-null'; readonly column: string }
  /** Fills a column that is derived from another one. */
  | { readonly kind: 'derive-column'; readonly column: ColumnSpec }
  | { readonly kind: 'create-index'; readonly index: IndexSpec }
  | { readonly kind: 'drop-index'; readonly index: string }
  /** Rebuilds the full-text index from the rows. */
  | { readonly kind: 'build-search'; readonly search: SearchSpec }
  | { readonly kind: 'drop-search' }
  | { readonly kind: 'rename-table'; readonly to: string }
  /** New column names by the old ones. */
  | { readonly kind: 'rename-columns'; readonly columns: ReadonlyMap<string, string> }
  /** Converts values as a declared change between versions says. */
  | {
      readonly kind: 'convert-column'
      readonly column: ColumnSpec
      readonly from: Held
      readonly conversion: Conversion
      readonly field: Field
    }
  /** Turns the API keys of a database from before keys were records into records. */
  | { readonly kind: 'move-keys'; readonly derived: readonly ColumnSpec[] }
  /** Counts the records of a collection. */
  | { readonly kind: 'set-clock' }
  /** Somebody else's table, index or view has a name that is needed. */
  | { readonly kind: 'blocked' }

/** One step. It counts as harmless until its question is answered and `assess` has read the answer. */
export type MigrationStep = Change & {
  readonly table: string
  /** What it does, for people. */
  readonly sentence: string
  readonly loses: Loss
  /** It cannot be taken; the sentence says why, and what would help. */
  readonly impossible: boolean
  readonly question: Question | undefined
}

/** A step that builds an index. */
export type IndexStep = Extract<MigrationStep, { kind: 'create-index' | 'build-search' }>

/** Makes a step that has not been assessed. */
export function step(table: string, change: Change, sentence: string, question?: Question): MigrationStep {
  return { ...change, table, sentence, loses: 'nothing', impossible: change.kind === 'blocked', question }
}

/** The step with what it loses, or why it is impossible, by the answer to its question. */
export function assess(step: MigrationStep, { count, example }: Answer): MigrationStep {
  const { sentence } = step
  if (step.kind === 'fill-default') return { ...step, sentence: `${sentence} in ${counted(count, 'record')}` }
  if (count === 0) return step
  switch (step.kind) {
    case 'drop-table':
      return { ...step, loses: { rows: count }, sentence: `${sentence}: loses ${counted(count, 'record')}` }
    case 'drop-column':
      return { ...step, loses: { values: count }, sentence: `${sentence}: loses ${counted(count, 'value')}` }
    case 'change-type': {
      const lost = `${sentence}: loses ${counted(count, 'value')} that cannot be converted exactly`
      return { ...step, loses: { values: count }, sentence: lost }
    }
    case 'require': {
      const lacking = `${sentence} but ${count === 1 ? '1 record has' : `${count} records have`} no value`
      return { ...step, impossible: true, sentence: `${lacking}: declare a default or make it optional` }
    }
    case 'create-index': {
      const clash = `${count === 1 ? '1 record has' : `${count} records have`} the same value as another`
      const where = example === undefined ? '' : ` (such as ${example})`
      return { ...step, impossible: true, sentence: `${sentence}: ${clash}${where}; change those records first` }
    }
    default:
      return step
  }
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

/** Whether a step can be taken without asking anyone. */
export function isHarmless(step: MigrationStep): boolean {
  return step.loses === 'nothing' && !step.impossible
}

/** Which steps are taken without asking: none, those that lose nothing, or all that are possible. */
export type Apply = 'never' | 'additive' | 'all'

/** Whether steps may be taken. */
export function isAllowed(steps: readonly MigrationStep[], apply: Apply): boolean {
  if (apply === 'never') return steps.length === 0
  return apply === 'all' ? !steps.some((step) => step.impossible) : steps.every(isHarmless)
}
