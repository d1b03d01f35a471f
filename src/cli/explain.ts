/** Prints and explains errors. A stack trace is printed only for errors of the program itself. */
import { styleText } from 'node:util'
import { DeclarationError, type Emphasis, formatProblems } from '../model/check/problem.ts'
import { withoutCredentials } from '../model/credentials.ts'
import { ConfigurationError } from '../spec/configuration-error.ts'
import { MigrationRefused } from '../storage/migration/migration-step.ts'
import { StorageFault } from '../storage/storage.ts'

/**
 * Prints why a command, or one step of it, failed. All mistakes of a declaration are printed together, each with its
 * place in the file; on a terminal in colour.
 *
 * @param screen default: standard error
 */
export function printError(error: unknown, screen: NodeJS.WritableStream = process.stderr): void {
  const text = error instanceof DeclarationError ? mistakesText(error, screen) : sentence(error)
  screen.write(`${withoutCredentials(text)}\n`)
}

const styles: Readonly<Record<Emphasis, Parameters<typeof styleText>[0]>> = {
  heading: 'bold',
  path: 'bold',
  remedy: 'green',
  source: 'dim',
  mark: 'red',
}

function mistakesText({ problems, file }: DeclarationError, screen: NodeJS.WritableStream): string {
  const paint = (emphasis: Emphasis, text: string) => styleText(styles[emphasis], text, { stream: screen })
  return formatProblems(problems, file, paint)
}

/** The explanation of an error, without colours and without passwords of addresses. */
export function explain(error: unknown): string {
  return withoutCredentials(sentence(error))
}

function sentence(error: unknown): string {
  if (error instanceof DeclarationError || error instanceof ConfigurationError || error instanceof MigrationRefused) {
    return error.message
  }
  if (error instanceof StorageFault) return `${error.message} ${causeOf(error)}`.trim()
  const { code, message, port } = error as { code?: string; message?: string; port?: number }
  if (code === 'EADDRINUSE') return `Port ${port} is in use. Stop what listens there, or choose another with --port.`
  if (code === 'EACCES' && port !== undefined)
    return `Port ${port} is reserved for privileged users. Choose one above 1023 with --port.`
  if (code === 'ERR_SQLITE_ERROR') return `The database cannot be used: ${message}.`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function causeOf(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : ''
}
