/** The program `resourced-check`: the check alone, without the server. */
import { createRequire } from 'node:module'
import { Command } from 'commander'
import { checkCommand } from './check-command.ts'
import { checkOptions } from './options.ts'
import { print } from './terminal.ts'

export async function main(): Promise<void> {
  const { version }: { readonly version: string } = createRequire(import.meta.url)('#manifest')
  // If standard error is closed, the check continues.
  process.stderr.on('error', () => {})
  await checkOptions(new Command('resourced-check'))
    .version(version, '-V, --version', 'Show the version')
    .helpOption('-h, --help', 'Show help')
    .showHelpAfterError('(resourced-check --help lists all options)')
    // Exit code 1 is a verdict.
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    // Commander repeats unknown arguments, which may contain a key.
    .configureOutput({ writeOut: print, outputError: (text, write) => write(text.replace(/=[^']*/g, '=…')) })
    .action(checkCommand)
    .parseAsync()
}
