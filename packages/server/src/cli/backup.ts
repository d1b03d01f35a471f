/**
 * `resourced backup FILE` writes a consistent copy of a database while servers use it; `resourced restore FILE` fills
 * an empty database with it. What is interrupted leaves nothing that the next run does not replace.
 */
import { stat } from 'node:fs/promises'
import { counted, format, interruption, type Progress, say, showProgress } from 'resourced-check/terminal'
import { withoutCredentials } from 'resourced-contract/model/text'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { isInMemory, isLikeAddress } from '../server/database-address.ts'
import { packageVersion } from '../server/observe/package-version.ts'
import { backUpDatabase, type DatabaseOptions, openHost, placeOf, restoreDatabase } from '../server/open-database.ts'

/** Backs up a database. The exit code is 1 if there is no backup, 2 after wrong use, and 130 if it was interrupted. */
export async function backupCommand(file: string, database: DatabaseOptions): Promise<void> {
  check(file, database)
  await runVisibly('No backup was made.', async (work) => {
    const started = performance.now()
    const { description, lost, restarted, omitted } = await backUpDatabase(database, file, work)
    const { size } = await stat(file)
    const { created_at } = description
    return [
      `Backed up ${contentsOf(description)} to ${file}: ${inTime(size, started)}.`,
      `The copy was read back and is complete. It has every change that was acknowledged before ${created_at}.`,
      ...omitted.map(
        ({ kind, name }) => `Not in the backup: the ${kind} ${JSON.stringify(name)}, which Resourced did not create.`,
      ),
      ...(await tenantsBeside(database)),
      ...lost.map((job) => `Not in the backup: the file of the export ${job} is missing or incomplete.`),
      ...restartedExports(restarted),
    ]
  })
}

/** What an operator must know who counts on the backup of a database with tenants. */
async function tenantsBeside(database: DatabaseOptions): Promise<readonly string[]> {
  if (database.tenant !== undefined) return []
  const host = await openHost(database)
  const { length } = await host.databases()
  await host.close()
  const rest = 'Copy each with: npx resourced tenants export NAME FILE'
  return length === 0 ? [] : [`Not in the backup: the databases of ${counted(length, 'tenant')}. ${rest}`]
}

/** Restores a backup. The exit code is 1 if nothing was restored, 2 after wrong use, and 130 if it was interrupted. */
export async function restoreCommand(file: string, database: DatabaseOptions): Promise<void> {
  check(file, database)
  await runVisibly('Nothing was restored.', async (work) => {
    const started = performance.now()
    const { description, lost, restarted } = await restoreDatabase(file, database, work)
    const place = withoutCredentials(database.database)
    return [
      `Restored ${contentsOf(description)} as of ${description.created_at}: ${inTime(description.bytes, started)}.`,
      'What was written was read back, and is the same as in the backup.',
      ...lost.map((job) => `Not restored: the file of the export ${job} is missing or incomplete.`),
      ...restartedExports(restarted),
      `Start the servers with --database ${place}`,
    ]
  })
}

function check(file: string, database: DatabaseOptions): void {
  if (isInMemory(database.database)) {
    throw new UsageError('A database in memory ends with its process: name sqlite:FILE or postgres://… instead.')
  }
  if (isLikeAddress(file) || file === '' || file === '-') {
    const named = withoutCredentials(file)
    throw new UsageError(`Name the file of the backup, such as backup.db, not ${JSON.stringify(named)}.`)
  }
  // Refuses an address that is not understood before anything is read.
  placeOf(database)
}

export type Work = Parameters<typeof backUpDatabase>[2]

/** Runs long work with progress, and prints its summary. */
export async function runVisibly(nothing: string, run: (work: Work) => Promise<readonly string[]>): Promise<void> {
  const interrupted = interruption()
  let stage: string | undefined
  let progress: Progress | undefined
  const work: Work = {
    ...{ signal: interrupted.signal, version: packageVersion(), now: Date.now() },
    onProgress(title, unit, done, total) {
      if (title !== stage) {
        progress?.end()
        progress = showProgress({ title, unit })
        stage = title
      }
      progress?.update(Math.round(done), total > 0 ? Math.min(done / total, 1) : undefined)
    },
  }
  try {
    const lines = await run(work)
    progress?.end()
    for (const line of lines) say(line)
  } catch (error) {
    progress?.end()
    if (!interrupted.signal.aborted) throw error
    say(`Interrupted. ${nothing}`)
    process.exitCode = 130
  } finally {
    interrupted.stop()
  }
}

function contentsOf({ records }: { readonly records: Readonly<Record<string, number>> }): string {
  const own = Object.entries(records).filter(([name]) => name !== 'jobs' && name !== 'api-keys')
  const count = own.reduce((sum, [, each]) => sum + each, 0)
  return `${counted(count, 'record')} in ${counted(own.length, 'collection')}`
}

function inTime(bytes: number, started: number): string {
  const seconds = (performance.now() - started) / 1_000
  const megabytes = bytes / 1e6
  const rate = format(Math.round(megabytes / Math.max(seconds, 0.001)))
  return `${format(Number(megabytes.toFixed(1)))} MB in ${seconds.toFixed(1)} s (${rate} MB/s)`
}

function restartedExports(count: number): readonly string[] {
  if (count === 0) return []
  return [`${counted(count, 'unfinished export')} ${count === 1 ? 'begins' : 'begin'} again.`]
}
