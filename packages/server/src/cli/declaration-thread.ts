/**
 * The thread that loads a declaration for `resourced dev`: it may loop, end the process or use all memory without harm
 * to the server. It reports each file before it reads it, so that a change of any of them starts another attempt.
 */
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { explain } from './explain.ts'
import { stampOf } from './file-stamp.ts'
import type { Source, ThreadReport } from './isolated-declaration.ts'
import { loadDeclaration, ownEntry } from './load-declaration.ts'

const { file, inColour } = workerData as { readonly file: string; readonly inColour: boolean }
const report = (message: ThreadReport) => parentPort?.postMessage(message)
const sources = new Map<string, Source>()
const program = new URL('.', ownEntry).href

/** Whether a module belongs to the declaration, and to no package. */
function isOfDeclaration(url: unknown): url is string {
  if (typeof url !== 'string' || !url.startsWith('file:')) return false
  return !url.startsWith(program) && !url.includes('/node_modules/')
}

function reportRead(path: string): void {
  report({ kind: 'read', path, stamp: stampOf(path) })
}

registerHooks({
  resolve(specifier, context, next) {
    try {
      return next(specifier, context)
    } catch (error) {
      const missing: unknown = Reflect.get(error as object, 'url')
      // The import is tried again once the file exists.
      if (isOfDeclaration(missing)) reportRead(fileURLToPath(missing))
      throw error
    }
  },
  load(url, context, next) {
    if (!isOfDeclaration(url)) return next(url, context)
    reportRead(fileURLToPath(url))
    const loaded = next(url, context)
    sources.set(url, { format: loaded.format, source: loaded.source as Source['source'] })
    return loaded
  },
})

report({ kind: 'started' })
reportRead(resolve(file))
// Node.js would warn of an await here that never ends.
loadDeclaration(file).then(
  // Modules have functions, which no other thread can receive: their sources are loaded there again.
  (value) => report(sources.size > 0 ? { kind: 'modules', sources } : { kind: 'data', value }),
  (error) => report({ kind: 'failed', message: explain(error, inColour) }),
)
