/** `resourced inspect postgres://…`: writes a declaration made from the tables of a database that exists already. */

import { counted, print, say } from 'resourced-check/terminal'
import { withoutCredentials } from 'resourced-contract/model/credentials'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { administer, type DatabaseOptions } from '../server/open-database.ts'
import { propose } from './inspect/propose.ts'
import { repair } from './inspect/repair.ts'
import { writeYaml } from './inspect/write-yaml.ts'

interface InspectOptions {
  readonly schema: readonly string[]
  readonly databasePooler?: DatabaseOptions['databasePooler']
}

/** The most characters of a YAML declaration. */
const mostCharacters = 1_000_000

/** Prints a declaration of the tables of a database. Nothing in the database changes. */
export async function inspectCommand(address: string | undefined, options: InspectOptions): Promise<void> {
  const database = address ?? process.env['DATABASE_URL']
  if (database === undefined) {
    throw new UsageError('No database is named. Write resourced inspect postgres://USER@HOST:5432/DATABASE.')
  }
  const { schema: schemas, databasePooler } = options
  const { foreign } = await administer({ database, databasePooler, option: 'the address' })
  if (foreign === undefined) {
    throw new UsageError('Only tables of PostgreSQL can be inspected: use postgres://USER@HOST:5432/DATABASE.')
  }
  const described = await foreign.describe(schemas)
  const place = described.schemas.map((name) => JSON.stringify(name)).join(', ')
  const proposal = propose(described)
  repair(proposal)
  if (proposal.resources.length === 0) {
    throw new ConfigurationError(
      `No table of the schema ${place} can become a collection. Name other schemas with --schema.`,
    )
  }
  const introduction = [
    `Made from the tables of ${withoutCredentials(database)}, schema ${place}.`,
    'A comment says what does not fit, and why. Nobody but administrators may use these collections until you',
    'declare `access` for them.',
  ]
  const text = writeYaml(proposal, introduction)
  if (text.length > mostCharacters) {
    throw new ConfigurationError(
      'The declaration would have more than a million characters. Inspect fewer schemas at a time with --schema.',
    )
  }
  print(text)
  const { length } = proposal.resources
  say(`${counted(length, 'collection')} of the schema ${place}.`)
}
