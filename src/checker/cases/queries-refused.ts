/** QRY-8 and QRY-9: what is refused. */
import type { Case, Expectation } from '../case/case.ts'
import { answerOf, code, everyStatus, finding, short, status } from '../case/expect.ts'
import { lists } from '../case/expect-list.ts'
import { given, record, when } from '../case/steps.ts'
import { jsonOf } from '../client/exchange.ts'
import { valueAt } from '../values/json.ts'

const secret = 'checked0secret0checked'
// Signed with nothing: {"alg":"HS256"}, {"sub":"checked"}.
const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjaGVja2VkIn0.Y2hlY2tlZC1jaGVja2VkLWNoZWNrZWQ'

type More = Pick<Case, 'mend'> & Partial<Case> & { readonly good?: string }

/** A case of one address that is refused, where another like it is not. */
function refused(name: string, title: string, query: string, { good = '', ...more }: More): Case {
  return {
    id: `QRY-8/${name}`,
    title,
    kind: 'reading',
    needs: ['list'],
    steps: [given('good', 'GET', `{collection}${good}`), when('refused', 'GET', `{collection}?${query}`)],
    expect: [status('refused', 400)],
    ...more,
  }
}

/** An error names so many things that are wrong. */
function errorsAtLeast(step: string, count: number): Expectation {
  return answerOf(step, `has ${count} errors`, (answer, { profile }, exchange) => {
    const pointer = profile.names.errors
    const errors = valueAt(jsonOf(answer), pointer)
    if (!Array.isArray(errors)) return finding(exchange, 'body', `there is no array at ${pointer}`)
    if (errors.length >= count) return undefined
    return finding(exchange, { pointer }, `${errors.length} of ${count} things that are wrong: ${short(errors)}`)
  })
}

const silence = 'what is not understood and not refused gives a client the wrong records without a word.'

export const refusedCases: readonly Case[] = [
  refused('parameter', 'A parameter that is none is refused', 'no_such_parameter=1', {
    mend: `Refuse parameters that are neither fields nor known: ${silence}`,
  }),
  refused('prototype', 'Names that every object in JavaScript inherits are unknown like any other', '', {
    after: ['QRY-8/parameter'],
    steps: [
      given('good', 'GET', '{collection}'),
      ...[
        '__proto__=1',
        'constructor=1',
        'toString=1',
        '__proto__%5Bgt%5D=1',
        'sort=constructor',
        'fields=__proto__',
      ].map((query) => when('refused', 'GET', `{collection}?${query}`)),
    ],
    expect: [everyStatus('refused', 400)],
    mend: 'Look names up in a Map, or with Object.hasOwn: an object literal has members that nobody gave it.',
  }),
  refused('sort', 'An order by a field that is none is refused', 'sort=no_such_field', {
    mend: `Refuse sort where it names what is no field: ${silence}`,
  }),
  refused('fields', 'fields with a name that is none is refused', 'fields=no_such_field', {
    mend: `Refuse fields where it names what is no field: ${silence}`,
  }),
  refused('type', 'A filter by a number takes no other text', '{member:measured}=much', {
    needs: ['list', 'measured'],
    good: '?{member:measured}={less:measured}',
    mend: 'Read the value of a filter by the type of its field, and refuse what is none: it is not zero, and does not match nothing.',
  }),
  refused('boolean', 'include_deleted takes true and false alone', 'include_deleted=perhaps', {
    needs: ['list', 'soft'],
    good: '?include_deleted=false',
    mend: 'Refuse values of include_deleted other than true and false.',
  }),
  refused('page', 'The number of a page is a number', 'page=first', {
    needs: ['list', 'page'],
    good: '?page=1',
    mend: 'Refuse values of page that are no whole number, in place of showing the first page.',
  }),
  refused('operator', 'An operator that is none is refused', '{member:filter}%5Bno_such_operator%5D=1', {
    needs: ['list', 'filter'],
    mend: `Refuse operators that are not known: ${silence}`,
  }),
  refused('operator-fits', 'An operator that does not fit its field is refused', '{member:measured}%5Bcontains%5D=1', {
    needs: ['list', 'measured'],
    good: '?{member:measured}%5Bgt%5D={less:measured}',
    after: ['QRY-8/operator'],
    mend: 'Refuse operators for texts on numbers, naming those that fit.',
  }),
  {
    id: 'QRY-8/together',
    title: 'All that is wrong with a query is told in one answer',
    kind: 'reading',
    needs: ['list'],
    after: ['QRY-8/parameter', 'QRY-8/sort', 'QRY-8/fields'],
    steps: [when('refused', 'GET', '{collection}?no_such_parameter=1&sort=no_such_order&fields=no_such_member')],
    expect: [status('refused', 400), errorsAtLeast('refused', 3)],
    mend: 'Look at all parameters before answering, collect what is wrong, and send it in one array.',
  },
  {
    id: 'QRY-8/values-together',
    title: 'All values that are wrong in a query are told in one answer',
    kind: 'reading',
    needs: ['list', 'measured', 'paged'],
    after: ['QRY-8/together', 'QRY-8/type'],
    steps: [when('refused', 'GET', '{collection}?{member:measured}=much&{size}=none')],
    expect: [status('refused', 400), errorsAtLeast('refused', 2)],
    mend: 'Read the values of all parameters before answering, and collect what is wrong with them.',
  },
  ...['access_token', 'api_key', 'token', 'password', 'secret'].map(
    (name): Case => ({
      id: `QRY-9/${name.replace('_', '-')}`,
      title: `${name} in an address is refused`,
      kind: 'reading',
      needs: ['list'],
      level: 'should',
      steps: [given('good', 'GET', '{collection}'), when('refused', 'GET', `{collection}?${name}=${secret}`)],
      expect: [status('refused', 400)],
      mend: `Refuse ${name} in the query string: addresses end up in logs and histories, and who sends it there should be told.`,
    }),
  ),
  {
    id: 'QRY-9/code',
    title: 'A secret in an address is refused with the code CREDENTIAL_IN_QUERY',
    kind: 'reading',
    needs: ['list'],
    level: 'may',
    after: ['QRY-9/secret'],
    steps: [when('refused', 'GET', `{collection}?secret=${secret}`)],
    expect: [code('refused', 'CREDENTIAL_IN_QUERY')],
    mend: 'Give this refusal a code of its own, so that clients can tell it from a parameter that is merely unknown.',
  },
  {
    id: 'QRY-9/not-repeated',
    title: 'The refusal of a secret does not repeat it',
    kind: 'reading',
    needs: ['list'],
    level: 'should',
    after: ['QRY-9/secret'],
    steps: [when('refused', 'GET', `{collection}?secret=${secret}`)],
    expect: [
      answerOf('refused', 'does not hold the secret', (answer, _, exchange) => {
        if (answer.body.includes(secret)) return finding(exchange, 'body', 'the body holds what was sent as a secret')
        const held = answer.fields.find(([, value]) => value.includes(secret))
        return held === undefined
          ? undefined
          : finding(exchange, { field: held[0] }, `${held[0]} holds what was sent as a secret`)
      }),
    ],
    mend: 'Name the parameter in the refusal, never its value: answers are logged and shown too.',
  },
  {
    id: 'QRY-9/form',
    title: 'What looks like a JWT is refused in an address, whatever it is called',
    kind: 'reading',
    needs: ['list', 'marker'],
    level: 'may',
    steps: [given('good', 'GET', '{collection}'), when('refused', 'GET', `{collection}?{member:marker}=${token}`)],
    expect: [status('refused', 400)],
    mend: 'Look for the forms of credentials in the whole query string: "eyJ…" with two dots, and the form of your own keys.',
  },
  {
    id: 'QRY-9/writing',
    title: 'A secret in the address of a creation is refused, and nothing is made',
    kind: 'changing',
    needs: ['create', 'list', 'marker'],
    level: 'should',
    after: ['QRY-1/none', 'QRY-9/access-token'],
    steps: [
      record('other', { '{member:marker}': 'other-{mark}' }),
      when('refused', 'POST', `{collection}?access_token=${secret}`, { body: { from: 'example' } }),
      when('found', 'GET', '{collection}?{mine}'),
    ],
    expect: [status('refused', 400), lists('found')],
    mend: 'Look for secrets in the query string of every method, before anything is done.',
  },
]
