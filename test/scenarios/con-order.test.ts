/** CON-6: the order in which errors are reported. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { uuidv7 } from 'uuidv7'
import { studio } from '../declarations.ts'
import { type Received, type Sent, scenarios, type Trial, trialFor } from '../harness.ts'
import { nowhere } from '../steps.ts'

/** The refusals that one changing request can meet, in their order. Each says how to deserve it. */
interface Attempt {
  method: string
  path: string
  id: string
  query: string[]
  headers: Record<string, string>
  as: string | null
  secure: boolean
  fields: Record<string, unknown>
  text: string | undefined
  large: boolean
  /** The address of another user. */
  taken: string
}

const order: readonly [code: string, status: number, deserve: (attempt: Attempt) => unknown][] = [
  ['URL_TOO_LONG', 414, (attempt) => attempt.query.push(`q=${'x'.repeat(8_000)}`)],
  ['HTTPS_REQUIRED', 403, (attempt) => Object.assign(attempt, { secure: false })],
  ['CREDENTIAL_IN_QUERY', 400, (attempt) => attempt.query.push('access_token=abc')],
  ['UNAUTHENTICATED', 401, (attempt) => Object.assign(attempt, { as: null })],
  ['NOT_FOUND', 404, (attempt) => Object.assign(attempt, { path: '/v1/customers' })],
  ['NOT_ACCEPTABLE', 406, (attempt) => Object.assign(attempt.headers, { accept: 'text/csv' })],
  ['BODY_TOO_LARGE', 413, (attempt) => Object.assign(attempt, { large: true })],
  ['UNSUPPORTED_MEDIA_TYPE', 415, (attempt) => Object.assign(attempt.headers, { 'content-type': 'text/plain' })],
  ['MALFORMED_JSON', 400, (attempt) => Object.assign(attempt, { text: '{"name":' })],
  ['INVALID_QUERY', 400, (attempt) => attempt.query.push('colour=red')],
  // An unknown caller has no permissions to lack: this fault gives way to UNAUTHENTICATED.
  ['FORBIDDEN', 403, (attempt) => Object.assign(attempt, { as: attempt.as === null ? null : 'ann' })],
  ['NOT_FOUND', 404, (attempt) => Object.assign(attempt, { id: nowhere })],
  ['PRECONDITION_FAILED', 412, (attempt) => Object.assign(attempt.headers, { 'if-match': '"other"' })],
  ['VALIDATION_FAILED', 400, (attempt) => Object.assign(attempt.fields, { name: '' })],
  ['DUPLICATE_VALUE', 409, (attempt) => Object.assign(attempt.fields, { email: attempt.taken })],
]

/** Sends a request with some of the faults, in whatever order they are made. */
async function attempt({ send, make }: Trial, method: string, faults: readonly number[]): Promise<Received> {
  const own = uuidv7()
  const taken = `taken.${own}@example.org`
  const { id } = await make('users', { name: 'Ann', email: `ann.${own}@example.org` })
  await make('users', { name: 'Bob', email: taken })
  const made: Attempt = {
    ...{
      method,
      path: '/v1/users',
      id,
      query: [],
      headers: {},
      as: 'root',
      secure: true,
      text: undefined,
      large: false,
      taken,
    },
    fields: { name: 'Eve', email: `eve.${own}@example.org` },
  }
  for (const fault of faults) order[fault]?.[2](made)
  const text = made.text ?? JSON.stringify(made.fields)
  return send({
    ...{ method, headers: made.headers, as: made.as, secure: made.secure },
    path: `${made.path}/${made.id}${made.query.length > 0 ? `?${made.query.join('&')}` : ''}`,
    body: made.large ? text + ' '.repeat(1_048_576) : text,
  })
}

for (const method of ['PUT', 'PATCH']) {
  for (const [first, [code, status]] of order.entries()) {
    const name = `${status} ${code}`
    it(`CON-6: ${method} with the error ${name} and any later errors gets ${name}`, async (context) => {
      const current = await trialFor(context, studio, { memory: true, requireHttps: true })
      const alone = await attempt(current, method, [first])
      assert.deepEqual([alone.status, alone.json.code], [status, code])
      for (let second = first + 1; second < order.length; second++) {
        const both = await attempt(current, method, [first, second])
        assert.deepEqual([both.status, both.json.code], [status, code], `beside ${order[second]?.[0]}`)
      }
      const rest = order.map((_, index) => index).filter((index) => index >= first)
      const all = await attempt(current, method, rest)
      assert.deepEqual([all.status, all.json.code], [status, code], 'with every later fault at once')
    })
  }
}

/** Another's private project, of whose state nothing may be told. */
const foreign =
  (sent: Omit<Sent, 'path'>) =>
  async ({ make }: Trial): Promise<Sent> => {
    await make('projects', { name: 'Taken' }, 'bob')
    const { id } = await make('projects', { name: 'Private' }, 'bob')
    return { path: `/v1/projects/${id}`, as: 'ann', ...sent }
  }

const refuses = (name: string, send: ReturnType<typeof foreign>, status: number, code: string) => ({
  ...{ name, rule: 'CON-6', send, status, code },
})

scenarios(studio, [
  refuses(
    '403 of the record comes before 412',
    foreign({ method: 'DELETE', headers: { 'if-match': '"x"' } }),
    403,
    'FORBIDDEN',
  ),
  refuses(
    '403 of the record comes before 400',
    foreign({ method: 'PATCH', body: { name: 5, colour: 1 } }),
    403,
    'FORBIDDEN',
  ),
  refuses(
    '403 of the record comes before 409',
    foreign({ method: 'PATCH', body: { name: 'Taken' } }),
    403,
    'FORBIDDEN',
  ),
  refuses(
    '400 of the body comes before 403 of the record',
    foreign({ method: 'PATCH', body: '{' }),
    400,
    'MALFORMED_JSON',
  ),
  refuses(
    '400 of the query comes before 403 of the record',
    async (trial) => {
      const sent = await foreign({ method: 'DELETE' })(trial)
      return { ...sent, path: `${sent.path}?force=1` }
    },
    400,
    'INVALID_QUERY',
  ),
  refuses(
    '405 comes before 406, and before anything of the body',
    foreign({ method: 'POST', body: '{', headers: { accept: 'text/csv' } }),
    405,
    'METHOD_NOT_ALLOWED',
  ),
  refuses(
    'a malformed path comes before 405',
    async () => ({ method: 'PUT', path: '/v1/%zz', body: {} }),
    400,
    'MALFORMED_URL',
  ),
  refuses('401 comes before a malformed path', async () => ({ path: '/v1/%zz', as: null }), 401, 'UNAUTHENTICATED'),
  refuses(
    '401 comes before 405',
    async () => ({ method: 'DELETE', path: '/v1/projects', as: 'nobody' }),
    401,
    'UNAUTHENTICATED',
  ),
  refuses(
    'a malformed condition comes before 404 of the record',
    async () => ({ method: 'DELETE', path: `/v1/projects/${nowhere}`, headers: { 'if-match': '' } }),
    400,
    'MALFORMED_CONDITION',
  ),
  refuses(
    '404 of the parent comes before validation',
    async () => ({ path: `/v1/projects/${nowhere}/tasks`, body: { title: 5 } }),
    404,
    'NOT_FOUND',
  ),
  refuses(
    '403 of the parent comes before validation',
    async (trial) => {
      const sent = await foreign({ body: { title: 5 } })(trial)
      return { ...sent, path: `${sent.path}/tasks` }
    },
    403,
    'FORBIDDEN',
  ),
  refuses(
    '403 of a creation comes before validation',
    async () => ({ path: '/v1/users', body: { name: 5 }, as: 'ann' }),
    403,
    'FORBIDDEN',
  ),
  refuses(
    '403 through a reference comes before validation',
    async ({ make }) => {
      const { id } = await make('projects', { name: 'One', visibility: 'public' }, 'bob')
      return { path: '/v1/tasks', body: { title: '', project_id: id, colour: 1 }, as: 'ann' }
    },
    403,
    'FORBIDDEN',
  ),
  {
    ...refuses(
      'where the permission hangs on a reference that the caller may not read, it is said to be missing',
      async ({ make }) => {
        const { id } = await make('projects', { name: 'One' }, 'bob')
        return { path: '/v1/tasks', body: { title: 'a', project_id: id }, as: 'ann' }
      },
      400,
      'VALIDATION_FAILED',
    ),
    errors: ['INVALID_REFERENCE /project_id'],
  },
  {
    ...refuses(
      'where the permission hangs on a reference that is missing, that is said',
      async () => ({ path: '/v1/tasks', body: {}, as: 'ann' }),
      400,
      'VALIDATION_FAILED',
    ),
    errors: ['REQUIRED /title', 'REQUIRED /project_id'],
  },
  {
    ...refuses(
      'where the permission hangs on a reference to nothing, that is said',
      async () => ({ path: '/v1/tasks', body: { title: 'x', project_id: nowhere } }),
      400,
      'VALIDATION_FAILED',
    ),
    errors: ['INVALID_REFERENCE /project_id'],
  },
])
