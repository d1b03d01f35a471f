/** Keeps credentials out of whatever is told: a report is shown to others. */
import type { Finding } from '../case/case.ts'
import { altered } from '../client/credential.ts'
import type { Answer, Asked, Exchange, Fields } from '../client/exchange.ts'
import type { CaseResult } from './verdict.ts'

/**
 * Puts names of variables, as shells write them, in place of credentials, wherever they stand.
 *
 * @param credentials what goes along with requests, by the name of its variable
 */
export function masker(credentials: Readonly<Record<string, Fields>>): (result: CaseResult) => CaseResult {
  const secrets = Object.entries(credentials).flatMap(([name, fields]) =>
    // `Bearer` is no secret: what stands after it is.
    fields.flatMap(([, value], index) => {
      const secret = value.slice(value.indexOf(' ') + 1)
      const variable = `$${name}${index === 0 ? '' : index + 1}`
      // But for a character it is the secret.
      return [[secret, variable] as const, [altered(secret), `${variable}-altered`] as const]
    }),
  )
  const masked = new Map<Exchange, Exchange>()
  const text = (value: string) =>
    secrets.reduce((said, [secret, name]) => (secret.length < 2 ? said : said.replaceAll(secret, name)), value)
  const fieldsOf = (fields: Fields) => fields.map(([name, value]) => [name, text(value)] as const)
  const askedOf = ({ method, url, fields, body, bytes }: Asked): Asked => ({
    ...{ method, url: text(url), fields: fieldsOf(fields) },
    ...{ body: body && text(body), bytes: bytes && text(bytes) },
  })
  const answerOf = (answer: Answer): Answer => ({ ...answer, fields: fieldsOf(answer.fields), body: text(answer.body) })
  const exchangeOf = (exchange: Exchange): Exchange => {
    const known = masked.get(exchange)
    if (known !== undefined) return known
    const { asked, answer } = exchange
    const made = { ...exchange, asked: askedOf(asked), answer: answer && answerOf(answer) }
    masked.set(exchange, made)
    return made
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
