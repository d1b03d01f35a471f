/** Removes credentials from results, because people share reports. */
import type { Finding } from '../case/case.ts'
import { nameSecrets } from '../client/credentials.ts'
import type { Exchange, Fields } from '../client/exchange.ts'
import type { CaseResult } from './verdict.ts'

/**
 * Replaces credentials with the names of variables, wherever they stand in a result.
 *
 * @param credentials by the name of their variable
 */
export function redactor(credentials: Readonly<Record<string, Fields>>): (result: CaseResult) => CaseResult {
  const text = nameSecrets(credentials)
  const fieldsOf = (fields: Fields) => fields.map(([name, value]) => [name, text(value)] as const)
  const redacted = new Map<Exchange, Exchange>()
  const exchangeOf = (exchange: Exchange): Exchange => {
    const { asked, answer } = exchange
    const known = redacted.get(exchange) ?? {
      ...exchange,
      asked: {
        ...{ method: asked.method, url: text(asked.url), fields: fieldsOf(asked.fields) },
        ...{ body: asked.body && text(asked.body), bytes: asked.bytes && text(asked.bytes) },
      },
      answer: answer && { ...answer, fields: fieldsOf(answer.fields), body: text(answer.body) },
    }
    // Findings and the list of exchanges share their exchanges.
    redacted.set(exchange, known)
    return known
  }
  const findingOf = (finding: Finding): Finding => ({
    ...finding,
    message: text(finding.message),
    exchange: finding.exchange && exchangeOf(finding.exchange),
  })
  return (result) => ({
    ...result,
    why: text(result.why),
    findings: result.findings.map(findingOf),
    exchanges: result.exchanges.map(exchangeOf),
  })
}
