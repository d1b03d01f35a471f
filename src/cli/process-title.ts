/** Arguments as others may see them: lists of processes show them to everybody on a machine. */
import { withoutCredentials } from '../model/credentials.ts'

const secret = /^(--key|--other-key|--header)(?:=|$)/

/** The arguments of a command as one text, without what is secret in them. */
export function argumentsTold(given: readonly string[]): string {
  const told = given.map((each, index) => {
    const before = given[index - 1] ?? ''
    if (secret.test(before) && !before.includes('=')) return hidden(before, each)
    const found = secret.exec(each)
    return found !== null && each.includes('=')
      ? `${found[1]}=${hidden(found[1] as string, each.slice(each.indexOf('=') + 1))}`
      : each
  })
  return withoutCredentials(told.join(' '))
}

/** Of a header field the name may be known. */
function hidden(option: string, value: string): string {
  return option === '--header' && value.includes(':') ? `${value.slice(0, value.indexOf(':'))}: ***` : '***'
}
