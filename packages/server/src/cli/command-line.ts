/**
 * What commands share of their command line: the options of their database, and the whole line without secrets, because
 * lists of processes show arguments to everyone on a machine.
 */

import { withoutCredentials } from 'resourced-contract/model/credentials'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import type { DatabaseOptions } from '../server/open-database.ts'

/** The default of `--database`. */
export const defaultDatabase = 'sqlite:.resourced/data.db'

/** The options as commander gives them. */
export interface GivenDatabase extends Omit<DatabaseOptions, 'databasePool'> {
  readonly databasePool?: string
}

/**
 * Reads the options.
 *
 * @throws UsageError if the number of connections is not a number
 */
export function databaseOf(given: GivenDatabase): DatabaseOptions & { readonly databasePool: number | undefined } {
  const { database, databaseReplica, databasePool, databasePooler } = given
  // DATABASE_UNSAFE=false means false, unlike commander's own environment variables of flags.
  const databaseUnsafe = given.databaseUnsafe ?? process.env.DATABASE_UNSAFE === 'true'
  return {
    ...{ database, databaseReplica, databasePooler, databaseUnsafe },
    databasePool: databasePool === undefined ? undefined : connectionsOf(databasePool),
  }
}

/**
 * The command that makes the changes of a declaration in a database.
 *
 * @param file of the declaration; `undefined`: the one that is found in the directory
 */
export function migrationCommand(file: string | undefined, database: string): string {
  const where = database === defaultDatabase ? [] : ['--database', withoutCredentials(database)]
  return ['npx resourced migrate', file ?? [], '--apply', ...where].flat().join(' ')
}

function connectionsOf(text: string): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (number > 0) return number
  throw new UsageError(`--database-pool takes a number from 1 to 9999, not ${JSON.stringify(text)}.`)
}

/** A port from the command line or the environment. */
export function portOf(text: string, option = '--port'): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (port >= 0 && port <= 65_535) return port
  throw new UsageError(`${option} takes a number from 0 to 65535, not ${JSON.stringify(text)}.`)
}

const secret = /^(--key|--other-key|--header)(?:=|$)/

/** The arguments of a command as one text, with `***` for each secret. */
export function withoutSecrets(given: readonly string[]): string {
  const parts = given.map((each, index) => {
    const before = given[index - 1] ?? ''
    if (secret.test(before) && !before.includes('=')) return hidden(before, each)
    const found = secret.exec(each)
    return found !== null && each.includes('=')
      ? `${found[1]}=${hidden(found[1] as string, each.slice(each.indexOf('=') + 1))}`
      : each
  })
  return withoutCredentials(parts.join(' '))
}

/** Keeps the name of a header field. */
function hidden(option: string, value: string): string {
  return option === '--header' && value.includes(':') ? `${value.slice(0, value.indexOf(':'))}: ***` : '***'
}
