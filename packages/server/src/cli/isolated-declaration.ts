/**
 * Loads declarations that are being edited. A thread with a limit of time tries each one first. Modules are then
 * imported here from the very sources that the thread has read: a file that is saved meanwhile has no effect.
 */
import { createRequire, type LoadHookSync, registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { explain, hasColours } from './explain.ts'
import { importDefault } from './load-declaration.ts'

/** A module as it was read. */
export type Source = Pick<ReturnType<LoadHookSync>, 'format' | 'source'>

export type ThreadReport =
  | { readonly kind: 'started' }
  | { readonly kind: 'read'; readonly path: string; readonly stamp: string }
  | { readonly kind: 'data'; readonly value: InterfaceDeclaration }
  | { readonly kind: 'modules'; readonly sources: Sources }
  | { readonly kind: 'failed'; readonly message: string }

type Sources = ReadonlyMap<string, Source>
/** What an attempt has read. */
export type Content = Extract<ThreadReport, { kind: 'data' | 'modules' }>

/** The result of an attempt. */
export type Attempt =
  | { readonly kind: 'loaded'; readonly content: Content }
  | { readonly kind: 'failed'; readonly message: string }

/** How to load. */
export interface IsolatedOptions {
  /** Milliseconds from the first line of the declaration to its end; 10 seconds by default. */
  readonly limit?: number
  /** Called with each file before it is read, and with its stamp. */
  readonly onRead?: (path: string, stamp: string) => void
}

/**
 * Tries a declaration on a thread: syntax, imports, and everything that `checkDeclaration` finds.
 */
export function tryDeclaration(file: string, options: IsolatedOptions = {}): Promise<Attempt> {
  const { limit = 10_000, onRead = () => {} } = options
  const thread = new Worker(new URL(import.meta.resolve('#declaration-thread')), {
    workerData: { file, inColour: hasColours(process.stderr) },
    resourceLimits: { maxOldGenerationSizeMb: 512 },
    stdout: true,
    stderr: true,
  })
  // What the declaration prints is only of use where it fails.
  let printed = ''
  for (const stream of [thread.stdout, thread.stderr]) stream.on('data', (piece) => (printed += String(piece)))
  const { promise, resolve } = Promise.withResolvers<Attempt>()
  const fail = (message: string) => resolve({ kind: 'failed', message: `${printed}${message}` })
  let timer: NodeJS.Timeout | undefined
  thread.on('message', (report: ThreadReport) => {
    if (report.kind === 'started') timer = setTimeout(() => fail(`${file} ${tooLong(limit)}`), limit)
    else if (report.kind === 'read') onRead(report.path, report.stamp)
    else if (report.kind === 'failed') fail(report.message)
    else resolve({ kind: 'loaded', content: report })
  })
  thread.on('error', (error) => fail(`${file} cannot be loaded: ${explain(error)}`))
  thread.on('exit', () => fail(`${file} ends the process while it is loaded, or awaits what never happens.`))
  return promise.finally(async () => {
    clearTimeout(timer)
    await thread.terminate()
  })
}

function tooLong(limit: number): string {
  return `is not loaded after ${limit / 1_000} seconds: look for an endless loop or an await that never ends.`
}

/** Whether two attempts have read the same, in the same order. */
export function isSameContent(one: Content, other: Content): boolean {
  return serialize(one).equals(serialize(other))
}

/**
 * The declaration of a successful attempt. It is not checked again.
 *
 * @throws Error if a module does not do the same again
 */
export async function declarationOf(content: Content, file: string): Promise<InterfaceDeclaration> {
  if (content.kind === 'data') return content.value
  const id = String(++imports)
  snapshots.set(id, content.sources)
  answerFromSnapshots()
  try {
    return (await importDefault(`${pathToFileURL(resolve(file)).href}${mark}${id}`)) as InterfaceDeclaration
  } finally {
    snapshots.delete(id)
  }
}

let imports = 0

const snapshots = new Map<string, Sources>()
/** Between the address of a module and the number of its snapshot: Node.js keeps each address apart. */
const mark = '#resourced-'
let answering = false

/** Makes imports of marked modules find the sources of the same snapshot. Packages are imported as ever. */
function answerFromSnapshots(): void {
  if (answering) return
  answering = true
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      const [, id = ''] = context.parentURL?.split(mark) ?? []
      return snapshots.get(id)?.has(found.url) === true ? { ...found, url: `${found.url}${mark}${id}` } : found
    },
    load(url, context, next) {
      const [address = '', id = ''] = url.split(mark)
      const source = snapshots.get(id)?.get(address)
      if (source === undefined) return next(url, context)
      // CommonJS modules are kept by their file name.
      if (source.format === 'commonjs') delete createRequire(address).cache[fileURLToPath(address)]
      return { ...source, shortCircuit: true }
    },
  })
}
