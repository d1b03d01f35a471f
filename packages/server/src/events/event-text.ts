/** The text of a stream of server-sent events (HTML Standard, section 9.2.6). */

const lineBreak = /\r\n|\r|\n/

/**
 * An event of the stream. Data of several lines stay whole.
 *
 * @param id what `Last-Event-ID` of the next request contains
 * @param kind the name that listeners of `EventSource` use
 */
export function eventText(id: string, kind: string, data: string): string {
  const lines = /[\r\n]/.test(data) ? data.split(lineBreak).join('\ndata: ') : data
  return `id: ${id}\nevent: ${kind}\ndata: ${lines}\n\n`
}

/** Sets the id from which a client resumes. The client sees no event. */
export function idText(id: string): string {
  return `id: ${id}\n\n`
}

/** How long a client waits before it reconnects, in milliseconds. */
export function retryText(milliseconds: number): string {
  return `retry: ${milliseconds}\n\n`
}

/** A line that clients ignore. */
export function commentText(text: string): string {
  return `: ${text.replaceAll(/[\r\n]+/g, ' ')}\n\n`
}
