/**
 * Prepares a process for the program, before anything else is loaded: refuses an older Node.js, gives a server a small
 * young generation, and keeps compiled code.
 */
import { missingRuntime } from './supported-node.js'

const missing = missingRuntime()
if (missing !== undefined) {
  process.stderr.write(`${missing}\n`)
  process.exit(1)
}
if (process.argv[2] === 'serve') limitYoungGeneration()

// After the check, because an older Node.js has no such cache.
await import('./compile-cache.js')

/**
 * Starts the program again in the same process with half of the young generation that Node.js would give it. What a
 * request leaves behind is gone after it: more room would be memory, and no speed (decision 049). V8 reads the limit
 * only at its start, and not every system lets the first line of a command pass options to Node.js.
 */
function limitYoungGeneration() {
  const { argv, connected, env, execArgv, execPath, execve, permission, platform, versions } = process
  const isChosen = /semi[-_]space[-_]size/.test([...execArgv, env['NODE_OPTIONS']].join(' '))
  // A process that has a channel to its parent would lose it. The permission model of Node.js may forbid a start.
  const isImpossible = platform === 'win32' || permission?.has('child') === false
  if ((isChosen || connected !== undefined || isImpossible || versions.bun) ?? versions.deno) return
  execve?.(execPath, [execPath, '--max-semi-space-size=8', ...execArgv, ...argv.slice(1)], env)
}
