/** Requests as commands that can be pasted. */
import type { Asked } from '../client/exchange.ts'

/** A request as one line of shell: `curl`, or the bytes themselves where no client would send them. */
export function commandOf(asked: Asked): string {
  return asked.bytes === undefined ? curlOf(asked) : bytesOf(asked, asked.bytes)
}

function curlOf({ method, url, fields, body }: Asked): string {
  const words = ['curl', '-i', '--path-as-is', '-g']
  if (method === 'HEAD') words.push('-I')
  else if (method !== (body === undefined ? 'GET' : 'POST')) words.push('-X', method)
  for (const [name, value] of fields) words.push('-H', quoted(value === '' ? `${name};` : `${name}: ${value}`))
  if (body !== undefined) words.push('--data-raw', quoted(body.length > 2_000 ? `${body.slice(0, 2_000)}…` : body))
  return [...words, quoted(url)].join(' ')
}

function bytesOf({ url }: Asked, bytes: string): string {
  const format = bytes.length > 2_000 ? `${bytes.slice(0, 2_000)}…` : bytes
  const escaped = [...format].map(written).join('')
  // What follows the authority may be anything: it is what was tried.
  const [, protocol, host = '', port] = /^(https?):\/\/(\[[^\]]*\]|[^:/?# ]*)(?::(\d+))?/.exec(url) ?? []
  const isSecure = protocol === 'https'
  const to = port ?? (isSecure ? '443' : '80')
  const connection = isSecure
    ? `openssl s_client -quiet -connect ${host}:${to}`
    : `nc ${host.replaceAll(/[[\]]/g, '')} ${to}`
  return `printf ${quoted(escaped)} | ${connection}`
}

function written(character: string): string {
  if (character === '\r') return '\\r'
  if (character === '\n') return '\\n'
  if (character === '\\' || character === '%') return character + character
  const code = character.charCodeAt(0)
  return code < 32 || code > 126 ? `\\${code.toString(8).padStart(3, '0')}` : character
}

/** A word for a shell. Where a credential stands in it, as a variable, that is filled in. */
function quoted(text: string): string {
  if (/\$(?:OTHER_)?KEY\d*/.test(text)) {
    return `"${text.replaceAll(/[\\"`]|\$(?!(?:OTHER_)?KEY)/g, (character) => `\\${character}`)}"`
  }
  return /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
