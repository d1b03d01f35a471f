/** AUT-1, AUT-2: which requests are authenticated, and which credentials are refused. */

import type { Case } from '../../case/case.ts'
import { common, define, defineOne } from '../../case/define.ts'
import { everyStatus, field, finding, refused, sameBody, status, unless } from '../../case/expect.ts'
import { ownCount } from '../../case/expect-list.ts'
import { after, before, both, changed, list, listings, one, read, refusal, removed } from '../../case/names.ts'
import { answered, applicableIf, succeeded } from '../../case/preconditions.ts'
import { collection, credentialFields, host, key, listWithCase, Reference } from '../../case/references.ts'
import { asNobody, body, bytes, create, setUp } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const [created] = Reference.named('created')

const asWrong = { caller: 'wrong' } as const

const authenticateFirst =
  'Check the credential first, for every address and method, and answer 401 if it is missing or invalid.'

function refusedCredential(name: string, title: string, authorization: string): Case {
  return defineOne(`AUT-1/${name}`, {
    title,
    needs: ['key', 'protected'],
    after: ['AUT-1/bearer'],
    steps: [list.get(collection, { headers: { Authorization: authorization } })],
    expect: [refused(list)],
    remedy: 'Look at the scheme first: what is not Bearer is no credential here.',
  })
}

export const authentication: readonly Case[] = [
  ...common({ remedy: authenticateFirst }).define({
    'AUT-1/bearer': {
      needs: ['bearer', 'protected'],
      title: 'The credential is taken from Authorization, in the form Bearer …',
      steps: [list.get(collection, { headers: { Authorization: `Bearer ${key}` } })],
      expect: [status(list, 200)],
      remedy: 'Read the credential from “Authorization: Bearer …”, not from another field, a cookie or the URL.',
    },
    'AUT-1/scheme-in-any-case': {
      title: 'The name of the scheme may be written in any case (RFC 9110 section 11.1)',
      level: 'should',
      needs: ['protected'],
      after: ['AUT-1/bearer'],
      steps: [list.get(collection, { headers: { Authorization: `bearer ${key}` } })],
      expect: [status(list, 200)],
      remedy: 'Compare the name of the scheme without regard to case: “bearer” is “Bearer”.',
    },
    'AUT-1/list': {
      needs: ['key'],
      title: 'A list without a credential returns 401',
      steps: [list.get(collection, asNobody)],
      expect: [status(list, 401)],
    },
    'AUT-1/record': {
      needs: ['key'],
      title: 'A record without a credential returns 401',
      steps: [create(one), read.get(one, asNobody)],
      expect: [status(read, 401)],
    },
    'AUT-1/creation': {
      title: 'A creation without a credential is refused',
      needs: ['key'],
      steps: [create(one), created.post(collection, body.example, asNobody)],
      expect: [refused(created)],
    },
    'AUT-1/altered-creation': {
      title: 'A creation with one changed character in the credential is refused',
      needs: ['key'],
      after: ['AUT-1/creation'],
      steps: [create(one), created.post(collection, body.example, { caller: 'altered' })],
      expect: [refused(created)],
      remedy: 'Compare the whole credential, and check the signature of a token: its beginning is not enough.',
    },
    'AUT-1/creation-without-effect': {
      title: 'A creation that is refused for lack of a credential creates nothing',
      after: ['AUT-1/creation'],
      steps: [
        create(one),
        setUp(before.get(listWithCase)),
        created.post(collection, body.example, asNobody),
        setUp(list.get(listWithCase)),
      ],
      expect: [
        refused(created),
        (seen) => {
          const [expected, count] = [before, list].map((step) => ownCount(step, seen))
          if (expected === 0) return finding(seen.of(before), 'body', 'the created record is not in the list')
          if (expected === count) return undefined
          const message = `${count} records in place of ${expected}`
          return finding(seen.of(list), { pointer: seen.profile.names.items }, message)
        },
      ],
      remedy: 'Do nothing before the credential is checked.',
    },
    'AUT-1/change': {
      title: 'A change without a credential is refused and changes nothing',
      needs: ['key'],
      steps: [create(one), setUp(before.get(one)), changed.change(one, { caller: 'nobody' }), setUp(after.get(one))],
      expect: [refused(changed), sameBody(after, before)],
    },
    'AUT-1/deletion': {
      title: 'A deletion without a credential is refused and deletes nothing',
      needs: ['key'],
      steps: [create(one), removed.delete(one, { caller: 'nobody' }), after.get(one)],
      expect: [refused(removed), status(after, 200)],
    },
    'AUT-1/wrong': {
      title: 'An invalid credential is refused',
      needs: ['protected'],
      steps: [list.get(collection, asWrong)],
      expect: [refused(list)],
    },
    'AUT-1/wrong-status': {
      title: 'An invalid credential returns 401',
      needs: ['protected'],
      level: 'should',
      after: ['AUT-1/wrong'],
      steps: [list.get(collection, asWrong)],
      expect: [status(list, 401)],
    },
    'AUT-1/wrong-deletion': {
      title: 'An invalid credential deletes nothing',
      steps: [create(one), removed.delete(one, { caller: 'wrong' }), after.get(one)],
      expect: [refused(removed), status(after, 200)],
    },
  }),
  ...define({
    'AUT-1/altered': {
      title: 'A credential with one changed character is refused',
      kind: 'reading',
      needs: ['list', 'protected'],
      steps: [list.get(collection, { caller: 'altered' })],
      expect: [refused(list)],
      remedy: 'Compare the whole credential, and check the signature of a token: its beginning is not enough.',
    },
  }),
  refusedCredential('other-scheme', 'The credential with another scheme is refused', `Basic ${key}`),
  refusedCredential('no-scheme', 'The credential without a scheme is refused', key),
  ...define({
    'AUT-1/malformed': {
      title: 'A malformed credential returns 401 or 400',
      needs: ['protected'],
      after: ['AUT-1/bearer'],
      steps: [
        'Bearer',
        `Bearer ${key}, Bearer ${key}`,
        `Bearer ${'A'.repeat(4_000)}`,
        "Bearer ' OR '1'='1' -- ",
        'Bearer \u00fc\u00ff\u0080',
        'Bearer ../../../key',
        'Bearer null',
      ].map((Authorization) => listings.get(collection, { headers: { Authorization } })),
      expect: [everyStatus(listings, 401, 400, 431)],
      remedy: 'Treat Authorization as text of any length and content, compare it, and answer 401.',
    },
    'AUT-1/www-authenticate': {
      title: 'A 401 has WWW-Authenticate (RFC 9110 section 15.5.2)',
      after: ['AUT-1/list'],
      steps: [list.get(collection, asNobody)],
      expect: [status(list, 401), field(list, 'WWW-Authenticate')],
      remedy: 'Send “WWW-Authenticate: Bearer” with every 401.',
    },
    'AUT-1/creation-challenge': {
      title: 'The 401 to a creation has WWW-Authenticate, where lists are open (RFC 9110 section 15.5.2)',
      needs: ['key'],
      after: ['AUT-1/creation'],
      steps: [
        create(one),
        list.get(collection, asNobody),
        applicableIf(succeeded(list), 'lists need a credential, too (AUT-1/www-authenticate)'),
        created.post(collection, body.example, asNobody),
        applicableIf(answered(created, 401), 'a creation without a credential is not answered 401'),
      ],
      expect: [field(created, 'WWW-Authenticate')],
      remedy: 'Send “WWW-Authenticate: Bearer” with every 401.',
    },
    'AUT-1/challenge': {
      title: 'WWW-Authenticate names Bearer',
      level: 'should',
      after: ['AUT-1/www-authenticate'],
      steps: [list.get(collection, asNobody)],
      expect: [
        field(list, 'WWW-Authenticate', (value) =>
          unless(/(^|,)\s*bearer(\s|,|$)/i.test(value), `${value} does not name Bearer`),
        ),
      ],
      remedy: 'Send “WWW-Authenticate: Bearer” with every 401.',
    },
    'AUT-1/kept-connection': {
      title: 'A request without a credential is refused after a valid one on the same connection',
      needs: ['key'],
      after: ['AUT-1/list'],
      steps: [
        bytes(
          both,
          `GET ${collection} HTTP/1.1\r\nHost: ${host}\r\n${credentialFields}\r\n` +
            `GET ${collection} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
        ),
      ],
      expect: [
        (seen) => {
          const all = seen.all(both)
          for (const [index, wanted] of [200, 401].entries()) {
            const { answer, failure } = all[index] ?? {}
            if (answer?.status === wanted) continue
            if (answer !== undefined) return finding(all[index], 'status', `${answer.status} in place of ${wanted}`)
            return finding(all[index] ?? all[0], 'connection', `no answer to request ${index + 1}: ${failure ?? ''}`)
          }
          return undefined
        },
      ],
      remedy: 'Keep nothing of a caller beside the request: every request has to carry its credential.',
    },
    'AUT-1/no-cookie': {
      title: 'No response of the run sets a cookie',
      alone: 'last',
      steps: [create(one), read.get(one), refusal.get(one, asNobody)],
      expect: [
        ({ earlier }) => {
          const found = earlier.find(({ answer }) => fieldOf(answer, 'Set-Cookie') !== undefined)
          return found && finding(found, { field: 'Set-Cookie' }, `${found.asked.method} sets a cookie`)
        },
      ],
      remedy: 'Turn sessions off: every request carries all that is needed to answer it.',
    },
    'AUT-2/unsigned-token': {
      title: 'A token that is not signed (“alg”: “none”) is refused',
      needs: ['key', 'protected'],
      after: ['AUT-1/bearer'],
      steps: [list.get(collection, { headers: { Authorization: `Bearer ${unsigned()}` } })],
      expect: [refused(list)],
      remedy: 'Accept only algorithms of a fixed list without “none”, whatever the header of a token says.',
    },
  }),
]

function unsigned(): string {
  const rights = { sub: 'admin', role: 'admin', roles: ['admin'], scope: 'admin' }
  const claims = { ...rights, iat: 1_700_000_000, exp: 4_000_000_000 }
  const encoded = [{ alg: 'none', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  return `${encoded.join('.')}.`
}
