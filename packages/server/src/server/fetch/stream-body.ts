/** Turns a body that has no end of its own into a stream of the fetch API. */
import type { UnderlyingDefaultSource } from 'node:stream/web'
import type { StreamBody } from '../../http/message.ts'

// How many unread bytes a stream may have before the body waits.
const mostUnread = 65_536

/**
 * Makes a `ReadableStream` of a body.
 *
 * @param abandoned aborted when the client has gone, where the platform does not cancel the stream
 */
export function readableOf(body: StreamBody, abandoned: AbortSignal | undefined): ReadableStream<Uint8Array> {
  let isOpen = true
  let isFull = false
  const close = () => {
    if (!isOpen) return
    isOpen = false
    abandoned?.removeEventListener('abort', close)
    body.closed()
  }
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      abandoned?.addEventListener('abort', close)
      if (abandoned?.aborted) close()
      if (!isOpen) return controller.close()
      body.open({
        write(piece) {
          if (!isOpen) return true
          controller.enqueue(piece)
          isFull = (controller.desiredSize ?? 0) <= 0
          return !isFull
        },
        end() {
          if (isOpen) controller.close()
          close()
        },
        abort() {
          if (isOpen) controller.error(new Error('The response was aborted.'))
          close()
        },
      })
    },
    pull() {
      // It is also called while nothing was written.
      if (!isOpen || !isFull) return
      isFull = false
      body.drained()
    },
    cancel: close,
  }
  return new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: mostUnread }))
}
