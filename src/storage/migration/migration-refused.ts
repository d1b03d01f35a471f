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

  /** @param isFormer the declaration is older than the one that the database was given last: the steps are what it cannot do without */
  constructor(steps: readonly MigrationStep[], isFormer = false) {
    const command = steps.some((step) => step.impossible) ? undefined : 'resourced migrate --apply'
    super(isFormer ? sentenceOfFormer(steps) : sentenceOf(steps, command))
    this.name = 'MigrationRefused'
    this.steps = steps
    this.command = command
  }
}

function sentenceOf(steps: readonly MigrationStep[], command: string | undefined): string {
  const loses = steps.some((step) => step.loses !== 'nothing')
  const reason =
    command === undefined
      ? 'The database cannot be changed to fit the declaration'
      : `The database does not fit the declaration${loses ? ', and changing it would lose data' : ''}`
  const advice =
    command === undefined ? 'Change what is marked x, then start again.' : `To make these changes, run: ${command}`
  return `${reason}:\n${formatSteps(steps)}\n${advice}`
}

function sentenceOfFormer(steps: readonly MigrationStep[]): string {
  const reason = 'A newer declaration has changed the database since, and this one would need'
  const advice =
    'Start the newer one. To go back to this one stop the newer servers, and see what is lost: resourced migrate'
  return `${reason}:\n${formatSteps(steps)}\n${advice}`
}

/** Whether steps may be taken. */
export function isAllowed(steps: readonly MigrationStep[], apply: Apply): boolean {
  if (apply === 'never') return steps.length === 0
  return apply === 'all' ? !steps.some((step) => step.impossible) : steps.every(isHarmless)
}
