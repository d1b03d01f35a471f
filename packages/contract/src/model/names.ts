/** Names that declarations may use: their form, and those that are taken. */

/** The form of names of interfaces and collections. */
export const hyphenedForm = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
/** The form of names of fields. */
export const snakeCaseForm = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/
/** The form of names of what a caller has. */
export const callerForm = /^(?:id|roles|claims(?:\.[^.\s]+)+)$/
/** The most characters of a name. PostgreSQL cuts identifiers after 63, and index names have prefixes. */
export const longestName = 40

/** Names that the interface keeps for itself. */
export const reservedCollections = [
  'jobs', 'exports', 'api-keys', 'openapi.json', 'docs', 'console', 'health', 'metrics', 'caller', 'restore',
  'bulk-delete', 'deletion',
] // biome-ignore format: one row reads best

/** Names that the interface keeps for itself where a resource has events. */
export const eventCollections = ['events', 'webhooks', 'deliveries']

/** The name that the interface keeps for itself where a resource has a history. */
export const historyCollection = 'revisions'

/** The name that the interface keeps for itself where it has tenants. */
export const tenantsCollection = 'tenants'

/** Query parameters that control a list: none of them can be a filter. */
export const controlParameters = [
  'sort', 'page', 'per_page', 'offset', 'limit', 'cursor', 'fields', 'q', 'include', 'include_deleted', 'version',
  'where',
] // biome-ignore format: one row reads best

/** Query parameters that are refused because they carry secrets (QRY-9). */
export const secretParameters = ['access_token', 'api_key', 'token', 'password', 'secret']

const conditionWords = ['and', 'or', 'not'] as const
const databaseColumns = ['rowid', 'ctid', 'xmin', 'xmax', 'cmin', 'cmax', 'tableoid'] as const

export type ReservedField = (typeof conditionWords | typeof databaseColumns)[number]

/** Words of the condition language and names of the databases' own columns, with what they are. */
export const reservedFields: ReadonlyMap<string, string> = new Map([
  ...conditionWords.map((name) => [name, 'is a word of the condition language'] as const),
  ...databaseColumns.map((name) => [name, 'is a name that databases keep for themselves'] as const),
])
