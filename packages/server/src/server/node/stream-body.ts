/** Writes a body that has no end of its own, such as a stream of events, to the client of a Node server. */
import type { ServerResponse } from 'node:http'
import type { StreamBody, StreamSink } from '../../http/message.ts'
import { abortResponse, closeUnannounced, isOver, type PendingRequest, type ServerState } from './pending-request.ts'

/** A response that is open until its body or its client ends it. There may be thousands, so each is small. */
export class OpenStream implements StreamSink {
  readonly #pending: PendingRequest
  readonly #body: StreamBody
  readonly #state: Pick<ServerState, 'streams' | 'closing'>
  #isClosed = false

  constructor(pending: PendingRequest, body: StreamBody, state: Pick<ServerState, 'streams' | 'closing'>) {
    this.#pending = pending
    this.#body = body
    this.#state = state
  }

  /** Begins to write the body. The head was written. */
  start(): void {
    const { request, response } = this.#pending
    const writable = response as ServerResponse
    this.#state.streams.add(this)
    response.on('drain', this.#onDrain)
    response.on('close', this.#onClose)
    // A client that closes its side while a stream is open has gone, and must not count against the limits of streams.
    if (request.httpVersionMajor !== 2) request.socket.on('end', this.#onClientEnd)
    writable.flushHeaders()
    this.#body.open(this)
  }

  write(piece: Uint8Array): boolean {
    return isOver(this.#pending.response) || (this.#pending.response as ServerResponse).write(piece)
  }

  end(): void {
    const { response } = this.#pending
    if (!isOver(response)) {
      response.once('finish', () => closeUnannounced(this.#pending, this.#state))
      response.end()
    }
    this.#onClose()
  }

  abort(): void {
    abortResponse(this.#pending.response)
    this.#onClose()
  }

  readonly #onDrain = (): void => {
    if (!this.#isClosed) this.#body.drained()
  }

  readonly #onClientEnd = (): void => this.end()

  readonly #onClose = (): void => {
    if (this.#isClosed) return
    this.#isClosed = true
    const { request, response } = this.#pending
    response.off('drain', this.#onDrain)
    response.off('close', this.#onClose)
    if (request.httpVersionMajor !== 2) request.socket.off('end', this.#onClientEnd)
    this.#state.streams.delete(this)
    this.#body.closed()
  }
}
