/** Passwords that lie in a file, as PostgreSQL's own programs read it (PostgreSQL manual, "The Password File"). */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** For what a password is looked for. */
export interface Login {
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
  readonly user?: string | undefined
}

/**
 * Finds the password in the text of a file: of the first line that fits.
 *
 * @returns `undefined` where none does
 */
export function passwordIn(text: string, { host, port, database, user }: Login): string | undefined {
  // A socket of this machine counts as localhost.
  const asked = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = fieldsOf(line)
    if (fields.length < 5) continue
    if (asked.every((each, index) => fields[index]?.raw === '*' || fields[index]?.value === each)) {
      return fields[4]?.value
    }
  }
  return undefined
}

/** The fields of a line: a colon within one has a backslash before it, and so has a backslash. */
function fieldsOf(line: string): { readonly raw: string; readonly value: string }[] {
  const found = line.match(/(?:^|:)(?:\\.|[^:\\])*/g) ?? []
  return found.map((each, index) => {
    const raw = index === 0 ? each : each.slice(1)
    return { raw, value: raw.replaceAll(/\\(.)/g, '$1') }
  })
}

/** Looks for a password in the file that `PGPASSFILE` names, or `~/.pgpass`. A file that others may read counts for nothing. */
export function readPasswordFile(login: Login): string | undefined {
  const file = process.env.PGPASSFILE ?? join(homedir(), '.pgpass')
  try {
    const { mode } = statSync(file)
    const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0
    return isPrivate ? passwordIn(readFileSync(file, 'utf8'), login) : undefined
  } catch {
    return undefined
  }
}
