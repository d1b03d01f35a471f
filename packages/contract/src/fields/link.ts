/** `Link` (RFC 8288): links of a response. */

/** A link: a URI reference and its relation types. */
export interface Link {
  readonly target: string
  /** One relation type, or several separated by spaces: `next`, `deprecation`. */
  readonly rel: string
  /** Further attributes, such as `type` and `datetime`; their values have no quotes. */
  readonly attributes?: Readonly<Record<string, string>>
}

// Characters that could end the angle brackets or the field; the rest of a target is encoded already.
const unsafe = /[\0-\x20<>"\\^`{|}\x7f-\u{10ffff}]/gu

/** Writes the value of `Link`, for instance `</v1/tasks?page=2>; rel="next"`. An empty list gives an empty text. */
export function formatLinks(links: readonly Link[], separator = ', '): string {
  return links
    .map(({ target, rel, attributes = {} }) => {
      const others = Object.entries(attributes).map(([name, value]) => `; ${name}="${value}"`)
      return `<${target.toWellFormed().replace(unsafe, encodeURIComponent)}>; rel="${rel}"${others.join('')}`
    })
    .join(separator)
}
