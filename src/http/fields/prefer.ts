/** `Prefer` (RFC 7240): the preferences of a client, which a server may ignore. */

/** Preferences by lower-case name; one without a value has the empty text. The first of a name counts (section 2). */
export type Preferences = ReadonlyMap<string, string>

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const word = `(?:"((?:[^"\\\\]|\\\\.)*)"|(${token}))`
const preference = new RegExp(`[ \\t]*(${token})(?:[ \\t]*=[ \\t]*${word})?`, 'y')
// One parameter at a time: nested repetitions would backtrack on `;;;;`.
const parameter = /[ \t]*;[^,";]*(?:"(?:[^"\\]|\\.)*"[^,";]*)*/y
const end = /[ \t]*(?:,|$)/y

/**
 * Reads a `Prefer` value. A malformed preference and everything after it is ignored: a preference is never an error by
 * itself.
 */
export function readPreferences(text: string | undefined): Preferences {
  const preferences = new Map<string, string>()
  if (text === undefined) return preferences
  let index = 0
  while (index < text.length) {
    preference.lastIndex = index
    const found = preference.exec(text)
    if (found === null) break
    index = preference.lastIndex
    for (parameter.lastIndex = index; parameter.test(text); ) index = parameter.lastIndex
    end.lastIndex = index
    if (!end.test(text)) break
    index = end.lastIndex
    const name = found[1]!.toLowerCase()
    const value = found[2]?.replace(/\\(.)/g, '$1') ?? found[3] ?? ''
    if (!preferences.has(name)) preferences.set(name, value)
  }
  return preferences
}
