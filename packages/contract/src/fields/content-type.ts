/** `Content-Type` (RFC 9110 section 8.3): a media type and its parameters. */

/** A media type, and its parameters by lower-case name. */
export interface ContentType {
  /** In lower case: `application/merge-patch+json`. */
  readonly mediaType: string
  readonly parameters: ReadonlyMap<string, string>
}

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const mediaType = new RegExp(`^[ \\t]*(${token}/${token})`)
// Quoted text may hold anything visible, blanks, and escaped characters (section 5.6.4).
const parameter = new RegExp(
  `[ \\t]*;[ \\t]*(?:(${token})=(?:(${token})|"((?:[^"\\\\\\0-\\x08\\x0a-\\x1f\\x7f]|\\\\[\\t -~\\x80-\\xff])*)"))?`,
  'y',
)

/**
 * Reads a `Content-Type`.
 *
 * @returns `undefined`: malformed, or with a duplicate parameter
 */
export function parseContentType(text: string): ContentType | undefined {
  if (text === 'application/json') return plainJson
  const start = mediaType.exec(text)
  if (start === null) return undefined
  const parameters = new Map<string, string>()
  let index = start[0].length
  while (index < text.length) {
    parameter.lastIndex = index
    const found = parameter.exec(text)
    if (found === null) return text.slice(index).trim() === '' ? make(start[1]!, parameters) : undefined
    index = parameter.lastIndex
    if (found[1] === undefined) continue
    const name = found[1].toLowerCase()
    if (parameters.has(name)) return undefined
    parameters.set(name, found[2] ?? found[3]!.replace(/\\(.)/g, '$1'))
  }
  return make(start[1]!, parameters)
}

function make(name: string, parameters: ReadonlyMap<string, string>): ContentType {
  return { mediaType: name.toLowerCase(), parameters }
}

const plainJson: ContentType = make('application/json', new Map())

/**
 * Whether the media type allows UTF-8, the only encoding of JSON between systems (RFC 8259 section 8.1).
 */
export function isUtf8(type: ContentType): boolean {
  const charset = type.parameters.get('charset')
  return charset === undefined || charset.toLowerCase() === 'utf-8'
}
