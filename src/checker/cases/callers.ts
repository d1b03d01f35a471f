/** AUT: who, and what they may do. */
import type { Case, CaseSection, Step } from '../case.ts'
import {
  altogether,
  everyAnswerOf,
  field,
  finding,
  itemsOf,
  noField,
  refused,
  sameBody,
  status,
  totalOf,
} from '../expect.ts'
import { given, record, when } from '../steps.ts'
import { ownRecords } from './own-records.ts'

const mendDoor =
  'Ask for the credential before anything else is done, on every address and for every method, and answer 401 where it is missing or none of yours.'
const mendRight =
  'Decide for each resource and action whether the caller may do it, and answer 403 before anything is done.'

/** A list is asked for with something in Authorization that is no credential. */
function refusedCredential(name: string, title: string, authorization: string, mend = mendDoor): Case {
  return {
    ...{ id: `AUT-1/${name}`, title, kind: 'reading', needs: ['list', 'key'], mend },
    steps: [when('list', 'GET', '{collection}', { headers: { Authorization: authorization } })],
    expect: [status('list', 401)],
  }
}

const authentication: readonly Case[] = [
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
        headers: { 'If-Match': '*' },
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
      when('deleted', 'DELETE', '{one}', { caller: 'nobody', headers: { 'If-Match': '*' } }),
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
      when('deleted', 'DELETE', '{one}', { caller: 'wrong', headers: { 'If-Match': '*' } }),
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

const condition = { 'If-Match': '*' }

/** Somebody who may do nothing tries to change a record; it stays as it was. */
function withoutEffect(action: 'update' | 'replace' | 'delete' | 'bulk-delete' | 'delete-by-filter', step: Step): Case {
  return {
    id: `AUT-3/${action}`,
    title: `Somebody who may do nothing is refused ${words[action]}, and the record stays as it was`,
    kind: 'changing',
    needs: ['create', 'read', action, 'other', ...(action === 'update' ? (['change'] as const) : [])],
    steps: [record(), given('before', 'GET', '{one}'), step, when('after', 'GET', '{one}')],
    expect: [refused('tried'), status('after', 200), sameBody('after', 'before')],
    mend: mendRight,
  }
}

const words = {
  update: 'PATCH',
  replace: 'PUT',
  delete: 'DELETE',
  'bulk-delete': 'bulk-delete',
  'delete-by-filter': 'the deletion by filter',
}

const asOther = { caller: 'other', headers: condition } as const

const permissions: readonly Case[] = [
  {
    id: 'AUT-3/create',
    title: 'Somebody who may do nothing cannot create',
    kind: 'changing',
    needs: ['create', 'other'],
    steps: [record(), when('tried', 'POST', '{collection}', { caller: 'other', body: { from: 'example' } })],
    expect: [refused('tried')],
    mend: mendRight,
  },
  {
    id: 'AUT-3/read',
    title: 'Somebody who may do nothing cannot read a record',
    kind: 'changing',
    needs: ['create', 'read', 'other'],
    steps: [record(), when('tried', 'GET', '{one}', { caller: 'other' })],
    expect: [refused('tried')],
    mend: mendRight,
  },
  withoutEffect('update', when('tried', 'PATCH', '{one}', { ...asOther, body: { from: 'change' } })),
  withoutEffect('replace', when('tried', 'PUT', '{one}', { ...asOther, body: { from: 'example' } })),
  withoutEffect('delete', when('tried', 'DELETE', '{one}', asOther)),
  withoutEffect(
    'bulk-delete',
    when('tried', 'POST', '{collection}/bulk-delete', { caller: 'other', body: { json: { ids: ['{one.id}'] } } }),
  ),
  {
    ...withoutEffect('delete-by-filter', when('tried', 'DELETE', '{collection}?{mine}', { caller: 'other' })),
    needs: ['create', 'read', 'delete-by-filter', 'marker', 'other'],
  },
  {
    id: 'AUT-3/restore',
    title: 'Somebody who may do nothing cannot bring a deleted record back',
    kind: 'changing',
    needs: ['create', 'read', 'delete', 'restore', 'soft', 'other'],
    steps: [
      record(),
      given('deleted', 'DELETE', '{one}', { headers: condition }),
      when('tried', 'POST', '{one}/restore', { caller: 'other' }),
      when('after', 'GET', '{one}'),
    ],
    expect: [refused('tried'), status('after', 404)],
    mend: mendRight,
  },
  ...(['create', 'read', 'update', 'delete'] as const).map((action): Case => {
    const before = permissionsOf(action)
    return {
      id: `AUT-4/${action}`,
      title: `What somebody may not ${action} is answered 403: who they are is known`,
      kind: 'changing',
      needs: ['create', action, 'other', ...(action === 'update' ? (['change'] as const) : [])],
      after: [`AUT-3/${action}`],
      steps: [record(), before],
      expect: [status('tried', 403)],
      mend: 'Answer 401 where nobody knows who asks, and 403 where one knows and they may not.',
    }
  }),
  {
    id: 'AUT-4/list',
    title: 'Records that somebody may not read are neither in their lists nor counted',
    kind: 'changing',
    needs: ['create', 'list', 'marker', 'other'],
    steps: [
      record(),
      given('all', 'GET', '{collection}?{mine}'),
      when('tried', 'GET', '{collection}?{mine}', { caller: 'other' }),
    ],
    expect: [
      altogether('the record is in the list of who may read it', (seen) =>
        itemsOf(seen.of('all').answer, seen)?.length === 1
          ? undefined
          : finding(seen.of('all'), 'body', 'the record that was made is not in the list'),
      ),
      altogether('answers 403, or 200 without it', (seen) => {
        const tried = seen.of('tried')
        const { answer } = tried
        if (answer === undefined) return finding(tried, 'connection', `no answer came: ${tried.failure}`)
        if (answer.status === 403) return undefined
        if (answer.status !== 200)
          return finding(tried, 'status', `${answer.status} in place of 403, or 200 without it`)
        if (itemsOf(answer, seen)?.length !== 0) return finding(tried, 'body', 'the list is not empty')
        const total = totalOf(answer, seen) ?? 0
        return total === 0 ? undefined : finding(tried, 'body', `${total} are counted in place of 0`)
      }),
    ],
    mend: 'Put what the caller may read into the query of the list and of its total alike, as a condition.',
  },
]

function permissionsOf(action: 'create' | 'read' | 'update' | 'delete') {
  switch (action) {
    case 'create':
      return when('tried', 'POST', '{collection}', { caller: 'other', body: { from: 'example' } })
    case 'read':
      return when('tried', 'GET', '{one}', { caller: 'other' })
    case 'update':
      return when('tried', 'PATCH', '{one}', { ...asOther, body: { from: 'change' } })
    case 'delete':
      return when('tried', 'DELETE', '{one}', asOther)
  }
}

export const callers: CaseSection = {
  cases: [...authentication, ...permissions, ...ownRecords],
  unseen: {},
}
