/** Migration steps as people read them: as lines, and in the error for a migration that was refused. */
import { isHarmless, type MigrationStep } from './migration-step.ts'

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
  /** All that the database lacks. */
  readonly steps: readonly MigrationStep[]
  /** The command that makes the changes; `undefined` where the declaration or the data has to change first. */
  readonly command: string | undefined

  /** @param isFormer whether a newer declaration was applied since, and the older one cannot run without the steps */
  constructor(steps: readonly MigrationStep[], isFormer = false) {
    const command = steps.some((step) => step.impossible) ? undefined : 'resourced migrate --apply'
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
      : `To make these changes, run: ${command}`
  return `${reason}:\n${formatSteps(steps)}\n${advice}`
}

function formerMessage(steps: readonly MigrationStep[]): string {
  const reason = 'A newer declaration has changed the database since, and this one would need'
  const advice =
    'Start the newer declaration. To return to this one, stop the newer servers and list the losses: resourced migrate'
  return `${reason}:\n${formatSteps(steps)}\n${advice}`
}
