/** Runs an import of rows with keys, or of all rows in one transaction, and says how it ended. */

import { counted, type interruption, type Progress } from 'resourced-check/terminal'
import { importStaged, type StagedImport, type StagedResult } from '../jobs/import-staged.ts'
import type { ImportReport } from './import-report.ts'

export interface StagedRun
  extends Omit<StagedImport, 'onStaged' | 'onWriting' | 'onProgress' | 'onProblem' | 'signal'> {
  readonly progress: Progress
  readonly report: ImportReport
  readonly interrupted: ReturnType<typeof interruption>
  /** Whether no server can be using the database, which did not exist before. */
  readonly isNew: boolean
  /** Whether the database is another process, in which others write during a transaction. */
  readonly isElsewhere: boolean
  /** Whether the command can be run again: what is in is not imported a second time. */
  readonly isResumable: boolean
  /** The part of the source that was read, from 0 to 1; `undefined`: unknown. */
  readonly part?: () => number | undefined
}

/** Imports rows. Sets the exit code to 1 if rows were refused, and to 130 if the import was interrupted. */
export async function runStaged(run: StagedRun): Promise<void> {
  const { progress, report, interrupted, isWhole } = run
  const started = performance.now()
  let written = 0
  let total = 0
  let result: StagedResult
  try {
    result = await importStaged({
      ...run,
      signal: interrupted.signal,
      onStaged: () => progress.update(0, run.part?.()),
      onWriting(count) {
        total = count
        // From here on, Ctrl-C ends the process, and the database undoes the transaction.
        if (isWhole) interrupted.stop()
        const warning =
          isWhole && !run.isNew && count > 0 ? (run.isElsewhere ? waitsElsewhere : waitsOnFile) : undefined
        if (warning !== undefined) progress.say(`Writing ${counted(count, 'record')} in one transaction. ${warning}`)
      },
      onProgress(count) {
        written = count
        progress.update(count, count / Math.max(total, 1))
      },
      onProblem: (problem) => report.add(problem),
    })
  } catch (error) {
    progress.say(`The import failed. ${isWhole || written === 0 ? 'Nothing is imported.' : continuation(written, run)}`)
    throw error
  }
  progress.end()
  report.end()
  const isInterrupted = interrupted.signal.aborted
  for (const line of summary(result, { run, isInterrupted, seconds: (performance.now() - started) / 1_000 })) {
    progress.say(line)
  }
  if (isInterrupted) process.exitCode = 130
  else if (result.skipped > 0) process.exitCode = 1
}

const waitsOnFile = 'Until it ends, servers on this file answer reads, and changes get 503 after 5 seconds.'
const waitsElsewhere =
  'Until it ends, event streams wait, and so do changes that need the same unique values or counters.'

interface Ending {
  readonly run: StagedRun
  readonly isInterrupted: boolean
  readonly seconds: number
}

function summary(result: StagedResult, { run, isInterrupted, seconds }: Ending): string[] {
  const { imported, existing, skipped, stopped } = result
  const count = imported.values().reduce((sum, each) => sum + each, 0)
  if (stopped || isInterrupted) {
    const state = count === 0 ? 'Nothing is imported.' : continuation(count, run)
    if (!stopped) return [`Interrupted. ${state}`]
    const other = run.isWhole ? '' : ', or leave out what is invalid with --skip-invalid'
    const correct = count === 0 ? [`Correct the lines above and start again${other}.`] : []
    return [`Stopped: ${counted(skipped, 'record')} refused. ${state}`, ...correct]
  }
  const names = run.resources.length === 1 ? [[run.resources[0]?.name, count] as const] : [...imported]
  const lines = names.map(([name, number]) => `${counted(number, 'record')} into ${name}`)
  const stay = existing === 1 ? 'stays as it is' : 'stay as they are'
  const there =
    existing === 0
      ? ''
      : `; ${counted(existing, 'record')} ${existing === 1 ? 'was' : 'were'} there already and ${stay}`
  const left = skipped === 0 ? '' : `; left out ${counted(skipped, 'record')}, for the reasons above`
  if (run.resources.length === 1) return [`Imported ${lines[0]} in ${seconds.toFixed(1)} s${there}${left}.`]
  return [
    ...lines.map((line) => `Imported ${line}.`),
    `Imported ${counted(count, 'record')} in ${seconds.toFixed(1)} s${there}${left}.`,
  ]
}

function continuation(count: number, { isResumable }: StagedRun): string {
  const verb = count === 1 ? 'is' : 'are'
  const next = isResumable
    ? 'Run the same command again: what is in is not imported a second time.'
    : 'Nothing after them is. What is in would be imported a second time.'
  return `${counted(count, 'record')} ${verb} in. ${next}`
}
