/**
 * `resourced maintenance on | off | status` and `resourced purge status | confirm`: the switch that all servers of a
 * database follow, and the clock by which they purge.
 */

import { print, say } from 'resourced-check/terminal'
import { withoutCredentials } from 'resourced-contract/model/credentials'
import { isStorableText } from 'resourced-contract/model/text'
import { parseDuration, timestamp } from 'resourced-contract/model/time'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { isInMemory } from '../server/database-address.ts'
import { type DatabaseOptions, openMaintenance } from '../server/open-database.ts'
import type { Maintenance } from '../storage/storage.ts'

interface OnOptions extends DatabaseOptions {
  readonly message?: string
  /** An ISO 8601 duration. */
  readonly retryAfter: string
}

/** The default of `--message`. */
const ordinaryMessage = 'The service is under maintenance. Try again after the seconds in Retry-After.'

const longestMessage = 200

/** Turns maintenance on, or changes its message. */
export async function maintenanceOn(options: OnOptions): Promise<void> {
  const { database } = options
  const [message, retryAfter] = [messageOf(options.message ?? ordinaryMessage), secondsOf(options.retryAfter)]
  const since = new Date().toISOString()
  const { now, before } = await withServerState(options, ({ maintenance }) =>
    maintenance.begin({ since, message, retryAfter }),
  )
  say(before === undefined ? 'Maintenance is on.' : `Maintenance was on already, since ${now.since}.`)
  say(`Within a second every server on this database answers requests like this: ${toldTo(now)}`)
  say('Requests that were accepted before finish, and jobs stop after their current batch.')
  say(`End it with: npx resourced maintenance off --database ${withoutCredentials(database)}`)
}

/** Turns maintenance off. */
export async function maintenanceOff(options: DatabaseOptions): Promise<void> {
  const before = await withServerState(options, ({ maintenance }) => maintenance.end())
  if (before === undefined) say('Maintenance was off already.')
  else
    say(`Maintenance is off; it was on since ${before.since}. Within a second servers answer as ever, and jobs go on.`)
}

/** Prints whether maintenance is on, since when, and its message. */
export async function maintenanceStatus(options: DatabaseOptions): Promise<void> {
  const current = await withServerState(options, ({ maintenance }) => maintenance.read())
  const lines =
    current === undefined
      ? ['Maintenance is off.']
      : [`Maintenance is on since ${current.since}.`, `Clients are told: ${toldTo(current)}`]
  print(`${lines.join('\n')}\n`)
}

/** Opens what a database holds for its servers: the maintenance switch and the clock of purges. */
async function withServerState<T>(database: DatabaseOptions, use: (state: OpenMaintenance) => Promise<T>): Promise<T> {
  if (isInMemory(database.database)) {
    throw new UsageError('A database in memory has no other servers: use sqlite:FILE or postgres://….')
  }
  const state = await openMaintenance(database)
  try {
    return await use(state)
  } finally {
    await state.close()
  }
}

type OpenMaintenance = Awaited<ReturnType<typeof openMaintenance>>

function toldTo({ message, retryAfter }: Maintenance): string {
  return `503, Retry-After: ${retryAfter}, “${message}”`
}

function messageOf(text: string): string {
  const message = text.trim()
  const { length } = [...message]
  if (length > 0 && length <= longestMessage && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(message) && isStorableText(message)) {
    return message
  }
  const found = length > longestMessage ? `${length} characters` : JSON.stringify(text)
  throw new UsageError(
    `--message takes one line of 1 to ${longestMessage} characters, such as "Back at noon UTC.", not ${found}.`,
  )
}

function secondsOf(text: string): number {
  const reading = parseDuration(text)
  if (reading.kind === 'duration' && reading.milliseconds > 0) return reading.milliseconds / 1_000
  throw new UsageError(
    '--retry-after takes an ISO 8601 duration of at least a second, in days or less, such as PT10M or PT1H, not ' +
      `${text}.`,
  )
}

/** Prints the time of the last purge, and the time of this machine. */
export async function purgeStatus(options: DatabaseOptions): Promise<void> {
  const last = await withServerState(options, ({ purgeClock }) => purgeClock.read())
  const lines = [
    last === undefined ? 'No purge has run yet.' : `The last purge, or confirmation, was at ${timestamp(last)}.`,
    `The clock of this machine says ${timestamp(Date.now())}.`,
    'Servers stop to purge while their clock differs from the last purge by more than a day.',
  ]
  print(`${lines.join('\n')}\n`)
}

/** Confirms that the clock of this machine is right: servers whose clocks agree with it purge again. */
export async function confirmClock(options: DatabaseOptions): Promise<void> {
  const now = Date.now()
  await withServerState(options, ({ purgeClock }) => purgeClock.confirm(now))
  say(`The clock of this machine is confirmed: it says ${timestamp(now)}.`)
  say(`Within a minute the servers on ${withoutCredentials(options.database)} remove expired data.`)
}
