/** How a command ends badly: a sentence for people, an exit code for scripts. */

/** Loads and runs a command; what it throws is said on standard error, and the exit code is 1. */
export function fail<Arguments extends unknown[]>(
  load: () => Promise<(...given: Arguments) => Promise<void>>,
): (...given: Arguments) => Promise<void> {
  return async (...given) => {
    // Nobody reads what is said: that is no reason to stop serving, or to lose half of an import.
    process.stderr.on('error', () => {})
    try {
      const command = await load()
      await command(...given)
    } catch (error) {
      const { explain } = await import('./explain.ts')
      process.stderr.write(`${explain(error)}\n`)
      process.exitCode = 1
    }
  }
}
