/**
 * `resourced inspect postgres://…`: writes a declaration made from the tables of a database that exists already, as
 * YAML with a line for each field and comments.
 */

import { counted, print, say } from 'resourced-check/terminal'
import { withoutCredentials } from 'resourced-contract/model/text'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { Document, isMap, isScalar, type Pair, visit, type YAMLMap } from 'yaml'
import { administer, type DatabaseOptions } from '../server/open-database.ts'
import { type Proposal, propose } from './inspect/propose.ts'
import { declarationOf, repair } from './inspect/repair.ts'

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

/**
 * The text of a proposal.
 *
 * @param introduction comments at the beginning
 */
export function writeYaml(proposal: Proposal, introduction: readonly string[]): string {
  const document = new Document(declarationOf(proposal), { aliasDuplicateObjects: false })
  const resources = document.get('resources') as YAMLMap
  for (const resource of proposal.resources) {
    const pair = pairOf(resources, resource.name)
    comment(pair, resource.comments)
    const node = pair.value as YAMLMap
    const fields = pairOf(node, 'fields')
    comment(fields, resource.omissions)
    for (const field of resource.fields) {
      const declared = pairOf(fields.value as YAMLMap, field.name)
      if (isMap(declared.value)) declared.value.flow = true
      comment(declared, field.comments)
    }
    const unique = node.get('unique', true)
    if (unique !== undefined) Object.assign(unique, { flow: true })
  }
  visit(document, {
    Scalar(_, scalar) {
      // Line breaks and invisible characters are escaped, so that a text stays on its line.
      if (typeof scalar.value === 'string' && unsafe.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
    },
  })
  document.commentBefore = commentText([...introduction, ...proposal.comments])
  // A folded line would read as two, and a wrapped flow map as several fields.
  const text = document.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.POSITIVE_INFINITY })
  // What the library leaves unescaped is within double quotes, because comments contain none of it.
  return `${text.trimEnd().replaceAll(invisible, escaped)}\n`
}

function pairOf(map: YAMLMap, key: string): Pair {
  const found = map.items.find((pair) => isScalar(pair.key) && pair.key.value === key)
  if (found === undefined) throw new Error(`There is no key ${key}.`)
  return found
}

function comment({ key }: Pair, lines: readonly string[]): void {
  if (lines.length > 0 && isScalar(key)) key.commentBefore = commentText(lines)
}

// Control characters, line separators and invisible marks: names and expressions of a database may contain them, and
// none may end a comment, reach the terminal, or hide what follows.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

// All of `unsafe` but the line breaks of the YAML itself.
const invisible = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

function escaped(character: string): string {
  return `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`
}

function commentText(lines: readonly string[]): string {
  return lines
    .map((line) => ` ${line.replaceAll(/\s+/g, ' ').replaceAll(new RegExp(unsafe, 'gu'), '\uFFFD').trim()}`)
    .join('\n')
}
