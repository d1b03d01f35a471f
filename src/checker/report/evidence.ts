/** Exchanges for people: requests as commands that can be pasted into a shell, and responses as lines. */
import type { Part } from '../case/case.ts'
import { type Asked, type Exchange, jsonOf } from '../client/exchange.ts'
import { memberPointer } from '../values/json.ts'

/** A request as one line of shell: `curl`, or the bytes themselves if no HTTP client would send them. */
export function commandOf(asked: Asked): string {
  return asked.bytes === undefined ? curlCommand(asked) : bytesCommand(asked, asked.bytes)
}

const mostCharacters = 2_000

function shortened(text: string): string {
  return text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text
}

function curlCommand({ method, url, fields, body }: Asked): string {
  const words = ['curl', '-i', '--path-as-is', '-g']
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

/** A word of a shell. The shell replaces the variables of credentials in it, and nothing else. */
function quoted(text: string): string {
  if (/\$(?:OTHER_)?KEY\d*/.test(text)) {
    return `"${text.replaceAll(/[\\"`]|\$(?!(?:OTHER_)?KEY)/g, (character) => `\\${character}`)}"`
  }
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

/** A line of a response. */
export interface Line {
  readonly text: string
  /** Whether it shows the problem. */
  readonly marked: boolean
}

const mostLines = 40
const widest = 200

/** A response as lines, those of the wrong part marked. */
export function responseLines({ answer, failure }: Exchange, part: Part): Line[] {
  if (answer === undefined) return [{ text: failure ?? 'no response', marked: true }]
  const name = typeof part === 'object' && 'field' in part ? part.field.toLowerCase() : undefined
  return [
    line(`HTTP/${answer.version} ${answer.status}`, part === 'status' || part === 'connection'),
    ...answer.fields.map(([each, value]) => line(`${each}: ${value}`, each.toLowerCase() === name)),
    ...(answer.body === '' ? [] : [line('', false), ...bodyLines(answer, part)]),
  ]
}

function bodyLines(answer: NonNullable<Exchange['answer']>, part: Part): Line[] {
  const pointer = typeof part === 'object' && 'pointer' in part ? part.pointer : undefined
  const value = jsonOf(answer)
  const lines =
    value === undefined ? answer.body.split('\n').map((text) => line(text, false)) : jsonLines(value, pointer)
  const all = part === 'body' ? lines.map((each) => ({ ...each, marked: true })) : lines
  if (all.length <= mostLines) return all
  const first = all.findIndex(({ marked }) => marked)
  const start = first < mostLines ? 0 : first - mostLines / 2
  const rest = all.length - start - mostLines
  return [
    ...(start > 0 ? [line(`… ${start} lines`, false)] : []),
    ...all.slice(start, start + mostLines),
    ...(rest > 0 ? [line(`… ${rest} lines more`, false)] : []),
  ]
}

function line(text: string, marked: boolean): Line {
  return { text: text.length > widest ? `${text.slice(0, widest)} …` : text, marked }
}

/** JSON with one member a line. Marks the value at a pointer; if there is none, the first line. */
function jsonLines(value: unknown, pointer: string | undefined): Line[] {
  const lines: Line[] = []
  const write = (each: unknown, at: string, before: string, after: string, isInside: boolean) => {
    const marked = isInside || at === pointer
    const indent = '  '.repeat(at.split('/').length - 1)
    if (typeof each !== 'object' || each === null || Object.keys(each).length === 0) {
      lines.push(line(`${indent}${before}${JSON.stringify(each)}${after}`, marked))
      return
    }
    const isArray = Array.isArray(each)
    lines.push(line(`${indent}${before}${isArray ? '[' : '{'}`, marked))
    const entries = Object.entries(each)
    for (const [index, [name, inner]] of entries.entries()) {
      const comma = index < entries.length - 1 ? ',' : ''
      write(inner, at + memberPointer(name), isArray ? '' : `${JSON.stringify(name)}: `, comma, marked)
    }
    lines.push(line(`${indent}${isArray ? ']' : '}'}${after}`, marked))
  }
  write(value, '', '', '', false)
  if (pointer === undefined || lines.some(({ marked }) => marked)) return lines
  return lines.map((each, index) => (index === 0 ? { ...each, marked: true } : each))
}
