/** The query string taken apart: names and values as sent, in order. */
import { fault, type Issue } from '../spec/faults.ts'

/** A parameter as sent, decoded. */
export interface Parameter {
  readonly name: string
  readonly value: string
}

const secrets: ReadonlySet<string> = new Set(['access_token', 'api_key', 'token', 'password', 'secret'])

/**
 * Takes a query string apart (`application/x-www-form-urlencoded`).
 *
 * @throws Fault MALFORMED_URL where a percent-escape is not valid UTF-8
 */
export function readParameters(query: string): Parameter[] {
  if (query === '') return []
  const parameters: Parameter[] = []
  for (const part of query.split('&')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = equals === -1 ? part : part.slice(0, equals)
    parameters.push({ name: decode(name), value: equals === -1 ? '' : decode(part.slice(equals + 1)) })
  }
  return parameters
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    throw fault('MALFORMED_URL', { detail: 'The query string has a percent-escape that is not valid UTF-8.' })
  }
}

/**
 * Refuses a secret in the query string: it would end up in logs and histories (QRY-9).
 *
 * @throws Fault CREDENTIAL_IN_QUERY; the value is in none of its words
 */
export function refuseSecrets(query: string): void {
  if (!/token|api|pass|secret|%/i.test(query)) return
  const errors: Issue[] = []
  for (const part of query.split('&')) {
    const raw = part.split('=', 1)[0] as string
    let name: string
    try {
      name = decodeURIComponent(raw.replaceAll('+', ' '))
    } catch {
      continue
    }
    const bare = name.replace(/\[.*$/s, '').trim().toLowerCase()
    if (!secrets.has(bare)) continue
    const message = `Send credentials in the Authorization header; never as ${bare} in an address.`
    errors.push({ code: 'CREDENTIAL_IN_QUERY', message, parameter: bare })
  }
  if (errors.length > 0) {
    throw fault('CREDENTIAL_IN_QUERY', {
      detail: 'Secrets never travel in the query string. Replace this one: it may have been logged on its way.',
      errors,
    })
  }
}
