/**
 * Threads that read a SQLite file, each on a connection of its own: their messages, the data that they start with, and
 * the thread that reads for background jobs.
 */
import { Worker } from 'node:worker_threads'
import {
  type Catalog,
  type Conversion,
  type Field,
  type Resource,
  storedResource,
  type VersionMapping,
} from 'resourced-contract/model/resource'
import { StorageFault } from '../storage.ts'
import { type Channel, openChannel } from '../threads/channel.ts'
import { threadEnvironment } from '../threads/environment.ts'
import type { LongReads } from '../transactions/long-work.ts'

/** What a thread starts with. */
export interface ThreadData {
  /** Of all its files. */
  readonly catalog: Catalog
  /** Of threads that read for requests. */
  readonly reading?: {
    /** One 32-bit integer: the number of the request whose statement ends as soon as it can. */
    readonly stopped: SharedArrayBuffer
  }
}

/** A file to read. */
export interface ReadFile {
  readonly path: string
  /** The secret of the entity tags of lists; `undefined`: no list is read. */
  readonly tagSecret?: Uint8Array | undefined
}

/** A transaction by its name. */
export interface Request {
  readonly number: number
  readonly file: ReadFile
  readonly name: string
  readonly asked: unknown
}

/** What such a thread can be asked. */
export interface ReadingCalls {
  /** Runs a transaction that reads. */
  run(request: Request): unknown
  /** Closes a file, after what was asked before. */
  forget(path: string): void
  /** Finishes what was asked before, and ends the thread. */
  close(): void
}

/** Asks a thread for transactions, which the thread runs one after the other. */
export class Thread {
  /** Resolves when the thread has ended. */
  readonly ended: Promise<void>
  readonly #worker: Worker
  readonly #channel: Channel<ReadingCalls>
  #waiting = 0
  #number = 0
  #isEnded = false

  /** @param heap the most megabytes of the thread's JavaScript objects */
  constructor({ catalog, ...data }: ThreadData, heap: number) {
    this.#worker = new Worker(new URL(import.meta.resolve('#background-thread')), {
      workerData: { ...data, catalog: withoutFunctions(catalog) },
      env: threadEnvironment(),
      // Its objects are short-lived: a larger young generation would only take memory.
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: heap },
    })
    let fault = new StorageFault('failed', 'The thread of long work ended.')
    this.#worker.once('error', (error) => {
      fault = new StorageFault('failed', 'The thread of long work failed.', error)
    })
    this.ended = new Promise((resolve) => {
      this.#worker.once('exit', () => {
        this.#isEnded = true
        resolve()
      })
    })
    this.#channel = openChannel(this.#worker, {}, () => fault)
    this.#worker.unref()
  }

  /** The number of the last request. */
  get number(): number {
    return this.#number
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** Runs a transaction on a file, by its name. */
  async ask(file: ReadFile, name: string, asked: unknown): Promise<unknown> {
    this.#worker.ref()
    this.#waiting++
    try {
      return await this.#channel.call('run', { number: ++this.#number, file, name, asked })
    } finally {
      if (--this.#waiting === 0) this.#worker.unref()
    }
  }

  /** Closes a file after what was asked before. */
  forget({ path }: ReadFile): void {
    this.#channel.tell('forget', path)
  }

  /** Finishes running and waiting transactions, and ends the thread. */
  async close(): Promise<void> {
    this.#worker.ref()
    this.#channel.tell('close')
    await this.ended
  }

  /** Ends the thread as soon as its statement ends. */
  async terminate(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** The most megabytes of the thread's objects: it decides about large deletions record by record. */
const longHeap = 1_024

/** A thread that reads for the background jobs of all files of a catalog. It starts with the first read. */
export class JobThread {
  readonly #catalog: Catalog
  #thread: Thread | undefined

  constructor(catalog: Catalog) {
    this.#catalog = catalog
  }

  /**
   * Reads a file, so that the event loop stays free.
   *
   * @param requireFile throws if the path does not lead to the file any more, which must not be opened then
   */
  reads(file: ReadFile, requireFile: () => void): LongReads {
    const running = new Set<Promise<unknown>>()
    let isClosed = false
    return {
      run: async (name, asked) => {
        if (isClosed) throw new StorageFault('busy', 'The database is being closed.')
        requireFile()
        const read = this.#started().ask(file, name, asked)
        running.add(read)
        return (await read.finally(() => running.delete(read))) as never
      },
      close: async () => {
        isClosed = true
        await Promise.allSettled(running)
        this.#thread?.forget(file)
      },
    }
  }

  async close(): Promise<void> {
    await this.#thread?.close()
  }

  #started(): Thread {
    if (this.#thread === undefined || this.#thread.isEnded)
      this.#thread = new Thread({ catalog: this.#catalog }, longHeap)
    return this.#thread
  }
}

/** The catalog without functions, which a thread cannot receive, and access rules, which it does not need. */
function withoutFunctions(catalog: Catalog): Catalog {
  const all = (resources: Catalog['resources']) =>
    new Map([...resources].map(([name, each]) => [name, plainResource(each)]))
  const resources = all(catalog.resources)
  const system = all(catalog.system)
  const versions = [...catalog.versions].map(([name, version]): [string, Catalog] => {
    const own = [...version.resources.values()].map((resource) => {
      const stored = resources.get(storedResource(resource).name) as Resource
      const { mapping } = resource
      return mapping === undefined ? stored : { ...plainResource(resource), mapping: plainMapping(mapping, stored) }
    })
    // Only events and revisions differ between versions.
    const ownSystem = [...version.system].flatMap(([key, each]): [string, Resource][] => {
      const mapping = each.mapping && plainMapping(each.mapping, system.get(key) as Resource)
      return mapping === undefined ? [] : [[key, { ...plainResource(each), mapping }]]
    })
    const named = new Map(own.map((each) => [each.name, each]))
    return [name, { ...version, authorize: undefined, resources: named, system: new Map(ownSystem) }]
  })
  return { ...catalog, authorize: undefined, resources, system, versions: new Map(versions) }
}

function plainResource({ fieldAccess: _, ...resource }: Resource): Resource {
  const fields = resource.fields.map(plainField)
  const field = new Map(fields.map((each) => [each.name, each]))
  const member = new Map([...resource.member].map(([name, each]) => [name, plainField(each)]))
  const rules = resource.rules.filter((rule) => 'unless' in rule)
  const without = { prepare: undefined, on: {}, access: {} as never, filterables: [] }
  return { ...resource, fields, field, member, rules, ...without }
}

function plainField(field: Field): Field {
  const { items, members } = field
  return { ...field, validate: undefined as never, items: items && plainField(items), members: members.map(plainField) }
}

/** A mapping that still says which fields are converted; the thread that has the functions converts them. */
function plainMapping(mapping: VersionMapping, stored: Resource): VersionMapping {
  const conversions = new Map([...mapping.conversions.keys()].map((name) => [name, {} as Conversion]))
  return { ...mapping, stored, conversions }
}
