/** Entity tags (RFC 9110 section 8.8.3) and the lists of them in `If-Match` and `If-None-Match`. */

/** An entity tag: the text between the quotes, and whether it begins with `W/`. */
export interface EntityTag {
  readonly opaque: string
  readonly weak: boolean
}

// etagc: visible characters without the double quote, and obs-text. Quotes may contain commas.
const entityTag = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/y
// A recipient accepts empty list elements (section 5.6.1.2).
const separators = /[ \t,]*/y
const end = /[ \t]*(?:,|$)/y

/**
 * Reads the value of `If-Match` or `If-None-Match` (RFC 9110 sections 13.1.1 and 13.1.2).
 *
 * @returns `any` for `*`, the tags in their order, or `undefined`: the value is empty or malformed
 */
export function parseEntityTags(text: string): 'any' | EntityTag[] | undefined {
  if (text.trim() === '*') return 'any'
  const tags: EntityTag[] = []
  let index = skip(separators, text, 0)
  while (index < text.length) {
    entityTag.lastIndex = index
    const found = entityTag.exec(text)
    if (found === null) return undefined
    index = entityTag.lastIndex
    end.lastIndex = index
    if (!end.test(text)) return undefined
    tags.push({ opaque: found[2]!, weak: found[1] !== undefined })
    index = skip(separators, text, index)
  }
  return tags.length === 0 ? undefined : tags
}

function skip(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index
  pattern.test(text)
  return pattern.lastIndex
}

/** Writes a tag as in `ETag`: `"7"` or `W/"7"`. */
export function formatEntityTag(tag: EntityTag): string {
  return tag.weak ? `W/"${tag.opaque}"` : `"${tag.opaque}"`
}

/** Strong comparison (RFC 9110 section 8.8.3.2): the same characters, and neither tag weak. For `If-Match`. */
export function sameStrongly(left: EntityTag, right: EntityTag): boolean {
  return !left.weak && !right.weak && left.opaque === right.opaque
}

/** Weak comparison (RFC 9110 section 8.8.3.2): the same characters, weak or not. For `If-None-Match`. */
export function sameWeakly(left: EntityTag, right: EntityTag): boolean {
  return left.opaque === right.opaque
}
