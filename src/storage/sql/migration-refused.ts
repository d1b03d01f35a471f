/** A migration that was not made. */
import { formatSteps } from './format-steps.ts'
import { isHarmless, type MigrationStep } from './migration-step.ts'

/** Which changes are made without asking: none, those that lose nothing, or all that are possible. */
export type Apply = 'never' | 'additive' | 'all'

/** The database does not fit the declaration, and may not be changed to fit: nothing has been changed. */
export class MigrationRefused extends Error {
  /** All that the database lacks. */
  readonly steps: readonly MigrationStep[]
  /** What makes the changes; `undefined` where the declaration or the data has to change first. */
  readonly command: string | undefined

  constructor(steps: readonly MigrationStep[]) {
    const command = steps.some((step) => step.impossible) ? undefined : 'resourced migrate --apply'
    const loses = steps.some((step) => step.loses !== 'nothing')
    const reason =
      command === undefined
        ? 'The database cannot be changed to fit the declaration'
        : `The database does not fit the declaration${loses ? ', and changing it would lose data' : ''}`
    const advice =
      command === undefined ? 'Change what is marked x, then start again.' : `To make these changes, run: ${command}`
    super(`${reason}:\n${formatSteps(steps)}\n${advice}`)
    this.name = 'MigrationRefused'
    this.steps = steps
    this.command = command
  }
}

/** Whether steps may be taken. */
export function isAllowed(steps: readonly MigrationStep[], apply: Apply): boolean {
  if (apply === 'never') return steps.length === 0
  return apply === 'all' ? !steps.some((step) => step.impossible) : steps.every(isHarmless)
}
