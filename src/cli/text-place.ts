/** Where in a text something is, as editors count: from 1. */

/** The place of an offset in UTF-16 units. */
export function place(text: string, offset: number): string {
  const before = text.slice(0, offset).split('\n')
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
}
