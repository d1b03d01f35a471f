/**
 * `resourced maintenance on | off | status`, of a database or of one tenant, and `resourced purge status | confirm`:
 * the switches that all servers of a database follow, and the clock by which they purge.
 */

import { print, say } from 'resourced-check/terminal'
import { isStorableText, withoutCredentials } from 'resourced-contract/model/text'
import { parseDuration, timestamp } from 'resourced-contract/model/time'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { isInMemory } from '../server/database-address.ts'
import { type DatabaseOptions, openHost, openMaintenance } from '../server/open-database.ts'
import type { Maintenance, MaintenanceStore } from '../storage/storage.ts'
import { tenantNamed, withOperators } from './open-operators.ts'

/** For switches, `tenant` is the name of a tenant; left out: the whole database is meant. */
interface OnOptions extends DatabaseOptions {
  readonly message?: string
  /** An ISO 8601 duration. */
  readonly retryAfter: string
}

/** The defaults of `--message`. */
const ordinaryMessage = 'The service is under maintenance. Try again after the seconds in Retry-After.'
const messageOfTenant = 'Your data cannot be changed during maintenance. Try again after the seconds in Retry-After.'

const longestMessage = 200

/** Turns maintenance on, or changes its message. */
export async function maintenanceOn(options: OnOptions): Promise<void> {
  const ordinary = options.tenant === undefined ? ordinaryMessage : messageOfTenant
  const [message, retryAfter] = [messageOf(options.message ?? ordinary), secondsOf(options.retryAfter)]
  const since = new Date().toISOString()
  const { now, before } = await withSwitch(options, (maintenance) => maintenance.begin({ since, message, retryAfter }))
  const { tenant, database } = options
  const subject = subjectOf(options)
  say(before === undefined ? `${subject} is on.` : `${subject} was on already, since ${now.since}.`)
  const refused = tenant === undefined ? 'answers requests' : 'refuses changes of this tenant'
  say(`Within a second every server on this database ${refused} like this: ${toldTo(now)}`)
  if (tenant !== undefined) say('Reads are answered, and so is everything of other tenants.')
  say('Requests that were accepted before finish, and jobs stop after their current batch.')
  const which = tenant === undefined ? '' : ` --tenant ${JSON.stringify(tenant)}`
  say(`End it with: npx resourced maintenance off${which} --database ${withoutCredentials(database)}`)
}

/** Turns maintenance off. */
export async function maintenanceOff(options: DatabaseOptions): Promise<void> {
  const before = await withSwitch(options, (maintenance) => maintenance.end())
  const subject = subjectOf(options)
  if (before === undefined) say(`${subject} was off already.`)
  else
    say(`${subject} is off; it was on since ${before.since}. Within a second servers answer as ever, and jobs go on.`)
}

/** Prints whether maintenance is on, since when, and its message. */
export async function maintenanceStatus(options: DatabaseOptions): Promise<void> {
  const current = await withSwitch(options, (maintenance) => maintenance.read())
  const subject = subjectOf(options)
  const lines =
    current === undefined
      ? [`${subject} is off.`]
      : [`${subject} is on since ${current.since}.`, `Clients are told: ${toldTo(current)}`]
  print(`${lines.join('\n')}\n`)
}

/** Uses the switch of a database, or that of a tenant. */
async function withSwitch<T>(
  { tenant, ...database }: DatabaseOptions,
  use: (maintenance: MaintenanceStore) => Promise<T>,
): Promise<T> {
  if (tenant === undefined) return withServerState(database, ({ maintenance }) => use(maintenance))
  return withOperators(database, async (operators) => {
    const { registry } = operators
    const { id } = await tenantNamed(operators, tenant)
    return use({
      read: async () => (await registry.maintenance()).get(id),
      begin: (maintenance) => registry.beginMaintenance(id, maintenance),
      end: () => registry.endMaintenance(id),
    })
  })
}

function subjectOf({ tenant }: DatabaseOptions): string {
  return tenant === undefined ? 'Maintenance' : `Maintenance of the tenant ${JSON.stringify(tenant)}`
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
  await confirmTenants(options, now)
  say(`The clock of this machine is confirmed: it says ${timestamp(now)}.`)
  say(`Within a minute the servers on ${withoutCredentials(options.database)} remove expired data.`)
}

/** Each tenant has a purge clock of its own. */
async function confirmTenants(options: DatabaseOptions, now: number): Promise<void> {
  const host = await openHost(options)
  try {
    for (const { tenant } of await host.databases()) {
      const opened = await host.administer(tenant).openMaintenance()
      await opened?.purgeClock.confirm(now).finally(opened.close)
    }
  } finally {
    await host.close()
  }
}
