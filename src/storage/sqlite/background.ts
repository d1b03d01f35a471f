/**
 * Background jobs on a SQLite file: on a thread with its own connection, so that the event loop stays free for
 * requests. A database in memory has one connection only: its jobs run between requests (`backgroundOf`).
 */
import { Worker } from 'node:worker_threads'
import {
  type Catalog,
  type Conversion,
  type Resource,
  storedResource,
  type VersionMapping,
} from '../../model/resource.ts'
import { StorageFault } from '../storage.ts'
import { type Background, isWriting, type LongWork } from '../transactions/long-work.ts'

/** A caller that waits for a transaction. */
interface Asker {
  resolve(given: never): void
  reject(error: unknown): void
  readonly writes: boolean
}

/** The messages to the thread and from it. */
export interface Request {
  readonly number: number
  readonly name: keyof LongWork
  readonly asked: unknown
}
export type Reply =
  | { readonly number: number; readonly given: unknown }
  | { readonly number: number; readonly fault: Pick<StorageFault, 'kind' | 'message' | 'stack'> }

/**
 * Runs the transactions of background jobs on a thread, which starts with the first of them.
 *
 * @param changed called after a transaction that changed something, before its caller gets the result
 */
export function threadedBackground(path: string, catalog: Catalog, changed: () => void): Background {
  const waiting = new Map<number, Asker>()
  let thread: Worker | undefined
  let number = 0
  const begin = () => {
    const worker = new Worker(new URL(import.meta.resolve('#background-thread')), {
      workerData: { path, catalog: withoutFunctions(catalog) },
      // Its objects are short-lived: a larger young generation would only take memory.
      resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 1_024 },
    })
    worker.on('message', (reply: Reply) => {
      const asker = waiting.get(reply.number)
      waiting.delete(reply.number)
      if (asker?.writes) changed()
      if ('given' in reply) asker?.resolve(reply.given as never)
      else asker?.reject(new StorageFault(reply.fault.kind, reply.fault.message, reply.fault.stack))
      if (waiting.size === 0) worker.unref()
    })
    worker.on('error', (error) => end(new StorageFault('failed', 'The thread of long work failed.', error)))
    worker.on('exit', () => end(new StorageFault('failed', 'The thread of long work ended.')))
    return worker
  }
  const end = (fault: StorageFault) => {
    thread = undefined
    for (const { reject } of waiting.values()) reject(fault)
    waiting.clear()
  }
  return {
    run(name, asked) {
      thread ??= begin()
      thread.ref()
      const request: Request = { number: ++number, name, asked }
      return new Promise((resolve, reject) => {
        waiting.set(request.number, { resolve, reject, writes: isWriting(name) })
        thread?.postMessage(request)
      })
    },
    async close() {
      const ending = thread
      if (ending === undefined) return
      ending.ref()
      const ended = new Promise((resolve) => ending.once('exit', resolve))
      ending.postMessage('close')
      await ended
    },
  }
}

/** The catalog without functions, which a thread cannot receive, and access rules, which it does not need. */
function withoutFunctions(catalog: Catalog): Catalog {
  const all = (resources: Catalog['resources']) =>
    new Map([...resources].map(([name, each]) => [name, plainResource(each)]))
  const resources = all(catalog.resources)
  const versions = [...catalog.versions].map(([name, version]): [string, Catalog] => {
    const own = [...version.resources.values()].map((resource) => {
      const stored = resources.get(storedResource(resource).name) as Resource
      const { mapping } = resource
      return mapping === undefined ? stored : { ...plainResource(resource), mapping: plainMapping(mapping, stored) }
    })
    return [name, { ...version, resources: new Map(own.map((each) => [each.name, each])), system: new Map() }]
  })
  return { ...catalog, resources, system: all(catalog.system), versions: new Map(versions) }
}

function plainResource(resource: Resource): Resource {
  const fields = resource.fields.map((field) => ({ ...field, validate: undefined as never }))
  const field = new Map(fields.map((each) => [each.name, each]))
  const rules = resource.rules.filter((rule) => 'unless' in rule)
  return { ...resource, fields, field, rules, access: {} as never, filterables: [] }
}

/** A mapping that still says which fields are converted; the thread that has the functions converts them. */
function plainMapping(mapping: VersionMapping, stored: Resource): VersionMapping {
  const conversions = new Map([...mapping.conversions.keys()].map((name) => [name, {} as Conversion]))
  return { ...mapping, stored, conversions }
}
