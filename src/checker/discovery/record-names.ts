/** What records, and members that refer to them or identify them, are called on servers of many kinds. */

const irregular: Readonly<Record<string, string>> = { people: 'person', children: 'child', men: 'man', women: 'woman' }

/** `country` for `countries`. */
export function singular(plural: string): string {
  const found = irregular[plural]
  if (found !== undefined) return found
  if (/ies$/.test(plural)) return plural.replace(/ies$/, 'y')
  if (/(?:ss|sh|ch|x|z)es$/.test(plural)) return plural.replace(/es$/, '')
  if (/ves$/.test(plural)) return plural.replace(/ves$/, 'f')
  return /[^s]s$/.test(plural) ? plural.slice(0, -1) : plural
}

/** A name without its writing style: `countryId`, `country_id` and `country-id` are the same. */
export function normalized(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

/** Names for a record of a collection in members that refer to it, without `_id`; the best one first. */
export function recordNames(collection: string): readonly [string, string] {
  const one = normalized(singular(collection))
  // `shelves` are of a `shelf`, but `archives` are of an `archive`.
  return [one, /ves$/.test(collection) ? normalized(collection).slice(0, -1) : normalized(collection)]
}

/**
 * The collection that the name of a member refers to: `country` for `country_id`; `undefined` if it does not end like
 * an identifier.
 */
export function referredName(member: string): string | undefined {
  const found = /^(.+?)(?:_id|-id|Id|ID|_uuid|Uuid|_key)$/.exec(member)
  return found === null ? undefined : normalized(found[1] as string)
}

/** Usual names of the member that identifies a record, the most usual first. */
function identifierNames(collection: string): readonly string[] {
  const [one] = recordNames(collection)
  return ['id', '_id', 'uuid', 'ID', `${one}_id`, `${one}Id`, 'documentId', 'key']
}

/** The member of a record that identifies it. */
export function identifierIn(record: Readonly<Record<string, unknown>>, collection: string): string | undefined {
  return identifierNames(collection).find((name) => ['string', 'number'].includes(typeof record[name]))
}

/**
 * The member of a schema's properties that identifies a record; `id` if none of them does.
 *
 * @param idName its name in the paths of records
 */
export function identifierOf(properties: object, collection: string, idName: string | undefined): string {
  const names = [idName, ...identifierNames(collection)]
  return names.find((name) => name !== undefined && Object.hasOwn(properties, name)) ?? 'id'
}

/** Members that servers give a value that is the record's own: a body that has one may overwrite a record. */
export const ownIdentifier = /^(?:_?id|uu?id|guid|documentId|object_?id)$/i
