/** Command lines as texts: that of a migration, and that of this process without secrets, for lists of processes. */
import { withoutCredentials } from 'resourced-contract/model/text'
import { defaultDatabase } from '../server/database-address.ts'

/**
 * The command that makes the changes of a declaration in a database.
 *
 * @param file of the declaration; `undefined`: the one that is found in the directory
 */
export function migrationCommand(file: string | undefined, database: string): string {
  const where = database === defaultDatabase ? [] : ['--database', withoutCredentials(database)]
  return ['npx resourced migrate', file ?? [], '--apply', ...where].flat().join(' ')
}

const secret = /^(--key|--other-key|--header)(?:=|$)/

/** The arguments of a command as one text, with `***` for each secret. */
export function withoutSecrets(given: readonly string[]): string {
  const parts = given.map((each, index) => {
    const before = given[index - 1] ?? ''
    if (secret.test(before) && !before.includes('=')) return hidden(before, each)
    const found = secret.exec(each)
    return found !== null && each.includes('=')
      ? `${found[1]}=${hidden(found[1] as string, each.slice(each.indexOf('=') + 1))}`
      : each
  })
  return withoutCredentials(parts.join(' '))
}

/** Keeps the name of a header field. */
function hidden(option: string, value: string): string {
  return option === '--header' && value.includes(':') ? `${value.slice(0, value.indexOf(':'))}: ***` : '***'
}
