/** Chooses names that a declaration accepts, for names of tables and columns, which may be any text. */
import { checkCollectionName, checkFieldName, kebab } from '../../model/check/names.ts'
import { Part } from '../../model/check/parts.ts'
import { longestName } from '../../model/names.ts'
import { isPlural, pluralOf } from '../../model/plural.ts'

/**
 * A name for a collection, other than those that are taken.
 *
 * @param schema a prefix if the name alone is taken; empty: none
 */
export function collectionName(table: string, schema: string, taken: ReadonlySet<string>): string {
  const base = plain(table) || 'tables'
  const name = isPlural(base) ? base : pluralOf(base)
  const prefix = plain(schema)
  const names = [name, ...(prefix === '' ? [] : [`${prefix}-${name}`])]
  const spare = [`my-${name}`, `${base}-records`, 'records']
  return firstFree({ names, spare, joint: '-' }, taken, checkCollectionName)
}

/** A name for a field, other than those that are taken. */
export function fieldName(column: string, taken: ReadonlySet<string>): string {
  const base = snakeCase(column) || 'field'
  return firstFree({ names: [base], spare: [`${base}_value`, 'field'], joint: '_' }, taken, checkFieldName)
}

/** A name as lower-case words joined by underscores; empty if no character remains. */
export function snakeCase(name: string): string {
  return plain(name).replaceAll('-', '_')
}

/** A name for the interface. */
export function interfaceName(database: string): string {
  return plain(database).slice(0, longestName).replace(/-+$/, '') || 'api'
}

/** Lower-case words joined by hyphens; accents are removed, other characters of other scripts too. */
function plain(name: string): string {
  return kebab(name.normalize('NFKD').replace(/\p{M}/gu, '').replaceAll('ß', 'ss'), 200)
}

type CheckName = (part: Part, name: string) => void

interface Candidates {
  /** The names to try, the best first. */
  readonly names: readonly string[]
  /** The names to try where none of `names` is allowed at all. */
  readonly spare: readonly string[]
  /** Between a name and a number. */
  readonly joint: '-' | '_'
}

/** The first name that is allowed and free, or else the first allowed one with a number. */
function firstFree({ names, spare, joint }: Candidates, taken: ReadonlySet<string>, check: CheckName): string {
  const allowed = names.map((each) => cut(each, longestName)).filter((each) => isAllowed(each, check))
  const free = allowed.find((each) => !taken.has(each))
  if (free !== undefined) return free
  const base = allowed[0] ?? spare.map((each) => cut(each, longestName)).find((each) => isAllowed(each, check))
  if (base === undefined) throw new Error(`No name is like ${names[0]}.`)
  let name = base
  for (let number = 2; taken.has(name); number++) {
    const suffix = `${joint}${number}`
    name = `${cut(base, longestName - suffix.length)}${suffix}`
  }
  return name
}

function isAllowed(name: string, check: CheckName): boolean {
  const part = new Part(name)
  check(part, name)
  return part.findings.length === 0
}

/** The end of a name, which says more than its beginning, and has the plural. It begins with a whole word if it can. */
function cut(name: string, most: number): string {
  if (name.length <= most) return name
  const end = name.slice(-most)
  return /^[^-_]*[-_]+([a-z].*)$/.exec(end)?.[1] ?? end.replace(/^[^a-z]+/, '')
}
