/** The memory of a server whose database is elsewhere. */

/**
 * What is under way while a database answers outlives a young generation that is sized for requests which are answered at once
 * (`main.js`), and would be copied again and again. V8 reads these when it starts, and not later.
 */
const roomy = ['--max-semi-space-size=16', '--min-semi-space-size=8']

const tight = /^--(?:max-semi-space-size|heap-growing-percent)=/

/** Starts the program again in the same process, with more room, where it has not got it. Does nothing where a system cannot do that. */
export function makeRoom(): void {
  const { execArgv, execPath, argv, env } = process
  if (roomy.every((flag) => execArgv.includes(flag)) || process.platform === 'win32') return
  const flags = [...execArgv.filter((flag) => !tight.test(flag)), ...roomy]
  process.execve?.(execPath, [execPath, ...flags, ...argv.slice(1)], env)
}
