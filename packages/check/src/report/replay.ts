/**
 * The requests of a case as commands that can be repeated: identifiers and entity tags that a response returned become
 * variables of the shell, so that the commands work on new records, too.
 */
import { type Answer, type Asked, type Exchange, fieldOf, isSuccess, jsonOf } from '../client/exchange.ts'
import type { CaseResult } from '../run/check.ts'

interface Command {
  readonly text: string
  /** How many times it was sent. */
  readonly times: number
  /** What its response shows to be wrong; empty if nothing. */
  readonly findings: readonly string[]
}

/** A value of an earlier response that later requests repeat. */
interface Variable {
  readonly name: string
  readonly value: string
  /** Reads the value from the response. */
  readonly reading: string
  /** Whether it is read from the header fields. */
  readonly isField: boolean
}

/** The requests of a case as lines for a shell: a comment marks those whose responses are wrong. */
export function replayLines(result: Pick<CaseResult, 'exchanges' | 'findings'>): string[] {
  return commandsOf(result).flatMap(({ text, times, findings }) => [
    ...findings.map((finding) => `# ✖ the next response: ${finding.replaceAll(/\s+/g, ' ')}`),
    times === 1 ? text : `${text}   # ${times} times`,
  ])
}

/** The requests of a case in the order in which they were sent; equal ones in a row once. */
function commandsOf({ exchanges, findings }: Pick<CaseResult, 'exchanges' | 'findings'>): readonly Command[] {
  const known: Variable[] = []
  const commands: Command[] = []
  for (const [index, exchange] of exchanges.entries()) {
    const asked = withVariables(exchange.asked, known)
    const later = exchanges.slice(index + 1).map((each) => each.asked)
    const found = variablesOf(exchange, later, known)
    known.push(...found)
    const text = found.length === 0 ? commandOf(asked) : assignment(asked, found)
    const wrong = findings.filter((each) => each.exchange === exchange).map(({ message }) => message)
    const last = commands.at(-1)?.text === text ? commands.pop() : undefined
    commands.push({ text, times: (last?.times ?? 0) + 1, findings: [...(last?.findings ?? []), ...wrong] })
  }
  return commands
}

function assignment(asked: Asked, found: readonly Variable[]): string {
  const [fields, values] = [true, false].map((isField) => found.filter((each) => each.isField === isField))
  const [first] = values as Variable[]
  const file = 'headers.txt'
  const output = fields?.length === 0 ? ['-s'] : ['-s', '-D', file, ...(first === undefined ? ['-o', '/dev/null'] : [])]
  const command = commandOf(asked, output)
  const start = first === undefined ? command : `${first.name}=$(${command} | ${first.reading})`
  return [start, ...(fields ?? []).map(({ name, reading }) => `${name}=$(${reading} ${file} | tr -d '\\r')`)].join('; ')
}

/** The values of a response that later requests repeat, and that are in no variable yet. */
function variablesOf({ answer, asked }: Exchange, later: readonly Asked[], known: readonly Variable[]) {
  if (!isSuccess(answer) || asked.bytes !== undefined) return []
  const isNew = (value: string) => known.every((each) => each.value !== value)
  const own = new Set(segmentsOf(asked.url))
  const wanted = new Set(later.flatMap(({ url }) => segmentsOf(url)).filter((each) => !own.has(each) && isNew(each)))
  const texts = later.flatMap(({ body = '', bytes = '' }) => [body, bytes])
  const isRepeated = (value: string) =>
    wanted.has(value) || (value.length >= leastUnique && isNew(value) && texts.some((text) => text.includes(value)))
  const id = identifierIn(answer, isRepeated, asked)
  const tag = fieldOf(answer, 'ETag')
  const isTagRepeated = tag !== undefined && later.some((each) => each.fields.some(([, value]) => value.includes(tag)))
  const name = (start: string, count: number) => (count === 0 ? start : `${start}${count + 1}`)
  const countOf = (start: string) => known.filter((each) => each.name.startsWith(start)).length
  return [
    ...(id === undefined ? [] : [{ ...id, name: name('ID', countOf('ID')) }]),
    ...(isTagRepeated && isNew(tag)
      ? [{ name: name('ETAG', countOf('ETAG')), value: tag, reading: fieldReading('etag', ''), isField: true }]
      : []),
  ]
}

/** From this length on, a text is taken for the identifier wherever it occurs. */
const leastUnique = 8

function identifierIn(answer: Answer, isRepeated: (value: string) => boolean, { url }: Asked) {
  const leaves = leavesOf(jsonOf(answer), '', 0).filter(({ value }) => isRepeated(value))
  const leaf =
    leaves.find(({ at }) => /(?:^|\.)_?id$/.test(at)) ?? leaves.find(({ at }) => /(?:id|key|slug)$/i.test(at))
  if (leaf !== undefined) return { value: leaf.value, reading: `jq -r '${leaf.at}'`, isField: false }
  const location = fieldOf(answer, 'Location')
  const value = location === undefined ? undefined : segmentsOf(new URL(location, url).href).at(-1)
  if (value === undefined || !isRepeated(value)) return undefined
  return { value, reading: fieldReading('location', '.*/'), isField: true }
}

function fieldReading(name: string, before: string): string {
  const letters = [...name].map((letter) => `[${letter.toUpperCase()}${letter}]`).join('')
  return `sed -n 's|^${letters}: *${before}||p'`
}

const deepest = 4

/** The texts and numbers in a JSON value, each with its place as `jq` writes it. */
function leavesOf(
  value: unknown,
  at: string,
  depth: number,
): readonly { readonly at: string; readonly value: string }[] {
  if (typeof value === 'string' || typeof value === 'number') return value === '' ? [] : [{ at, value: String(value) }]
  if (typeof value !== 'object' || value === null || depth === deepest) return []
  return Object.entries(value).flatMap(([name, each]) => {
    const step = Array.isArray(value) ? `[${name}]` : /^\w+$/.test(name) ? `.${name}` : undefined
    return step === undefined ? [] : leavesOf(each, (at === '' && step.startsWith('[') ? '.' : at) + step, depth + 1)
  })
}

function segmentsOf(url: string): readonly string[] {
  return pathOf(url)
    .split('/')
    .flatMap((each) => decoded(each) || [])
}

/** The path of an address as it was sent: some are invalid on purpose. */
function pathOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? ''
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** A request with the names of variables in place of their values. */
function withVariables(asked: Asked, known: readonly Variable[]): Asked {
  let each = asked
  for (const variable of known) each = withVariable(each, variable)
  return each
}

function withVariable(asked: Asked, { name, value, isField }: Variable): Asked {
  const isTag = isField && name.startsWith('ETAG')
  const isUnique = isTag || value.length >= leastUnique
  const variable = `$${name}`
  const inText = (text: string) => (isUnique ? text.replaceAll(value, variable) : withIdentifier(text, value, variable))
  const path = pathOf(asked.url)
  const start = asked.url.indexOf(path, asked.url.indexOf('//') + 2)
  const segments = path.split('/').map((each) => (decoded(each) === value ? variable : each))
  const url = asked.url.slice(0, start) + segments.join('/') + asked.url.slice(start + path.length)
  return {
    ...asked,
    url: isUnique && !isTag ? url.replaceAll(value, variable) : url,
    fields: asked.fields.map(([field, text]) => [field, isUnique ? text.replaceAll(value, variable) : text] as const),
    body: asked.body && inText(asked.body),
    bytes: asked.bytes && inText(asked.bytes),
  }
}

/** JSON text with a variable in place of a short identifier, in members whose names end with `id`. */
function withIdentifier(text: string, value: string, variable: string): string {
  return text.replaceAll(/("\w*id":\s*"?)([^",}\]]+)/gi, (whole, start, inner) =>
    inner === value ? start + variable : whole,
  )
}

/**
 * A request as one line of shell: `curl`, or the bytes themselves if no HTTP client would send them.
 *
 * @param output options of `curl` for its output; the response with its header fields if undefined
 */
export function commandOf(asked: Asked, output: readonly string[] = ['-i']): string {
  return asked.bytes === undefined ? curlCommand(asked, output) : bytesCommand(asked, asked.bytes)
}

const mostCharacters = 2_000

function shortened(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
}

function curlCommand({ method, url, fields, body }: Asked, output: readonly string[]): string {
  const words = ['curl', ...output, '--path-as-is', '-g']
  if (method === 'HEAD') words.push('-I')
  else if (method !== (body === undefined ? 'GET' : 'POST')) words.push('-X', method)
  for (const [name, value] of fields) words.push('-H', quoted(value === '' ? `${name};` : `${name}: ${value}`))
  if (body !== undefined) words.push('--data-raw', quoted(shortened(body)))
  return [...words, quoted(url)].join(' ')
}

function bytesCommand({ url }: Asked, bytes: string): string {
  // What follows the authority may be invalid on purpose.
  const [, protocol, host = '', port] = /^(https?):\/\/(\[[^\]]*\]|[^:/?# ]*)(?::(\d+))?/.exec(url) ?? []
  const connection =
    protocol === 'https'
      ? `openssl s_client -quiet -connect ${host}:${port ?? '443'}`
      : `nc ${host.replaceAll(/[[\]]/g, '')} ${port ?? '80'}`
  return `printf ${quoted([...shortened(bytes)].map(printfEscaped).join(''))} | ${connection}`
}

function printfEscaped(character: string): string {
  if (character === '\r') return '\\r'
  if (character === '\n') return '\\n'
  if (character === '\\' || character === '%') return character + character
  const code = character.charCodeAt(0)
  return code < 32 || code > 126 ? `\\${code.toString(8).padStart(3, '0')}` : character
}

/** A word of a shell, which replaces the variables of credentials, identifiers and entity tags, and nothing else. */
function quoted(text: string): string {
  if (/\$(?:(?:OTHER_)?KEY|ID|ETAG)\d*/.test(text)) {
    return `"${text.replaceAll(/[\\"`]|\$(?!(?:OTHER_)?KEY|ID|ETAG)/g, (character) => `\\${character}`)}"`
  }
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
