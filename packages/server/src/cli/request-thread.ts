/** A thread that answers requests (`resourced serve`). */
import { parentPort, workerData } from 'node:worker_threads'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { beat, linkToMain, type ThreadPlace } from '../server/threads/thread-link.ts'
import type { Peer } from '../storage/threads/channel.ts'
import { explain } from './explain.ts'
import { type ServeCommandOptions, serveHere } from './serve.ts'

/** What a thread of the command starts with. */
export interface CommandThread {
  readonly file: string | undefined
  readonly options: ServeCommandOptions
  readonly pulse: SharedArrayBuffer
}

const { file, options, place, pulse } = workerData as CommandThread & { readonly place: ThreadPlace }
const thread = linkToMain(parentPort as Peer, place)
try {
  await serveHere(file, { ...options, thread })
  beat(pulse)
} catch (error) {
  thread.failed({ text: explain(error, options.terminal?.colors), code: error instanceof UsageError ? 2 : 1 })
  setImmediate(() => process.exit(1))
}
