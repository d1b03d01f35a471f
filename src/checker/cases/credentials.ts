/** AUT-1 and AUT-2: who asks. */
import type { Case } from '../case/case.ts'
import { altogether, everyAnswerOf, field, finding, itemsOf, noField, sameBody, status } from '../case/expect.ts'
import { given, record, when, whereDemanded } from '../case/steps.ts'

const mendDoor =
  'Ask for the credential before anything else is done, on every address and for every method, and answer 401 where it is missing or none of yours.'

/** A list is asked for with something in Authorization that is no credential. */
function refusedCredential(name: string, title: string, authorization: string, mend = mendDoor): Case {
  return {
    ...{ id: `AUT-1/${name}`, title, kind: 'reading', needs: ['list', 'key'], mend },
    steps: [when('list', 'GET', '{collection}', { headers: { Authorization: authorization } })],
    expect: [status('list', 401)],
  }
}

/** Credentials: who has none, or none that is good, gets nothing. */
export const authentication: readonly Case[] = [
  {
    id: 'AUT-1/bearer',
    title: 'The credential is taken from Authorization, in the form Bearer …',
    kind: 'reading',
    needs: ['list', 'key'],
    steps: [when('list', 'GET', '{collection}', { headers: { Authorization: 'Bearer {key}' } })],
    expect: [status('list', 200)],
    mend: 'Take the credential from “Authorization: Bearer …”, and not from a field of your own, a cookie or the address.',
  },
  {
    id: 'AUT-1/scheme-in-any-case',
    title: 'The name of the scheme may be written in any case (RFC 9110 section 11.1)',
    kind: 'reading',
    level: 'should',
    needs: ['list', 'key'],
    after: ['AUT-1/bearer'],
    steps: [when('list', 'GET', '{collection}', { headers: { Authorization: 'bearer {key}' } })],
    expect: [status('list', 200)],
    mend: 'Compare the name of the scheme without regard to case: “bearer” is “Bearer”.',
  },
  {
    id: 'AUT-1/list',
    title: 'A list is not given to somebody without a credential',
    kind: 'reading',
    needs: ['list'],
    steps: [when('list', 'GET', '{collection}', { caller: 'nobody' })],
    expect: [status('list', 401)],
    mend: mendDoor,
  },
  {
    id: 'AUT-1/record',
    title: 'A record is not given to somebody without a credential',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [record(), when('read', 'GET', '{one}', { caller: 'nobody' })],
    expect: [status('read', 401)],
    mend: mendDoor,
  },
  {
    id: 'AUT-1/creation',
    title: 'Nobody creates anything without a credential',
    kind: 'changing',
    needs: ['create'],
    steps: [record(), when('created', 'POST', '{collection}', { caller: 'nobody', body: { from: 'example' } })],
    expect: [status('created', 401)],
    mend: mendDoor,
  },
  {
    id: 'AUT-1/creation-without-effect',
    title: 'A creation that was refused with 401 has created nothing',
    kind: 'changing',
    needs: ['create', 'list', 'marker'],
    after: ['AUT-1/creation'],
    steps: [
      record(),
      given('before', 'GET', '{collection}?{mine}'),
      when('created', 'POST', '{collection}', { caller: 'nobody', body: { from: 'example' } }),
      given('list', 'GET', '{collection}?{mine}'),
    ],
    expect: [
      status('created', 401),
      altogether('the list is as it was', (seen) => {
        const [before, after] = ['before', 'list'].map((step) => itemsOf(seen.of(step).answer, seen)?.length)
        if (before === 0) return finding(seen.of('before'), 'body', 'the record that was made is not in the list')
        return before === after
          ? undefined
          : finding(seen.of('list'), { pointer: seen.profile.names.items }, `${after} records in place of ${before}`)
      }),
    ],
    mend: 'Do nothing before the credential was found to be good.',
  },
  {
    id: 'AUT-1/change',
    title: 'Nobody changes a record without a credential',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change'],
    steps: [
      record(),
      given('before', 'GET', '{one}'),
      when('changed', 'PATCH', '{one}', {
        caller: 'nobody',
        body: { from: 'change' },
        headers: whereDemanded,
      }),
      given('after', 'GET', '{one}'),
    ],
    expect: [status('changed', 401), sameBody('after', 'before')],
    mend: mendDoor,
  },
  {
    id: 'AUT-1/deletion',
    title: 'Nobody deletes a record without a credential',
    kind: 'changing',
    needs: ['create', 'read', 'delete'],
    steps: [
      record(),
      when('deleted', 'DELETE', '{one}', { caller: 'nobody', headers: whereDemanded }),
      when('after', 'GET', '{one}'),
    ],
    expect: [status('deleted', 401), status('after', 200)],
    mend: mendDoor,
  },
  {
    id: 'AUT-1/wrong',
    title: 'A credential that is none is refused',
    kind: 'reading',
    needs: ['list', 'key'],
    steps: [when('list', 'GET', '{collection}', { caller: 'wrong' })],
    expect: [status('list', 401)],
    mend: mendDoor,
  },
  {
    id: 'AUT-1/wrong-deletion',
    title: 'A credential that is none deletes nothing',
    kind: 'changing',
    needs: ['create', 'read', 'delete', 'key'],
    steps: [
      record(),
      when('deleted', 'DELETE', '{one}', { caller: 'wrong', headers: whereDemanded }),
      when('after', 'GET', '{one}'),
    ],
    expect: [status('deleted', 401), status('after', 200)],
    mend: mendDoor,
  },
  refusedCredential(
    'altered',
    'A credential of which one character is another is refused',
    'Bearer {altered}',
    'Compare the whole credential, and check the signature of a token: its beginning is not enough.',
  ),
  refusedCredential(
    'other-scheme',
    'The credential under the name of another scheme is refused',
    'Basic {key}',
    'Look at the scheme first: what is not Bearer is no credential here.',
  ),
  refusedCredential(
    'no-scheme',
    'The credential without a scheme is refused',
    '{key}',
    'Look at the scheme first: what is not Bearer is no credential here.',
  ),
  {
    id: 'AUT-1/malformed',
    title: 'What cannot be read as a credential is refused with 401 or 400',
    kind: 'reading',
    needs: ['list', 'key'],
    steps: [
      'Bearer',
      'Bearer {key}, Bearer {key}',
      `Bearer ${'A'.repeat(4_000)}`,
      "Bearer ' OR '1'='1' -- ",
      'Bearer \u00fc\u00ff\u0080',
      'Bearer ../../../key',
      'Bearer null',
    ].map((Authorization) => when('lists', 'GET', '{collection}', { headers: { Authorization } })),
    expect: [
      everyAnswerOf('lists', 'answers 401 or 400', (answer, _, exchange) =>
        [400, 401, 431].includes(answer.status)
          ? undefined
          : finding(exchange, 'status', `${answer.status} in place of 401 or 400`),
      ),
    ],
    mend: 'Take whatever comes in Authorization for a text of unknown length and content, compare it, and answer 401.',
  },
  {
    id: 'AUT-1/www-authenticate',
    title: 'A 401 says in WWW-Authenticate how to sign in (RFC 9110 section 15.5.2)',
    kind: 'reading',
    needs: ['list'],
    after: ['AUT-1/list'],
    steps: [when('list', 'GET', '{collection}', { caller: 'nobody' })],
    expect: [status('list', 401), field('list', 'WWW-Authenticate')],
    mend: 'Send “WWW-Authenticate: Bearer” with every 401.',
  },
  {
    id: 'AUT-1/challenge',
    title: 'WWW-Authenticate asks for Bearer',
    kind: 'reading',
    level: 'should',
    needs: ['list'],
    after: ['AUT-1/www-authenticate'],
    steps: [when('list', 'GET', '{collection}', { caller: 'nobody' })],
    expect: [
      field('list', 'WWW-Authenticate', 'names the scheme Bearer', (value) =>
        /(^|,)\s*bearer(\s|,|$)/i.test(value) ? undefined : `${value} does not name Bearer`,
      ),
    ],
    mend: 'Send “WWW-Authenticate: Bearer” with every 401.',
  },
  {
    id: 'AUT-1/kept-connection',
    title: 'A request without a credential is refused although the one before on its connection had a good one',
    kind: 'reading',
    needs: ['list', 'key'],
    after: ['AUT-1/list'],
    steps: [
      {
        kind: 'bytes',
        as: 'both',
        bytes:
          'GET {collection} HTTP/1.1\r\nHost: {host}\r\n{credential}\r\n' +
          'GET {collection} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n',
      },
    ],
    expect: [
      altogether('the first is answered 200, the second 401', (seen) => {
        const all = seen.all('both')
        for (const [index, wanted] of [200, 401].entries()) {
          const { answer, failure } = all[index] ?? {}
          if (answer === undefined) {
            return finding(all[index] ?? all[0], 'connection', `no answer to request ${index + 1}: ${failure ?? ''}`)
          }
          if (answer.status !== wanted) return finding(all[index], 'status', `${answer.status} in place of ${wanted}`)
        }
        return undefined
      }),
    ],
    mend: 'Keep nothing of a caller beside the request: every request has to carry its credential.',
  },
  {
    id: 'AUT-1/no-cookie',
    title: 'No answer sets a cookie',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [record(), when('read', 'GET', '{one}'), when('refused', 'GET', '{one}', { caller: 'nobody' })],
    expect: [noField('one', 'Set-Cookie'), noField('read', 'Set-Cookie'), noField('refused', 'Set-Cookie')],
    mend: 'Turn sessions off: every request carries all that is needed to answer it.',
  },
  {
    id: 'AUT-2/unsigned-token',
    title: 'A token that is not signed (“alg”: “none”) is refused',
    kind: 'reading',
    needs: ['list', 'key'],
    steps: [when('list', 'GET', '{collection}', { headers: { Authorization: `Bearer ${unsigned()}` } })],
    expect: [status('list', 401)],
    mend: 'Check tokens against a list of algorithms that does not hold “none”, whatever their header says.',
  },
]

function unsigned(): string {
  const claims = {
    sub: 'admin',
    role: 'admin',
    roles: ['admin'],
    scope: 'admin',
    iat: 1_700_000_000,
    exp: 4_000_000_000,
  }
  const encoded = [{ alg: 'none', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  return `${encoded.join('.')}.`
}
