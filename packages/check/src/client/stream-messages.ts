/** The messages of a stream of server-sent events (HTML Standard, section 9.2). */

export interface StreamMessage {
  readonly id: string | undefined
  /** `message` unless the server names another one. */
  readonly event: string
  readonly data: string
}

/** The messages in the text of a stream, the last one only if it is complete. A message without data is none. */
export function messagesIn(text: string): readonly StreamMessage[] {
  const messages: StreamMessage[] = []
  let id: string | undefined
  for (const block of text.replaceAll(/\r\n?/g, '\n').split('\n\n').slice(0, -1)) {
    const data: string[] = []
    let event = 'message'
    for (const line of block.split('\n')) {
      const [, name, value = ''] = /^([^:]+)(?:: ?(.*))?$/.exec(line) ?? []
      if (name === 'id') id = value
      if (name === 'event') event = value
      if (name === 'data') data.push(value)
    }
    if (data.length > 0) messages.push({ id, event, data: data.join('\n') })
  }
  return messages
}
