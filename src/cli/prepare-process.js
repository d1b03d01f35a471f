/**
 * Prepares a process for the program, before anything else is loaded: refuses an older Node.js, limits the young
 * generation of the heap, and keeps compiled code.
 */
import { setFlagsFromString } from 'node:v8'
import { missingRuntime } from './supported-node.js'

const missing = missingRuntime()
if (missing !== undefined) {
  process.stderr.write(`${missing}\n`)
  process.exit(1)
}

// What a request leaves behind is gone after it: more room for it would be memory, and no speed. The flags are set here
// because not every system lets the first line of a command pass options to Node.js.
const given = [...process.execArgv, process.env.NODE_OPTIONS ?? ''].join(' ')
const isChosen = /semi[-_]space[-_]size|heap[-_]growing[-_]percent/.test(given)
if (!isChosen && process.versions.bun === undefined && process.versions.deno === undefined) {
  setFlagsFromString('--max-semi-space-size=4')
  setFlagsFromString('--heap-growing-percent=40')
}

// After the check, because an older Node.js has no such cache.
await import('./compile-cache.js')
