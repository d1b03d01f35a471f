/** Command lines without secrets: lists of processes show arguments to everyone on a machine. */
import { withoutCredentials } from '../model/credentials.ts'

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
