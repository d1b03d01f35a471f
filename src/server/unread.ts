/**
 * Bytes of answers that were made and that no client has taken yet (LIM-6). They are in this server's memory: so many for one caller, so many
 * for all.
 */
import { type HttpRequest, type HttpResponse, isFile } from '../http/message.ts'
import { type Fault, fault } from '../spec/faults.ts'

/** The most bytes of answers on their way. */
export interface UnreadBounds {
  readonly caller: number
  readonly server: number
}

const ordinaryBounds: UnreadBounds = { caller: 16_777_216, server: 134_217_728 }

/** Smaller answers are not counted: the system takes over far more of each connection. */
const countedFrom = 16_384

// Made once: an error costs more than the rest of the answer.
const headers = { 'Retry-After': '5' }
const callerBehind = fault('ANSWERS_UNREAD', {
  detail: 'Read the answers that are on their way to you, or close their connections; then send this request again.',
  headers,
})
const serverFull = fault('OVERLOADED', {
  detail: 'Too many bytes of answers wait for slow clients. Nothing was done. Try again shortly.',
  headers,
})

/** Counts the bytes of answers on their way, for one server. */
export class Unread {
  readonly #bounds: UnreadBounds
  readonly #callers = new Map<string, number>()
  #bytes = 0

  constructor(bounds: Partial<UnreadBounds> = {}) {
    this.#bounds = { ...ordinaryBounds, ...bounds }
  }

  /** The bytes on their way to all clients. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Why an answer of so many bytes may not be made for a caller; `undefined`: it may. To a caller who has nothing to read, any one answer may.
   *
   * @param bytes 0 where the answer is not made yet
   */
  refusal(caller: string, bytes: number): Fault | undefined {
    const before = this.#callers.get(caller) ?? 0
    if (before > 0 && before + bytes >= this.#bounds.caller) return callerBehind
    if (bytes > 0 && this.#bytes > 0 && this.#bytes + bytes > this.#bounds.server) return serverFull
    return undefined
  }

  add(caller: string, bytes: number): void {
    this.#bytes += bytes
    this.#callers.set(caller, (this.#callers.get(caller) ?? 0) + bytes)
  }

  /** They were taken, or nobody will take them. */
  remove(caller: string, bytes: number): void {
    this.#bytes -= bytes
    const rest = (this.#callers.get(caller) ?? 0) - bytes
    if (rest > 0) this.#callers.set(caller, rest)
    else this.#callers.delete(caller)
  }
}

/**
 * Counts an answer as on its way to its caller. What was changed is told whatever it takes; a file is not in memory.
 *
 * @throws Fault ANSWERS_UNREAD, OVERLOADED
 */
export function reserveFor({ method, reserve }: HttpRequest, { body }: HttpResponse, caller: string | undefined): void {
  if (reserve === undefined || caller === undefined || method === 'HEAD') return
  if (body === undefined || isFile(body) || body.length < countedFrom) return
  const refusal = reserve(caller, Buffer.byteLength(body), method === 'GET' || method === 'QUERY')
  if (refusal !== undefined) throw refusal
}
