/**
 * Lets threads of a server end, hang or fail, because no signal reaches one thread of a process. As a module that Node.js
 * loads first (`--import`) it runs in each thread; a test asks through a file and SIGUSR2.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BroadcastChannel, isMainThread, workerData } from 'node:worker_threads'
import type { ServerProcess } from './durability/command.ts'

/** What happens to a thread, by its number: 0 is the thread that writes. */
export interface ThreadFault {
  readonly thread: number
  /** `hang`: it does nothing for so many milliseconds, or until its file is removed (`hangFile`). */
  readonly how: 'exit' | 'throw' | { readonly hang: number }
}

/** The environment of a server whose threads can be made to fail. */
export function withThreadFaults(folder: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import ${import.meta.filename}`, TEST_THREAD_FAULT: join(folder, 'fault.json') }
}

/** Lets a thread of a server fail. */
export function failThread({ child }: ServerProcess, folder: string, fault: ThreadFault): void {
  // A server that was told before may still read the file.
  writeFileSync(join(folder, 'fault.new.json'), JSON.stringify(fault))
  renameSync(join(folder, 'fault.new.json'), join(folder, 'fault.json'))
  child.kill('SIGUSR2')
}

/** The file that a thread of a server writes when it begins to hang. */
export function hangFile({ child }: ServerProcess, folder: string): string {
  return join(folder, `fault.json.${child.pid}`)
}

const file = process.env['TEST_THREAD_FAULT']
if (file !== undefined) listen(file)

function listen(file: string): void {
  const channel = new BroadcastChannel('faults')
  channel.unref()
  if (isMainThread) {
    process.on('SIGUSR2', () => channel.postMessage(JSON.parse(readFileSync(file, 'utf8'))))
    return
  }
  const { place, committing } = workerData as { readonly place?: { readonly number: number }; committing?: unknown }
  const number = place?.number ?? (committing === undefined ? undefined : 0)
  channel.onmessage = (message: unknown) => {
    const { thread, how } = (message as { readonly data: ThreadFault }).data
    if (thread !== number) return
    if (how === 'exit') process.exit(9)
    if (how === 'throw') throw new Error('This thread fails.')
    writeFileSync(`${file}.${process.pid}`, '')
    const end = Date.now() + how.hang
    const nothing = new Int32Array(new SharedArrayBuffer(4))
    while (existsSync(`${file}.${process.pid}`) && Date.now() < end) Atomics.wait(nothing, 0, 0, 20)
  }
}
