/**
 * Calls between two threads, both ways. Everything that is said in one turn of the event loop goes in one message.
 * Calls arrive in the order in which they were made. Arguments and results are plain data, and so are errors: a copy
 * that another thread gets of an error has lost its class.
 */

import { MessagePort, type Transferable, type Worker } from 'node:worker_threads'
import { Fault } from 'resourced-contract/spec/faults'
import { StorageFault } from '../storage.ts'

let received = 0

/**
 * How many messages this thread has received through channels. They may arrive while others are handled, without a poll
 * of the event loop in between.
 */
export function messagesReceived(): number {
  return received
}

type Calls = { readonly [name: string]: (argument: never) => unknown }
type Argument<Call> = Call extends (argument: infer Given) => unknown ? Given : never
type Result<Call> = Call extends (argument: never) => infer Given ? Awaited<Given> : never

/** One end of a channel. */
export interface Channel<Theirs> {
  /** Calls the other side. Rejects with the error that it throws, or with `ended` if it ends before it has answered. */
  call<Name extends keyof Theirs>(name: Name, argument?: Argument<Theirs[Name]>): Promise<Result<Theirs[Name]>>
  /** Calls the other side without an answer. */
  tell<Name extends keyof Theirs>(name: Name, argument?: Argument<Theirs[Name]>): void
}

/** What a channel goes through: a port, or a thread as the one that has started it sees it. */
export type Peer = MessagePort | Worker

type Item =
  | { readonly call: number; readonly name: string; readonly argument?: unknown }
  | { readonly reply: number; readonly value?: unknown; readonly failed?: PlainError }

/**
 * Opens this thread's end of a channel to another thread, which may call `own`.
 *
 * @param ended the error of calls that the other thread can no longer answer
 */
export function openChannel<Theirs>(
  peer: Peer,
  own: object,
  ended: () => unknown = () => new Error('The other thread has ended.'),
): Channel<Theirs> {
  const handlers = own as Calls
  const waiting = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  let items: Item[] = []
  let isOpen = true
  const send = (batch: readonly Item[]) => {
    if (!isOpen) return batch.forEach(closePort)
    try {
      peer.postMessage(batch, batch.flatMap(transferredOf))
    } catch (error) {
      // One of them is no plain data. The others are not to blame.
      if (batch.length > 1) for (const item of batch) send([item])
      else refuse(batch[0]!, error)
    }
  }
  /** Answers a call that cannot be sent, or says that its result cannot be. */
  const refuse = (item: Item, error: unknown) => {
    if ('reply' in item) send([{ reply: item.reply, failed: plainError(error) }])
    else settle({ reply: item.call, failed: plainError(error) })
  }
  const flush = () => {
    const batch = items
    items = []
    send(batch)
  }
  const push = (item: Item) => {
    if (items.push(item) === 1) setImmediate(flush)
  }
  const answer = async ({ call, name, argument }: Extract<Item, { call: number }>) => {
    try {
      const value = await handlers[name]?.(argument as never)
      if (call > 0) push({ reply: call, value })
    } catch (error) {
      if (call > 0) push({ reply: call, failed: plainError(error) })
    }
  }
  const settle = ({ reply, value, failed }: Extract<Item, { reply: number }>) => {
    const pending = waiting.get(reply)
    waiting.delete(reply)
    if (failed === undefined) pending?.resolve(value)
    else pending?.reject(errorOf(failed))
  }
  const receive = (batch: readonly Item[]) => {
    received++
    for (const item of batch) {
      if ('call' in item) void answer(item)
      else settle(item)
    }
  }
  const end = () => {
    isOpen = false
    for (const { reject } of waiting.values()) reject(ended())
    waiting.clear()
  }
  if (peer instanceof MessagePort) peer.on('message', receive).once('close', end)
  else peer.on('message', receive).once('exit', end)
  return {
    call(name, argument) {
      const pending = Promise.withResolvers<unknown>()
      if (!isOpen) pending.reject(ended())
      else {
        waiting.set(++last, pending)
        push({ call: last, name: String(name), argument })
      }
      return pending.promise as never
    },
    tell: (name, argument) => push({ call: 0, name: String(name), argument }),
  }
}

/** What is moved instead of copied: a port, and the bytes of a piece of an export. */
function transferredOf(item: Item): Transferable[] {
  const port = portOf(item)
  const { text } = (('value' in item ? item.value : undefined) as { readonly text?: unknown } | undefined) ?? {}
  return [...(port === undefined ? [] : [port]), ...(text instanceof Uint8Array ? [text.buffer] : [])] as never
}

function portOf(item: Item): MessagePort | undefined {
  const { port } = (('argument' in item ? item.argument : undefined) as { readonly port?: unknown } | undefined) ?? {}
  return port instanceof MessagePort ? port : undefined
}

/** Closes a port that its receiver cannot get any more, so that whoever has the other end stops waiting. */
function closePort(item: Item): void {
  portOf(item)?.close()
}

/** An error as plain data. Classes that no branch depends on become those of JavaScript. */
export type PlainError =
  | { readonly of: 'storage'; readonly kind: StorageFault['kind']; readonly message: string; readonly cause: unknown }
  | {
      readonly of: 'fault'
      readonly code: Fault['code']
      readonly details: Fault['details']
      readonly cause: unknown
    }
  | { readonly of: 'other'; readonly error: unknown }

/** An error as plain data. Any thrown value is accepted. */
export function plainError(error: unknown): PlainError {
  if (error instanceof StorageFault) {
    const { kind, message, cause } = error
    return { of: 'storage', kind, message, cause: cloneable(cause) }
  }
  if (error instanceof Fault) {
    const { code, details, cause } = error
    return { of: 'fault', code, details, cause: cloneable(cause) }
  }
  return { of: 'other', error: cloneable(error) }
}

/** The error that was made plain. */
export function errorOf(plain: PlainError): unknown {
  if (plain.of === 'storage') return new StorageFault(plain.kind, plain.message, plain.cause)
  return plain.of === 'fault' ? new Fault(plain.code, plain.details, plain.cause) : plain.error
}

/** A thrown value that can be sent; else its text. An error keeps its message and its stack. */
function cloneable(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value instanceof Error ? Object.assign(new Error(value.message), { stack: value.stack }) : String(value)
  }
}
