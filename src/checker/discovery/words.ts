/** How names of collections and members hang together. */

/** `country` of `countries`. */
export function singular(plural: string): string {
  const irregular: Readonly<Record<string, string>> = {
    people: 'person',
    children: 'child',
    men: 'man',
    women: 'woman',
  }
  const found = irregular[plural]
  if (found !== undefined) return found
  if (/ies$/.test(plural)) return plural.replace(/ies$/, 'y')
  if (/(?:ss|sh|ch|x|z)es$/.test(plural)) return plural.replace(/es$/, '')
  if (/ves$/.test(plural)) return plural.replace(/ves$/, 'f')
  return /[^s]s$/.test(plural) ? plural.slice(0, -1) : plural
}

/** A name without what tells writing styles apart: `countryId`, `country_id` and `country-id` are one. */
export function bare(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

/** Ways in which a collection's records are called in members: without `_id` after it. */
export function callsOf(collection: string): readonly string[] {
  const one = bare(singular(collection))
  // Shelves are of a shelf, archives are not of an archif.
  return /ves$/.test(collection) ? [one, bare(collection).slice(0, -1)] : [one, bare(collection)]
}

/** What a member refers to by its name: `country` of `country_id`; `undefined` where it ends in no id. */
export function referred(member: string): string | undefined {
  const found = /^(.+?)(?:_id|-id|Id|ID|_uuid|Uuid|_key)$/.exec(member)
  return found === null ? undefined : bare(found[1] as string)
}
