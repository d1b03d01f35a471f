/** SEC: transport and hygiene. */

import { type Expectation, NotSetUp } from '../case/case.ts'
import { common } from '../case/define.ts'
import { answerOf, field, finding, unless } from '../case/expect.ts'
import { error, list, one, plain } from '../case/names.ts'
import { collection, host, key, mark, type Reference, wrongKey } from '../case/references.ts'
import { asNobody, body, bytes, create } from '../case/steps.ts'
import { fieldOf } from '../client/exchange.ts'

const isLoopback = (host: string) => /^(127(\.\d+){3}|\[::1\]|localhost|.+\.localhost)$/.test(host)

/** Statuses with which a server may refuse plain HTTP. */
const refusals: ReadonlySet<number> = new Set([400, 403, 421, 426])

/** An error does not repeat a secret. */
function keeps(step: Reference, secret: string): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    if (answer.status < 400) throw new NotSetUp(`it was answered ${answer.status}, which is no error`)
    const text = seen.fill(secret)
    if (answer.body.includes(text)) return 'the secret that was sent is in the body'
    const told = answer.fields.find(([, value]) => value.includes(text))
    return told && finding(exchange, { field: told[0] }, `the secret that was sent is in ${told[0]}`)
  })
}

const hideSecrets = 'Leave credentials out of errors and of the URL in them: errors are copied into logs and tickets.'

export const transport = common({ remedy: hideSecrets }).define({
  'SEC-1/https': {
    title: 'The server uses HTTPS, and plain HTTP only on loopback',
    steps: [list.get(collection)],
    expect: [
      (seen) => {
        const { protocol, hostname } = new URL(seen.profile.base)
        if (protocol === 'https:' || isLoopback(hostname)) return undefined
        return finding(seen.of(list), 'connection', `${hostname} is asked by plain HTTP: all can read credentials`)
      },
    ],
    remedy: 'Put a certificate in front: credentials that travel by plain HTTP are anybody’s.',
  },
  'SEC-1/plain': {
    title: 'Plain HTTP on the HTTPS port is refused or redirected',
    needs: ['tls'],
    // Without a credential, because plain HTTP is readable on the way.
    steps: [
      bytes(plain, `GET ${collection} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`, {
        seconds: 2,
        plain: true,
      }),
    ],
    expect: [
      (seen) => {
        const exchange = seen.of(plain)
        const { answer } = exchange
        if (answer === undefined || refusals.has(answer.status)) return undefined
        const location = fieldOf(answer, 'Location')
        if (answer.status >= 300 && answer.status < 400 && location?.startsWith('https:')) return undefined
        return finding(exchange, 'status', `it answers ${answer.status} by plain HTTP as if that were safe`)
      },
    ],
    remedy: 'Speak TLS alone on this port, and redirect or refuse elsewhere.',
  },
  'SEC-2/nosniff': {
    title: 'Responses have X-Content-Type-Options: nosniff',
    steps: [list.get(collection), error.get(`${collection}/no-such-${mark}`)],
    expect: [list, error].map((step) =>
      field(step, 'X-Content-Type-Options', (value) => (value.trim().toLowerCase() === 'nosniff' ? undefined : value)),
    ),
    remedy: 'Send “X-Content-Type-Options: nosniff” with every response: browsers then never treat JSON as a page.',
  },
  'SEC-2/strict-transport-security': {
    title: 'Responses over HTTPS have Strict-Transport-Security',
    needs: ['tls'],
    steps: [list.get(collection)],
    expect: [
      field(list, 'Strict-Transport-Security', (value) =>
        unless(/\bmax-age="?[1-9]\d*/i.test(value), `${value} has none that lasts`),
      ),
    ],
    remedy: 'Send “Strict-Transport-Security: max-age=31536000” with every answer by HTTPS.',
  },
  'SEC-3/wrong-credential': {
    title: 'An error does not contain the refused credential',
    needs: ['key'],
    // Many servers let everybody read.
    steps: [create(one), error.post(collection, body.example, { caller: 'wrong' })],
    expect: [keeps(error, wrongKey)],
  },
  'SEC-3/good-credential': {
    title: 'An error does not contain the credential of its caller',
    needs: ['key'],
    after: ['ERR-1/record'],
    steps: [error.get(`${collection}/no-such-${mark}`)],
    expect: [keeps(error, key)],
  },
  'SEC-3/parameter': {
    title: 'An error does not contain a secret from the address',
    after: ['ERR-1/record'],
    steps: [error.get(`${collection}/no-such-${mark}?access_token=secret-${mark}&api_key=secret-${mark}`, asNobody)],
    expect: [keeps(error, `secret-${mark}`)],
  },
})
