/**
 * Calls between a worker and its supervisor, both ways, over the channel of Node.js between two processes. Everything
 * that is said in one turn of the event loop goes in one message. Calls arrive in the order in which they were made.
 */

import type { Share } from '../rates/counter.ts'
import type { LedgerAnswer, Unspent } from '../rates/lease-ledger.ts'

/** A window of a quota, of which a worker holds a part. */
export interface HeldWindow {
  readonly share: Share
  /** When it ends, in milliseconds since 1970. */
  readonly end: number
}

/** Where the workers are reached. */
export interface Listening {
  readonly port: number
  /** What all workers encrypt TLS sessions with: 48 bytes in base64. */
  readonly ticketKeys: string
  readonly metricsUrl: string | undefined
}

/** What a worker may ask of its supervisor. */
export interface SupervisorCalls {
  /** The worker can answer requests. Resolves when it gets connections. Its name is that by which it claims jobs. */
  ready(server: string): Promise<Listening>
  /** The worker has got the connection that was sent to it. */
  taken(): void
  /** The worker was asked to end, by a signal: it asks to be replaced. */
  leaving(): void
  /** Counts a request (LIM-1). */
  count(shares: readonly Share[]): Promise<LedgerAnswer>
  /** Gives back what a worker that ends has not spent of its windows. */
  giveBack(leases: readonly Unspent[]): void
  /** Counts a stream of events. Returns whether the caller may have one more (EVT-7). */
  takeStream(stream: { readonly caller: string; readonly most: number }): Promise<boolean>
  /** A stream of the caller has ended. */
  releaseStream(caller: string): void
  /** Reads the metrics of all workers as text (OPS-7). */
  metrics(): Promise<string>
  /** Reports the metrics of a worker that ends. */
  report(metrics: readonly object[]): Promise<void>
  /** The worker wants to write to the SQLite file; with `true` it has waited for too long, and writes now. */
  askTurn(isUrgent: boolean): void
  /** The worker gives back the turn to write. */
  leaveTurn(): void
  /** A key was revoked. Resolves when no worker authenticates by a cached key any more. */
  revoked(): Promise<void>
}

/** What a supervisor may ask of a worker. */
export interface WorkerCalls {
  /** Answers as soon as its event loop turns: whether a debugger can stop it. */
  beat(): boolean
  /** Finishes running requests, and ends the process. No connection follows. */
  drain(): void
  /** Takes back what is not spent of a window. */
  recall(window: HeldWindow): Promise<number>
  /** Reports how much of a window no worker holds. */
  update(window: HeldWindow & { readonly free: number }): void
  /** The worker may write to the SQLite file; with `true`, others write too. */
  grantTurn(isShared: boolean): void
  /** Another worker waits for the turn to write. */
  recallTurn(): void
  /** Forgets cached keys. */
  forget(): Promise<void>
  /** The metrics of the worker, as `prom-client` aggregates them. */
  metrics(): Promise<readonly object[]>
}

type Calls = { readonly [name: string]: (argument: never) => unknown }
type Argument<Call> = Call extends (argument: infer Given) => unknown ? Given : never
type Result<Call> = Call extends (argument: never) => infer Given ? Awaited<Given> : never

/** One end of a channel. */
export interface Channel<Theirs> {
  /** Calls the other side. Rejects if it fails, or ends before it has answered. */
  call<Name extends keyof Theirs>(name: Name, argument?: Argument<Theirs[Name]>): Promise<Result<Theirs[Name]>>
  /** Calls the other side without an answer; `tellNow` does not wait for the end of the turn of the event loop. */
  tellNow<Name extends keyof Theirs>(name: Name, argument?: Argument<Theirs[Name]>): void
  tell<Name extends keyof Theirs>(name: Name, argument?: Argument<Theirs[Name]>): void
}

/** A process that has a channel: a child, or this process. */
export interface Peer {
  send?: ((message: object, callback: () => void) => unknown) | undefined
  readonly connected: boolean
  on(event: 'message', listener: (message: unknown) => void): unknown
  once(event: 'disconnect' | 'exit', listener: () => void): unknown
}

type Item =
  | { readonly call: number; readonly name: string; readonly argument?: unknown }
  | { readonly reply: number; readonly value?: unknown; readonly failed?: string }

/** Opens this process' end of the channel to another process, which may call `own`. */
export function openChannel<Theirs>(peer: Peer, own: object): Channel<Theirs> {
  const handlers = own as Calls
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  let items: Item[] = []

  const flush = () => {
    const batch = items
    if (batch.length === 0) return
    items = []
    // The other process may have ended: `disconnect` follows.
    if (peer.connected) peer.send?.({ items: batch }, () => {})
  }
  const push = (item: Item) => {
    if (items.push(item) === 1) setImmediate(flush)
  }

  const answer = async ({ call, name, argument }: Extract<Item, { call: number }>) => {
    try {
      const value = await handlers[name]?.(argument as never)
      if (call > 0) push({ reply: call, value })
    } catch (error) {
      if (call > 0) push({ reply: call, failed: String(error) })
    }
  }
  const settle = ({ reply, value, failed }: Extract<Item, { reply: number }>) => {
    const pending = waiting.get(reply)
    waiting.delete(reply)
    if (failed === undefined) pending?.resolve(value)
    else pending?.reject(new Error(failed))
  }

  peer.on('message', (message) => {
    const { items: received } = message as { readonly items?: readonly Item[] }
    for (const item of received ?? []) 'call' in item ? void answer(item) : settle(item)
  })
  const end = () => {
    for (const { reject } of waiting.values()) reject(new Error('The other process has ended.'))
    waiting.clear()
  }
  peer.once('disconnect', end)
  // While a connection is under way to a process that is killed, Node.js does not report the end of the channel.
  peer.once('exit', end)
  return {
    call(name, argument) {
      const pending = Promise.withResolvers<unknown>()
      if (!peer.connected) pending.reject(new Error('The other process has ended.'))
      else {
        waiting.set(++last, pending)
        push({ call: last, name: String(name), argument })
      }
      return pending.promise as never
    },
    tellNow(name, argument) {
      items.push({ call: 0, name: String(name), argument })
      flush()
    },
    tell: (name, argument) => push({ call: 0, name: String(name), argument }),
  }
}
