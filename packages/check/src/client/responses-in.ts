/** Responses in the bytes of a connection, one for each character. */
import type { Answer, Fields } from './exchange.ts'

/** Header fields, one in each line. */
export function fieldsIn(lines: readonly string[]): Fields {
  return lines.flatMap((line) => {
    const colon = line.indexOf(':')
    return colon > 0 ? [[line.slice(0, colon), line.slice(colon + 1).trim()] as const] : []
  })
}

/** The complete responses in the received bytes, and the rest. */
export function answersIn(received: string, method: string): { readonly answers: Answer[]; readonly rest: string } {
  const answers: Answer[] = []
  let index = 0
  while (index < received.length) {
    const end = received.indexOf('\r\n\r\n', index)
    const [first = '', ...lines] = received.slice(index, end).split('\r\n')
    const found = /^HTTP\/(1\.[01]) (\d{3})/.exec(first)
    if (end < 0 || found === null) break
    const fields = fieldsIn(lines)
    const status = Number(found[2])
    const body = bodyIn(received.slice(end + 4), { status, method, fields })
    if (body === undefined) break
    answers.push({ status, version: found[1] as string, fields, body: Buffer.from(body.text, 'latin1').toString() })
    index = end + 4 + body.length
  }
  return { answers, rest: received.slice(index) }
}

/** A response whose body goes on, such as a stream, as far as it was received; `undefined`: its header did not end. */
export function beginningIn(received: string): Answer | undefined {
  const end = received.indexOf('\r\n\r\n')
  const [first = '', ...lines] = received.slice(0, end).split('\r\n')
  const found = /^HTTP\/(1\.[01]) (\d{3})/.exec(first)
  if (end < 0 || found === null) return undefined
  const fields = fieldsIn(lines)
  const rest = received.slice(end + 4)
  const isChunked = fields.some(([name, value]) => name.toLowerCase() === 'transfer-encoding' && value === 'chunked')
  const { text } = isChunked ? chunksIn(rest) : { text: rest }
  const body = Buffer.from(text, 'latin1').toString()
  return { status: Number(found[2]), version: found[1] as string, fields, body }
}

/** The body of a response and its length in bytes; `undefined` if it is incomplete. */
function bodyIn(
  rest: string,
  { status, method, fields }: { readonly status: number; readonly method: string; readonly fields: Fields },
): { readonly text: string; readonly length: number } | undefined {
  const of = (name: string) => fields.find(([each]) => each.toLowerCase() === name)?.[1]
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return { text: '', length: 0 }
  const length = of('content-length')
  if (length !== undefined) {
    return rest.length < Number(length) ? undefined : { text: rest.slice(0, Number(length)), length: Number(length) }
  }
  if (of('transfer-encoding') !== 'chunked') return { text: rest, length: rest.length }
  const { length: end, ...chunks } = chunksIn(rest)
  return end === undefined ? undefined : { ...chunks, length: end }
}

/** The text of the chunks that were received whole. `length` in bytes is `undefined` unless the last one was. */
function chunksIn(rest: string): { readonly text: string; readonly length: number | undefined } {
  let text = ''
  let index = 0
  while (true) {
    const end = rest.indexOf('\r\n', index)
    const size = Number.parseInt(rest.slice(index, end), 16)
    if (end < 0 || Number.isNaN(size) || rest.length < end + 2 + size + 2) return { text, length: undefined }
    text += rest.slice(end + 2, end + 2 + size)
    index = end + 2 + size + 2
    if (size === 0) return { text, length: index }
  }
}
