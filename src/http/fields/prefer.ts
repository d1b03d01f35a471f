/** `Prefer` (RFC 7240): what a client would like, and may not get. */

/** Preferences by lower-case name; one without a value has the empty text. The first of a name counts (section 2). */
export type Preferences = ReadonlyMap<string, string>

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const word = `(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`
// One preference with its parameters, up to the comma that parts it from the next.
const preference = new RegExp(
  `[ \\t]*(${token})(?:[ \\t]*=[ \\t]*${word})?((?:[ \\t]*;[^,"]*(?:"(?:[^"\\\\]|\\\\.)*"[^,"]*)*)*)[ \\t]*(?:,|$)`,
  'y',
)

/** Reads a `Prefer` value. What cannot be read, and all after it, is left out: a preference is never an error by itself. */
export function readPreferences(text: string | undefined): Preferences {
  const preferences = new Map<string, string>()
  if (text === undefined) return preferences
  preference.lastIndex = 0
  for (let found = preference.exec(text); found !== null; found = preference.exec(text)) {
    const name = (found[1] as string).toLowerCase()
    const value = found[2]?.replace(/\\(.)/g, '$1') ?? found[3] ?? ''
    if (!preferences.has(name)) preferences.set(name, value)
    if (preference.lastIndex >= text.length) break
  }
  return preferences
}
