/** Reads a stream of server-sent events by the rules of the HTML Standard (section 9.2.6). */

/** A block of the stream, which ends with an empty line. */
interface Block {
  /** `undefined`: the block is no event, and only sets the others. */
  readonly data: string | undefined
  readonly id: string | undefined
  /** How long to wait before a reconnection, in milliseconds. */
  readonly retry: number | undefined
}

/**
 * Reads the blocks of a response until it ends. A block that is incomplete then is dropped.
 *
 * @param heard is called whenever bytes come
 */
export async function* readServerSentEvents({ body }: Response, heard: () => void): AsyncGenerator<Block, void, void> {
  const reader = body!.getReader()
  const decoder = new TextDecoder()
  let [rest, isAfterReturn] = ['', false]
  let fields: Record<string, string | undefined> = {}
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      heard()
      let text = decoder.decode(value, { stream: true })
      if (text === '') continue
      // The two characters of one line end may come separately.
      if (isAfterReturn && text[0] === '\n') text = text.slice(1)
      isAfterReturn = text.endsWith('\r')
      const lines = (rest + text).split(/\r\n?|\n/)
      rest = lines.pop()!
      for (const line of lines) {
        if (line === '') {
          const { data, id, retry } = fields
          fields = {}
          yield { data, id, retry: retry && /^\d+$/.test(retry) ? Number(retry) : undefined }
          continue
        }
        const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
        if (name === 'data' && fields['data'] !== undefined) fields['data'] += `\n${value}`
        else if (name !== 'id' || !value.includes('\0')) fields[name] = value
      }
    }
  } finally {
    // The connection ends with the loop of the caller.
    reader.cancel().catch(() => {})
  }
}
