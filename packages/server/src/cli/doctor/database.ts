/** Checks what was found in a database: its server, the pending migration, maintenance, jobs, and the clock. */
import { counted } from 'resourced-check/terminal'
import { withoutCredentials } from 'resourced-contract/model/text'
import { timestamp } from 'resourced-contract/model/time'
import type { Pending } from '../../storage/migration/apply.ts'
import type { Examination, ServerExamination } from '../../storage/migration/examine.ts'
import { needsCount } from '../../storage/migration/migration-step.ts'
import { type Diagnosis, ok, problem, warning } from './diagnosis.ts'

/** What the checks compare with. */
export interface DatabaseCheck {
  /** The address, as it was given. */
  readonly address: string
  /** The clock of this machine, in milliseconds since 1970. */
  readonly now: number
  /** The most connections of one worker for transactions. */
  readonly pool: number
  /** How many workers a server has. */
  readonly workers: number
  /** Whether lost changes are accepted. */
  readonly unsafe: boolean
}

/** Checks a database that was examined; `undefined`: there is none yet. */
export function checkDatabase(found: Examination | undefined, given: DatabaseCheck): Diagnosis[] {
  const place = withoutCredentials(given.address)
  if (found === undefined) return [ok('database', `${place} does not exist yet. The first start creates it.`)]
  return [
    ...(found.server === undefined ? [ok('database', `${place} can be read.`)] : ofServer(found.server, given)),
    ...(found.pending === undefined ? [] : [ofMigration(found.pending, found.isUsed)]),
    ...(found.isUsed ? [ofMaintenance(found, place), ...ofJobs(found), ...ofSummaries(found)] : []),
    ...ofClock(found, given),
  ]
}

function ofServer(found: ServerExamination, { pool, workers, unsafe }: DatabaseCheck): Diagnosis[] {
  const { name, version, refused, undurable, connections } = found
  const free = connections.most - connections.used
  // For transactions, slow reads, short reads and health checks.
  const needed = workers * (pool + Math.max(2, Math.ceil(pool / 2)) + Math.ceil(pool / 2) + 5)
  const room = `${connections.used} of ${connections.most} connections are in use.`
  return [
    refused === undefined ? ok('database', `${name} ${version} can be used.`) : problem('database', refused),
    ofDurability(undurable, unsafe),
    free >= needed
      ? ok('connections', room)
      : warning(
          'connections',
          `${room} A server${workers > 1 ? ` with ${workers} workers` : ''} uses up to ${needed}.`,
          `Raise max_connections, or use --database-pool${workers > 1 ? ' or --workers' : ''}.`,
        ),
  ]
}

function ofDurability(undurable: string | undefined, unsafe: boolean): Diagnosis {
  if (undurable === undefined) return ok('durability', 'Acknowledged changes survive a power cut.')
  const { severity, ...rest } = problem('durability', undurable)
  return { ...rest, severity: unsafe ? 'warning' : severity }
}

function ofMigration({ steps, refused }: Pending, isUsed: boolean): Diagnosis {
  const check = 'migration'
  if (refused !== undefined) return problem(check, refused)
  if (steps.length === 0) return ok(check, 'The database fits the declaration.')
  if (!isUsed && steps.every((step) => !step.impossible)) return ok(check, 'The first start creates the tables.')
  const remedy = 'Run npx resourced migrate to see every change, and npx resourced migrate --apply to make them.'
  const impossible = steps.find((step) => step.impossible)
  if (impossible !== undefined) return problem(check, `A change is impossible: ${impossible.sentence}.`, remedy)
  const created = new Set(steps.flatMap((step) => (step.kind === 'create-table' ? [step.table] : [])))
  const losing = steps.filter((step) => needsCount(step) && !created.has(step.table))
  const [first] = losing
  if (first === undefined)
    return ok(check, `The next start makes ${counted(steps.length, 'change')} that lose no data.`)
  const others = losing.length > 1 ? `, and ${losing.length - 1} more` : ''
  return problem(
    check,
    `The next start may be refused, because changes can lose data: ${first.sentence}${others}.`,
    remedy,
  )
}

function ofMaintenance({ maintenance }: Examination, place: string): Diagnosis {
  if (maintenance === undefined) return ok('maintenance', 'Maintenance is off.')
  const finding = `Maintenance is on since ${maintenance.since}: every request gets 503.`
  return warning('maintenance', finding, `End it with: npx resourced maintenance off --database ${place}`)
}

function ofJobs({ jobs }: Examination): Diagnosis[] {
  const open = (jobs.get('pending') ?? 0) + (jobs.get('running') ?? 0)
  const failed = jobs.get('failed') ?? 0
  const finding = `${open} unfinished, ${failed} failed.`
  if (failed === 0) return [ok('jobs', finding)]
  return [warning('jobs', finding, 'GET /jobs?status=failed has the reason of each.')]
}

function ofSummaries({ summaries }: Examination): Diagnosis[] {
  if (summaries.size === 0) return []
  const check = 'summaries'
  const wrong = [...summaries].flatMap(([name, isExact]) => (isExact ? [] : [name]))
  const number = summaries.size === 1 ? '1 kept summary is' : `${summaries.size} kept summaries are`
  if (wrong.length === 0) return [ok(check, `${number} exact.`)]
  const remedy = 'Take them out of the declaration, start, and declare them again: the next start counts all records.'
  return [problem(check, `Kept summaries differ from the records: ${wrong.join(', ')}.`, remedy)]
}

const day = 86_400_000

/** The rules of the purge: see `checkClock` in storage/transactions/delete/purge.ts. */
function ofClock({ purged, newest, server }: Examination, { now }: DatabaseCheck): Diagnosis[] {
  const check = 'clock'
  const here = `The clock of this machine says ${timestamp(now)}`
  const difference = Math.abs(now - (server?.now ?? now))
  if (server !== undefined && difference > 5_000) {
    const finding = `${here}, and the clock of ${server.name} differs by ${Math.round(difference / 1_000)} seconds.`
    const diagnose = difference > day ? problem : warning
    return [diagnose(check, finding, 'Let both machines set their clocks by NTP.')]
  }
  if (newest !== undefined && newest - now > day) {
    const finding = `${here}, and the newest record was changed at ${timestamp(newest)}.`
    return [problem(check, finding, 'Correct the clock of this machine.')]
  }
  const last = purged ?? newest
  if (last === undefined || Math.abs(now - last) <= day) return [ok(check, `${here}.`)]
  const what = purged === undefined ? 'newest record was changed' : 'last purge was'
  const finding = `${here}, and the ${what} at ${timestamp(last)}. Servers do not purge after a gap of more than a day.`
  return [warning(check, finding, 'If the clock is right, run: npx resourced purge confirm')]
}
