/** The query string taken apart: names and values as sent, in order. */
import { secretParameters } from '../model/check/names.ts'
import { holdsCredential, withoutCredentials } from '../model/credentials.ts'
import { fault, type Issue } from '../spec/faults.ts'

/** A parameter as sent, decoded. */
export interface Parameter {
  readonly name: string
  readonly value: string
}

/** The most errors of one response to a query: a client that makes more made one mistake many times. */
export const mostQueryIssues = 100

const secrets: ReadonlySet<string> = new Set(secretParameters)

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

/** A credential is known by its form too, whatever it is called; as a name it is not repeated. */
function underAnyName(name: string): Issue {
  const message = 'A credential stands here. Send credentials in the Authorization header, never in an address.'
  return { code: 'CREDENTIAL_IN_QUERY', message, parameter: withoutCredentials(name) }
}

/** What cannot be decoded is refused later; until then it is looked at as it came. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/**
 * Refuses a secret in the query string: it would end up in logs and histories (QRY-9).
 *
 * @throws Fault CREDENTIAL_IN_QUERY; the value is in none of its words
 */
export function refuseSecrets(query: string): void {
  if (!/token|api|pass|secret|rsk_|eyJ|%/i.test(query)) return
  const errors: Issue[] = []
  for (const part of query.split('&')) {
    if (errors.length === mostQueryIssues) break
    const name = decoded(part.split('=', 1)[0] as string)
    const bare = name.replace(/\[.*$/s, '').trim().toLowerCase()
    if (!secrets.has(bare)) {
      if (holdsCredential(decoded(part))) errors.push(underAnyName(name))
      continue
    }
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
