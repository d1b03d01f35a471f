/**
 * Prepares a process for the program, before anything else is loaded: refuses an older Node.js, gives a server a small
 * heap, and keeps compiled code.
 */
import { missingRuntime } from './supported-node.js'

const missing = missingRuntime()
if (missing !== undefined) {
  process.stderr.write(`${missing}\n`)
  process.exit(1)
}
if (process.argv[2] === 'serve') limitHeap()

// After the check, because an older Node.js has no such cache.
await import('./compile-cache.js')

/**
 * Starts the program again in the same process with half of the young generation that Node.js would give it. What a
 * request leaves behind is gone after it: more room would be memory, and no speed. Garbage in the old
 * generation is collected at as much as is in use, and threads share two arenas of malloc, because each one keeps
 * what its largest moment took (bench/results/memory.md). V8 and glibc read these limits only at their start, and not
 * every system lets the first line of a command pass options to Node.js.
 */
function limitHeap() {
  const { argv, connected, env, execArgv, execPath, execve, permission, platform, versions } = process
  // A debugger would lose the process.
  const isChosen = /semi[-_]space[-_]size|--inspect/.test([...execArgv, env['NODE_OPTIONS']].join(' '))
  // A process that has a channel to its parent would lose it. The permission model of Node.js may forbid a start.
  const isImpossible = platform === 'win32' || permission?.has('child') === false
  if ((isChosen || connected !== undefined || isImpossible || versions.bun) ?? versions.deno) return
  // The program must not take a size that the operator has chosen for this one.
  const marked = { MALLOC_ARENA_MAX: '2', ...env, RESOURCED_HEAP: 'usual' }
  const flags = ['--max-semi-space-size=8', '--heap-growing-percent=100']
  execve?.(execPath, [execPath, ...flags, ...execArgv, ...argv.slice(1)], marked)
}
