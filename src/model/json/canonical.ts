/** One text for each JSON value, whatever order its keys came in. */

/** A value as JSON with the keys of every object in order: equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`
  const members = Object.keys(value).sort()
  const texts = members.map((key) => `${JSON.stringify(key)}:${canonicalJson((value as Record<string, unknown>)[key])}`)
  return `{${texts.join()}}`
}
