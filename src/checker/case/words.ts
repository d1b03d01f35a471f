/** What names say: their form, and what kind of word they are, as far as that can be told of English. */

/** Lower case, words joined by hyphens (RES-1). */
export const hyphenated = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Lower case, words joined by underscores (RES-7). */
export const snakeCase = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/

// Plurals without an s at the end, words that have no other form, and those of which the end alone tells it.
const plurals = new RegExp(
  `(?:${`people men children feet teeth mice geese oxen data media criteria phenomena schemata bacteria strata
    spectra curricula corpora alumni cacti fungi nuclei radii stimuli syllabi dice series species news status
    equipment information feedback staff sheep fish deer craft ware furniture luggage money cash music traffic
    weather research advice knowledge evidence inventory history stock mail content police cattle`
    .split(/\s+/)
    .join('|')})$`,
)

/** Whether a name is plainly a singular one: `user`, `Category`. What is not plain is taken to be a plural. */
export function isSingular(name: string): boolean {
  const word = (name.split(/[-_.]|(?<=[a-z0-9])(?=[A-Z])/).at(-1) ?? '').toLowerCase()
  if (!/^[a-z]{2,}$/.test(word) || plurals.test(word)) return false
  return !word.endsWith('s') || word.endsWith('ss')
}

const verbs = new Set(
  `get fetch list-all create add insert update edit modify change delete remove destroy erase find save set
  make do execute invoke retrieve publish unpublish activate deactivate enable disable approve reject cancel
  send submit upsert duplicate`.split(/\s+/),
)

/**
 * The verb that a segment of a path begins with, or is: `create`, `getUsers`, `delete-all`. `restore` and `bulk-
 * delete` may be there.
 */
export function verbIn(segment: string): string | undefined {
  if (segment === 'restore' || segment === 'bulk-delete') return undefined
  const first = segment.split(/[-_.]|(?<=[a-z0-9])(?=[A-Z])/)[0]?.toLowerCase() ?? ''
  return verbs.has(first) ? first : undefined
}

/** The extension that a segment ends with: `.json`. */
export function extensionOf(segment: string): string | undefined {
  return /\.[a-z][a-z0-9]{1,4}$/i.exec(segment)?.[0]
}
