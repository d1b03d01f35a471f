/**
 * Prepares a process for the program, before anything else is loaded: refuses an older Node.js, and keeps compiled code.
 */
import { missingRuntime } from './supported-node.js'

const missing = missingRuntime()
if (missing !== undefined) {
  process.stderr.write(`${missing}\n`)
  process.exit(1)
}

// After the check, because an older Node.js has no such cache.
await import('./compile-cache.js')
