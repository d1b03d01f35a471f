/**
 * Migration steps as data: their effects, the data that they would lose, whether they may be taken, and their text: as
 * a line, and in the error for a refused migration.
 */

import type { Conversion, Field } from 'resourced-contract/model/resource'
import { type SummarySpec, summariesTable } from '../sql/kept-summaries.ts'
import { counters } from '../sql/system-tables.ts'
import type { ColumnSpec, Held, IndexSpec, SearchSpec, TableSpec } from '../sql/tables.ts'
import type { TotalSpec } from '../sql/totals.ts'

/** The data that a step would destroy: rows of a table, or values of a column. */
export type Loss = 'nothing' | { readonly rows: number } | { readonly values: number }

/** The action of a step. */
export type Change =
  | { readonly kind: 'create-table'; readonly spec: TableSpec }
  | { readonly kind: 'drop-table' }
  | { readonly kind: 'add-column'; readonly column: ColumnSpec }
  | { readonly kind: 'drop-column'; readonly column: string }
  | { readonly kind: 'change-type'; readonly column: ColumnSpec; readonly from: Held }
  /** Writes the column's default into rows without a value. */
  | { readonly kind: 'fill-default'; readonly column: ColumnSpec }
  /** Changes only the stored description of a column: the program, not the database, enforces required fields. */
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
  /** Counts the records of a collection. */
  | { readonly kind: 'set-clock' }
  /** Numbers the records that have no number yet, in the order of their creation, and begins to count (RES-16). */
  | { readonly kind: 'number-records'; readonly column: ColumnSpec; readonly per: string }
  /** Creates the triggers of a table, or replaces them. */
  | { readonly kind: 'create-triggers'; readonly statements: readonly string[] }
  /** Counts the kept summaries of a table: its triggers keep them from then on (SUM-3). */
  | { readonly kind: 'count-summaries'; readonly summaries: readonly SummarySpec[] }
  /** Adds up what other tables hold sums of: its triggers keep them from then on. */
  | { readonly kind: 'count-totals'; readonly totals: readonly TotalSpec[] }
  | { readonly kind: 'drop-triggers'; readonly triggers: readonly string[] }
  /** Gives the events of a collection its new name. */
  | { readonly kind: 'rename-events'; readonly to: string }
  /** Brings the states of the records of a table into the form that a step has given to the table (HIS-1). */
  | { readonly kind: 'follow-states'; readonly step: FollowedStep; readonly columns: readonly ColumnSpec[] }
  /** A foreign table, index or view has a name that is needed. */
  | { readonly kind: 'blocked' }

/** One step. It counts as harmless until it is assessed (`assess`). */
export type MigrationStep = Change & {
  readonly table: string
  /** A sentence for people. */
  readonly sentence: string
  readonly loses: Loss
  /** It cannot be taken; the sentence has the reason and a remedy. */
  readonly impossible: boolean
}

/** A step of one kind, or of some. */
export type StepOf<Kind extends MigrationStep['kind']> = Extract<MigrationStep, { kind: Kind }>

/** A step after which states are rewritten. */
export type FollowedStep = StepOf<'drop-table' | 'rename-table' | 'rename-columns' | 'convert-column' | 'change-type'>

export type IndexStep = StepOf<'create-index' | 'build-search'>

/** Makes a step that has not been assessed. */
export function step(table: string, change: Change, sentence: string): MigrationStep {
  return { ...change, table, sentence, loses: 'nothing', impossible: change.kind === 'blocked' }
}

/**
 * What is true of a kind of steps: `counted`: the assessment depends on the records; `exclusive`, `writing`: it blocks
 * other sessions, or those that write, so that its counts stay true; `altering`: triggers may be in its way;
 * `rewriting`: it may change the words of records; `undoing`: servers of a former declaration can do without it.
 */
type Trait = 'counted' | 'exclusive' | 'writing' | 'altering' | 'rewriting' | 'undoing'

const traits: Readonly<Record<MigrationStep['kind'], readonly Trait[]>> = {
  'create-table': [],
  'drop-table': ['counted', 'exclusive', 'altering', 'undoing'],
  'add-column': ['exclusive', 'altering', 'rewriting'],
  'drop-column': ['exclusive', 'altering', 'rewriting', 'undoing'],
  'change-type': ['counted', 'exclusive', 'altering', 'rewriting'],
  'fill-default': ['counted', 'writing', 'altering', 'rewriting', 'undoing'],
  require: ['counted', 'writing', 'undoing'],
  'allow-null': ['undoing'],
  'derive-column': ['writing', 'altering', 'undoing'],
  'create-index': ['undoing'],
  'drop-index': ['exclusive', 'undoing'],
  'build-search': ['exclusive'],
  'drop-search': ['exclusive', 'undoing'],
  'rename-table': ['exclusive', 'altering'],
  'rename-columns': ['exclusive', 'altering'],
  'convert-column': ['exclusive', 'altering'],
  'set-clock': ['writing'],
  'number-records': ['writing', 'altering'],
  'create-triggers': ['writing', 'undoing'],
  'count-summaries': ['writing', 'undoing'],
  'count-totals': ['writing', 'undoing'],
  'drop-triggers': ['exclusive', 'undoing'],
  'rename-events': [],
  'follow-states': ['undoing'],
  blocked: [],
}

/** Whether something is true of a step by its kind. */
export function is(trait: Trait): (step: MigrationStep) => boolean {
  return ({ kind }) => traits[kind].includes(trait)
}

/** Whether the assessment of a step depends on the records. */
export function needsCount(step: MigrationStep): boolean {
  if (step.kind === 'create-index') return step.index.unique
  // The values of a derived column can be derived again.
  if (step.kind === 'drop-column') return !step.column.startsWith('_')
  // The records have the numbers, and what summaries count.
  if (step.kind === 'drop-table' && [counters.name, summariesTable].includes(step.table)) return false
  return is('counted')(step)
}

/** Whether a step can be taken without asking anyone. */
function isHarmless(step: MigrationStep): boolean {
  return step.loses === 'nothing' && !step.impossible
}

/** Which steps are taken without asking: none, those that lose nothing, or all that are possible. */
export type Apply = 'never' | 'additive' | 'all'

/** Whether steps may be taken. */
export function isAllowed(steps: readonly MigrationStep[], apply: Apply): boolean {
  if (apply === 'never') return steps.length === 0
  return apply === 'all' ? !steps.some((step) => step.impossible) : steps.every(isHarmless)
}

/**
 * One line for each step: `+` is harmless, `!` loses data, `x` is impossible. Indexes of one table share a line.
 *
 * @returns lines joined by line feeds, without one at the end; empty for no steps
 */
export function formatSteps(steps: readonly MigrationStep[]): string {
  const lines: string[] = []
  for (let index = 0; index < steps.length; ) {
    const step = steps[index]!
    const run = isHarmlessIndex(step) ? runFrom(steps, index) : 1
    const what = step.kind === 'drop-index' ? 'drop' : 'add'
    const sentence = run > 1 ? `${what} ${run} indexes of ${step.table}` : step.sentence
    const mark = step.impossible ? 'x' : step.loses === 'nothing' ? '+' : '!'
    lines.push(`  ${mark} ${sentence}`)
    index += run
  }
  return lines.join('\n')
}

function isHarmlessIndex(step: MigrationStep): boolean {
  return isHarmless(step) && (step.kind === 'create-index' || step.kind === 'drop-index')
}

/** How many index steps of the same kind and table follow one another. */
function runFrom(steps: readonly MigrationStep[], start: number): number {
  const { kind, table } = steps[start]!
  const end = steps.findIndex(
    (step, index) => index > start && !(isHarmlessIndex(step) && step.kind === kind && step.table === table),
  )
  return (end === -1 ? steps.length : end) - start
}

/** The database does not fit the declaration, and may not be changed to fit. Nothing was changed. */
export class MigrationRefused extends Error {
  /** Every missing change. */
  readonly steps: readonly MigrationStep[]
  /** The command that makes the changes; `undefined` where the declaration or the data has to change first. */
  readonly command: string | undefined

  /** @param isFormer whether a newer declaration was applied since, and the older one cannot run without the steps */
  constructor(steps: readonly MigrationStep[], isFormer = false) {
    const command = steps.some((step) => step.impossible) ? undefined : 'npx resourced migrate --apply'
    super(isFormer ? formerMessage(steps) : refusalMessage(steps, command))
    this.name = 'MigrationRefused'
    this.steps = steps
    this.command = command
  }
}

function refusalMessage(steps: readonly MigrationStep[], command: string | undefined): string {
  const loses = steps.some((step) => step.loses !== 'nothing')
  const reason =
    command === undefined
      ? 'The database cannot be changed to fit the declaration'
      : `The database does not fit the declaration${loses ? ', and changing it would lose data' : ''}`
  const advice =
    command === undefined
      ? 'Change the records or the declaration as the lines marked x say, then start again.'
      : `To make these changes, run this with the file and the --database of the server: ${command}`
  return `${reason}:\n${formatSteps(steps)}\n${advice}`
}

function formerMessage(steps: readonly MigrationStep[]): string {
  const reason = 'A newer declaration has changed the database since, and this one would need'
  const advice =
    'Start the newer declaration. To return to this one, stop the newer servers and list the losses: ' +
    'npx resourced migrate'
  return `${reason}:\n${formatSteps(steps)}\n${advice}`
}
