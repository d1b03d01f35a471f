/** Keys written twice in JSON, which `JSON.parse` passes over: the second value would silently win. */

/** A key that an object has already, and where it stands. */
export interface DuplicateKey {
  readonly key: string
  /** Offset of its opening quote, in UTF-16 units. */
  readonly offset: number
}

const colon = /\s*:/y

/** Finds the duplicate keys of a text that `JSON.parse` accepts. */
export function duplicateKeys(text: string): DuplicateKey[] {
  const duplicates: DuplicateKey[] = []
  // One set of keys for each open object, `undefined` for each open array.
  const open: (Set<string> | undefined)[] = []
  for (const { 0: token, index } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]]/gs)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else {
      const keys = open.at(-1)
      // In an object, a string is a key where a colon follows.
      colon.lastIndex = index + token.length
      if (keys === undefined || !colon.test(text)) continue
      const key = JSON.parse(token) as string
      if (keys.has(key)) duplicates.push({ key, offset: index })
      keys.add(key)
    }
  }
  return duplicates
}
