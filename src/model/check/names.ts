/** Names: of the interface, of collections (RES-1, RES-3), of fields (RES-7). */
import { isPlural, pluralOf } from '../plural.ts'
import { systemFields } from '../resource.ts'
import { mustBe, type Report } from './problem.ts'

const hyphened = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const snakeCase = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
// Databases cut identifiers after 63 characters, and put prefixes before these.
const longest = 40

const reservedCollections = [
  'jobs', 'exports', 'api-keys', 'openapi.json', 'docs', 'console', 'health', 'metrics', 'restore', 'bulk-delete',
] // biome-ignore format: one row reads best

/** Query parameters that steer a list: none of them can be a filter as well. */
export const controlParameters = [
  'sort', 'page', 'per_page', 'offset', 'limit', 'cursor', 'fields', 'q', 'include_deleted', 'version',
] // biome-ignore format: one row reads best

/** Query parameters that are refused because secrets travel in them (QRY-9). */
export const secretParameters = ['access_token', 'api_key', 'token', 'password', 'secret']

// Words of the condition language, and names that databases keep for columns of their own.
const reservedFields = new Map([
  ...['and', 'or', 'not'].map((name) => [name, 'is a word of the condition language'] as const),
  ...['rowid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid'].map(
    (name) => [name, 'is a name that databases keep for themselves'] as const,
  ),
])

/** The interface's name: it stands in media types. */
export function checkInterfaceName(report: Report, value: unknown): void {
  if (typeof value === 'string' && hyphened.test(value) && value.length <= longest) return
  const remedy =
    typeof value === 'string' ? `Write "${kebab(value) || 'studio'}".` : 'Write a short name such as "studio".'
  report('name', mustBe('lower-case letters and digits joined by hyphens', value), remedy)
}

/** A collection's name: a plural noun, lower case, words joined by hyphens. */
export function checkCollectionName(report: Report, path: string, name: string): void {
  if (reservedCollections.includes(name)) {
    report(path, 'is a name that the interface keeps for itself', `Choose another name, such as "my-${kebab(name)}".`)
  } else if (!hyphened.test(name)) {
    const better = kebab(name)
    const remedy =
      better === ''
        ? 'Write a plural noun such as "line-items".'
        : `Write "${isPlural(better) ? better : pluralOf(better)}".`
    report(path, 'must be lower case, its words joined by hyphens', remedy)
  } else if (!isPlural(name)) {
    report(path, 'must be a plural noun', `Write "${pluralOf(name)}".`)
  } else if (name.length > longest) report(path, `is longer than ${longest} characters`, 'Choose a shorter name.')
}

/** A field's name: snake_case, and none that means something else already. */
export function checkFieldName(report: Report, path: string, name: string): void {
  if ((systemFields as readonly string[]).includes(name)) {
    report(path, 'is a field that every record has already', 'Remove it: the server sets it.')
  } else if (reservedFields.has(name)) {
    report(path, reservedFields.get(name) as string, `Choose another name, such as "${name}_value".`)
  } else if (!snakeCase.test(name)) {
    const better = kebab(name).replaceAll('-', '_')
    report(path, 'must be snake_case', better === '' ? 'Write a name such as "due_on".' : `Write "${better}".`)
  } else if (name.length > longest) report(path, `is longer than ${longest} characters`, 'Choose a shorter name.')
}

/** Any name as lower-case words joined by hyphens; empty where nothing is left of it. */
function kebab(name: string): string {
  return name
    .slice(0, longest)
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[-0-9]+|-+$/g, '')
}
