/** `resourced purge status | confirm`. */
import { withoutCredentials } from '../model/credentials.ts'
import { isInMemory, openMaintenance } from '../server/open-database.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'
import type { PurgeClockStore } from '../storage/storage.ts'
import { databaseOf, type GivenDatabase } from './database-options.ts'

/** Says when something was last removed for good, and what the clock of this machine says. */
export async function purgeStatus(options: GivenDatabase): Promise<void> {
  const last = await withClock(options, (clock) => clock.read())
  const lines = [
    last === undefined ? 'No purge has run yet.' : `The last purge, or confirmation, was at ${iso(last)}.`,
    `The clock of this machine says ${iso(Date.now())}.`,
    'Servers stop to purge while their clock differs from the last purge by more than a day.',
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

/** Confirms that the clock is right: servers whose clocks agree with it go on purging. */
export async function confirmClock(options: GivenDatabase): Promise<void> {
  const now = Date.now()
  await withClock(options, (clock) => clock.confirm(now))
  say(`The clock of this machine is confirmed: it says ${iso(now)}.`)
  say(`Within a minute the servers on ${withoutCredentials(options.database)} remove what has expired by then.`)
}

async function withClock<T>(given: GivenDatabase, use: (clock: PurgeClockStore) => Promise<T>): Promise<T> {
  const database = databaseOf(given)
  if (isInMemory(database)) {
    throw new ConfigurationError('A database in memory ends with its server: use sqlite:FILE or postgres://….')
  }
  const { purgeClock, close } = await openMaintenance(database)
  try {
    return await use(purgeClock)
  } finally {
    await close()
  }
}

function iso(time: number): string {
  return new Date(time).toISOString()
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}
