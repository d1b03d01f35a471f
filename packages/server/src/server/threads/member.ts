/** A thread of a server, as the main thread sees it. */
import { type MessagePort, Worker } from 'node:worker_threads'
import { type Channel, openChannel } from '../../storage/threads/channel.ts'
import { threadEnvironment } from '../../storage/threads/environment.ts'
import { forwardLines, type LogBlocks } from '../observe/log.ts'

/** Why a thread cannot start. */
export interface StartFailure {
  /** For people, as the command prints it. */
  readonly text: string
  /** The exit code of the command. */
  readonly code: number
}

/** How a thread is started. */
interface Start {
  readonly entry: URL
  /** Plain data, to which `pulse` is added. */
  readonly data: object
  readonly ports: readonly MessagePort[]
  /** Where its lines go; `undefined`: to standard output as they are. */
  readonly output: LogBlocks | undefined
}

/** A thread. */
export class Member<Calls> {
  readonly id: number
  readonly channel: Channel<Calls>
  /** Resolves when it serves; with why not, if it has ended before. */
  readonly started: Promise<StartFailure | undefined>
  /** Resolves when it has ended, with its exit code. */
  readonly ended: Promise<number>
  /** When it began its work, by `performance.now()`; `undefined`: it never did. */
  began: number | undefined
  /** What the thread has said about why it cannot start. */
  failure: StartFailure | undefined
  /** Whether its end is expected. */
  isLeaving = false
  readonly #worker: Worker
  readonly #pulse: Int32Array
  readonly #started = Promise.withResolvers<StartFailure | undefined>()
  #isOver = false
  #beat = 0
  #missed = 0

  /** @param calls what the thread may ask of this one; beside it, the thread may say that it has `failed` to start */
  constructor({ entry, data, ports, output }: Start, calls: (member: Member<Calls>) => object) {
    const pulse = new SharedArrayBuffer(4)
    this.#pulse = new Int32Array(pulse)
    const workerData = { ...data, pulse }
    const env = threadEnvironment()
    this.#worker = new Worker(entry, { workerData, env, transferList: [...ports], stdout: output !== undefined })
    if (output !== undefined) forwardLines(this.#worker.stdout, output)
    this.id = this.#worker.threadId
    const failed = (given: StartFailure) => {
      this.failure = given
    }
    this.channel = openChannel<Calls>(this.#worker, { ...calls(this), failed })
    this.started = this.#started.promise
    this.#worker.once('error', (error) => {
      this.failure ??= { text: String((error as Error | undefined)?.stack ?? error), code: 1 }
    })
    this.ended = new Promise((resolve) => {
      this.#worker.once('exit', (code) => {
        this.#isOver = true
        this.#started.resolve(this.failure ?? { text: `A thread ended with ${code} before it served.`, code: 1 })
        resolve(code)
      })
    })
  }

  get serves(): boolean {
    return this.began !== undefined && !this.#isOver
  }

  /** The thread does its work from now on. */
  begin(): void {
    this.began = performance.now()
    this.#started.resolve(undefined)
  }

  /** Looks at the pulse. Returns in how many rounds in a row it has stayed the same. */
  missedRounds(): number {
    const beat = Atomics.load(this.#pulse, 0)
    this.#missed = beat === this.#beat ? this.#missed + 1 : 0
    this.#beat = beat
    return this.#missed
  }

  /** Ends the thread at once; while a statement of the database runs, after it. */
  terminate(): void {
    void this.#worker.terminate()
  }
}
