/** `Link` (RFC 8288): where else to go from an answer. */

/** A link: a URI reference, and the relation types that it stands in. */
export interface Link {
  readonly target: string
  /** One relation type, or several parted by blanks: `next`, `deprecation`. */
  readonly rel: string
}

// What could leave the angle brackets or the header; all else in a target is percent-encoded by whoever made it.
const unsafe = /[\0-\x20<>"\\^`{|}\x7f-\u{10ffff}]/gu

/** Writes the value of `Link`, for instance `</v1/tasks?page=2>; rel="next"`. An empty list gives an empty text. */
export function formatLinks(links: readonly Link[]): string {
  return links
    .map(({ target, rel }) => `<${target.toWellFormed().replace(unsafe, encodeURIComponent)}>; rel="${rel}"`)
    .join(', ')
}
