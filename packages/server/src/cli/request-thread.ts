/** A thread that answers requests (`resourced serve`). */
import { parentPort, workerData } from 'node:worker_threads'
import { UsageError } from 'resourced-contract/spec/configuration-error'
import { beat, linkToMain, type ThreadPlace } from '../server/threads/thread-link.ts'
import type { Peer } from '../storage/threads/channel.ts'
import { explain } from './explain.ts'
import { type CommandThread, serveHere } from './serve.ts'

const { file, options, place, pulse } = workerData as CommandThread & { readonly place: ThreadPlace }
const thread = linkToMain(parentPort as Peer, place)
try {
  await serveHere(file, { ...options, thread })
  beat(pulse)
} catch (error) {
  thread.main.tell('failed', {
    text: explain(error, options.terminal?.colors),
    code: error instanceof UsageError ? 2 : 1,
  })
  setImmediate(() => process.exit(1))
}
