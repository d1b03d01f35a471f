/** `resourced purge status | confirm`. */
import { withoutCredentials } from '../model/credentials.ts'
import { timestamp } from '../model/time.ts'
import type { GivenDatabase } from './database-options.ts'
import { withServerState } from './maintenance.ts'
import { print, say } from './terminal.ts'

/** Prints the time of the last purge, and the time of this machine. */
export async function purgeStatus(options: GivenDatabase): Promise<void> {
  const last = await withServerState(options, ({ purgeClock }) => purgeClock.read())
  const lines = [
    last === undefined ? 'No purge has run yet.' : `The last purge, or confirmation, was at ${timestamp(last)}.`,
    `The clock of this machine says ${timestamp(Date.now())}.`,
    'Servers stop to purge while their clock differs from the last purge by more than a day.',
  ]
  print(`${lines.join('\n')}\n`)
}

/** Confirms that the clock of this machine is right: servers whose clocks agree with it purge again. */
export async function confirmClock(options: GivenDatabase): Promise<void> {
  const now = Date.now()
  await withServerState(options, ({ purgeClock }) => purgeClock.confirm(now))
  say(`The clock of this machine is confirmed: it says ${timestamp(now)}.`)
  say(`Within a minute the servers on ${withoutCredentials(options.database)} remove what has expired by then.`)
}
