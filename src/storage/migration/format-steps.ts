/** A migration's steps as people read them. */
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
    const run = isPlainIndex(step) ? runFrom(steps, index) : 1
    const what = step.kind === 'drop-index' ? 'drop' : 'add'
    const sentence = run > 1 ? `${what} ${run} indexes of ${step.table}` : step.sentence
    lines.push(`  ${mark(step)} ${sentence}`)
    index += run
  }
  return lines.join('\n')
}

function mark(step: MigrationStep): string {
  if (step.impossible) return 'x'
  return step.loses === 'nothing' ? '+' : '!'
}

function isPlainIndex(step: MigrationStep): boolean {
  return isHarmless(step) && (step.kind === 'create-index' || step.kind === 'drop-index')
}

function runFrom(steps: readonly MigrationStep[], start: number): number {
  const first = steps[start]!
  let end = start
  while (end < steps.length && isPlainIndex(steps[end]!)) {
    if (steps[end]!.kind !== first.kind || steps[end]!.table !== first.table) break
    end++
  }
  return end - start
}
