/** QRY-6 to QRY-9: deleted records in lists, and parameters that must be refused. */
import { type Case, type Expectation, NotSetUp } from '../../case/case.ts'
import { type Draft, define, defineOne } from '../../case/define.ts'
import { answerOf, code, everyStatus, finding, short, status } from '../../case/expect.ts'
import { lists, theItems } from '../../case/expect-list.ts'
import { recordAt } from '../../case/expect-records.ts'
import { back, first, found, gone, good, other, refusal, removed, second } from '../../case/names.ts'
import { applicableWhere } from '../../case/preconditions.ts'
import { caseRecords, collection, idMember, mark, members, ordered, paging, Reference } from '../../case/references.ts'
import { asOther, body, create, setUp, wait } from '../../case/steps.ts'
import { jsonOf } from '../../client/exchange.ts'
import { valueAt } from '../../values/json.ts'

const [live, including, without, newest, oldest] = Reference.named('live', 'with', 'without', 'newest', 'oldest')

const secret = 'checked0secret0checked'
// Signed with nothing: {"alg":"HS256"}, {"sub":"checked"}.
const token = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjaGVja2VkIn0.Y2hlY2tlZC1jaGVja2VkLWNoZWNrZWQ'

type More = Pick<Case, 'remedy'> & Partial<Draft> & { readonly accepted?: string }

/** A case of a refused query; a similar one is accepted. */
function refused(name: string, title: string, query: string, { accepted = '', ...more }: More): Case {
  return defineOne(`QRY-8/${name}`, {
    title,
    steps: [setUp(good.get(`${collection}${accepted}`)), refusal.get(`${collection}?${query}`)],
    expect: [status(refusal, 400)],
    ...more,
  })
}

/** An error lists at least so many errors. */
function errorsAtLeast(step: Reference, count: number): Expectation {
  return answerOf(step, (answer, { profile }, exchange) => {
    const pointer = profile.names.errors
    const errors = valueAt(jsonOf(answer), pointer)
    if (!Array.isArray(errors)) return `there is no array at ${pointer}`
    if (errors.length >= count) return undefined
    return finding(exchange, { pointer }, `${errors.length} of ${count} things that are wrong: ${short(errors)}`)
  })
}

const silence = 'what is not understood and not refused gives a client the wrong records without a word.'

export const refusedCases: readonly Case[] = [
  refused('parameter', 'An unknown parameter is refused with 400', 'no_such_parameter=1', {
    remedy: `Refuse parameters that are neither fields nor known: ${silence}`,
  }),
  refused('sort', 'A sort by an unknown field is refused with 400', 'sort=no_such_field', {
    needsOnly: ['list', 'sorted'],
    accepted: `?sort=${members.sort}`,
    remedy: `Refuse sort where it names what is no field: ${silence}`,
  }),
  refused('fields', 'fields with an unknown name is refused with 400', 'fields=no_such_field', {
    needsOnly: ['list', 'fields'],
    accepted: `?fields=${idMember}`,
    remedy: `Refuse fields where it names what is no field: ${silence}`,
  }),
  refused('prototype', 'Names that JavaScript objects inherit are refused as unknown', '', {
    after: ['QRY-8/parameter', 'QRY-8/sort', 'QRY-8/fields'],
    steps: [
      setUp(good.get(collection)),
      ...'__proto__=1 constructor=1 toString=1 __proto__%5Bgt%5D=1 sort=constructor fields=__proto__'
        .split(' ')
        .map((query) => refusal.get(`${collection}?${query}`)),
    ],
    expect: [everyStatus(refusal, 400)],
    remedy: 'Look names up in a Map, or with Object.hasOwn: object literals inherit members.',
  }),
  refused('type', 'A filter by number refuses other text', `${members.measured}=much`, {
    needsOnly: ['list', 'measured'],
    accepted: `?${members.measured}=${ordered.less.measured}`,
    remedy: 'Parse the value of a filter by the type of its field, and refuse invalid values.',
  }),
  refused('boolean', 'include_deleted accepts only true and false', 'include_deleted=perhaps', {
    needsOnly: ['list', 'soft'],
    accepted: '?include_deleted=false',
    remedy: 'Refuse values of include_deleted other than true and false.',
  }),
  refused('page', 'A page number that is not a number is refused with 400', 'page=first', {
    needsOnly: ['list', 'page'],
    accepted: '?page=1',
    remedy: 'Refuse values of page that are no whole number, in place of showing the first page.',
  }),
  refused('operator', 'An unknown operator is refused with 400', `${members.filter}%5Bno_such_operator%5D=1`, {
    needsOnly: ['list', 'filter'],
    remedy: `Refuse operators that are not known: ${silence}`,
  }),
  refused(
    'operator-fits',
    'An operator that does not fit its field is refused with 400',
    `${members.measured}%5Bcontains%5D=1`,
    {
      needsOnly: ['list', 'measured'],
      accepted: `?${members.measured}%5Bgt%5D=${ordered.less.measured}`,
      after: ['QRY-8/operator'],
      remedy: 'Refuse operators for texts on numbers, naming those that fit.',
    },
  ),
  ...define({
    'QRY-8/together': {
      title: 'One response lists all errors of a query',
      after: ['QRY-8/parameter', 'QRY-8/sort', 'QRY-8/fields'],
      steps: [refusal.get(`${collection}?no_such_parameter=1&sort=no_such_order&fields=no_such_member`)],
      expect: [status(refusal, 400), errorsAtLeast(refusal, 3)],
      remedy: 'Check all parameters before you answer, and return all errors in one array.',
    },
    'QRY-8/values-together': {
      title: 'One response lists all invalid values of a query',
      after: ['QRY-8/together', 'QRY-8/type'],
      steps: [refusal.get(`${collection}?${members.measured}=much&${paging.size}=none`)],
      expect: [status(refusal, 400), errorsAtLeast(refusal, 2)],
      remedy: 'Read the values of all parameters before answering, and collect what is wrong with them.',
    },
  }),
  ...['access_token', 'api_key', 'token', 'password', 'secret'].map((name) =>
    defineOne(`QRY-9/${name.replace('_', '-')}`, {
      title: `${name} in an address is refused`,
      level: 'should',
      // A server that ignores unknown parameters ignores these, too.
      after: ['QRY-8/parameter'],
      steps: [setUp(good.get(collection)), refusal.get(`${collection}?${name}=${secret}`)],
      expect: [status(refusal, 400)],
      remedy:
        `Refuse ${name} in the query string: addresses end up in logs and histories, and who sends it there should ` +
        'be told.',
    }),
  ),
  ...define({
    'QRY-9/code': {
      title: 'A secret in an address is refused with the code CREDENTIAL_IN_QUERY',
      level: 'may',
      after: ['QRY-9/secret'],
      steps: [refusal.get(`${collection}?secret=${secret}`)],
      expect: [code(refusal, 'CREDENTIAL_IN_QUERY')],
      remedy: 'Use a separate code for secrets in addresses, so that clients can report the mistake.',
    },
    'QRY-9/not-repeated': {
      title: 'The refusal of a secret does not contain it',
      level: 'should',
      after: ['QRY-9/secret'],
      steps: [refusal.get(`${collection}?secret=${secret}`)],
      expect: [
        answerOf(refusal, (answer, _, exchange) => {
          if (answer.body.includes(secret)) return 'the body holds what was sent as a secret'
          const held = answer.fields.find(([, value]) => value.includes(secret))
          if (held === undefined) return undefined
          return finding(exchange, { field: held[0] }, `${held[0]} holds what was sent as a secret`)
        }),
      ],
      remedy: 'Name the parameter in the refusal, never its value: answers are logged and shown too.',
    },
    'QRY-9/form': {
      title: 'A JWT in an address is refused, whatever its parameter',
      level: 'may',
      steps: [setUp(good.get(collection)), refusal.get(`${collection}?${members.marker}=${token}`)],
      expect: [status(refusal, 400)],
      remedy: 'Search the whole query string for the forms of credentials: JWTs and your own keys.',
    },
    'QRY-9/writing': {
      title: 'A creation with a secret in its address is refused and creates nothing',
      level: 'should',
      after: ['QRY-1/none', 'QRY-9/access-token'],
      steps: [
        create(other, { [members.marker]: `other-${mark}` }),
        refusal.post(`${collection}?access_token=${secret}`, body.example),
        found.get(caseRecords),
      ],
      expect: [status(refusal, 400), lists(found)],
      remedy: 'Search the query string for secrets for every method, before any other work.',
    },
  }),
]

const removal = setUp(gone.delete(removed))

/** Two records are in the order of their creation. Records of the same moment prove nothing. */
function byCreation(step: Reference, isInOrder: (one: number, next: number) => boolean): Expectation {
  return theItems(step, (items, seen) => {
    const name = seen.fill(members.created)
    const times = items.map((item) => item[name])
    const [one, next] = times.map((time) => (typeof time === 'number' ? time : Date.parse(String(time))))
    if (one === undefined || next === undefined) return 'they are not listed'
    if (Number.isNaN(one) || Number.isNaN(next)) return `they have no ${name}`
    if (one === next) throw new NotSetUp(`both records were created at the same moment, as far as ${name} tells`)
    return isInOrder(one, next) ? undefined : `they are of ${times.join(', then ')}`
  })
}

export const deletedCases = define({
  'QRY-6/included': {
    title: 'include_deleted=true adds deleted records to a list',
    steps: [
      create(live),
      create(removed),
      removal,
      including.get(`${caseRecords}&include_deleted=true`),
      without.get(caseRecords),
    ],
    expect: [lists(including, live, removed), lists(without, live)],
    remedy: 'Leave out the condition that hides deleted records where include_deleted=true is asked for.',
  },
  'QRY-6/false': {
    title: 'include_deleted=false excludes deleted records',
    after: ['QRY-6/included'],
    steps: [create(live), create(removed), removal, without.get(`${caseRecords}&include_deleted=false`)],
    expect: [lists(without, live)],
    remedy: 'Read the value of include_deleted: that it is there does not mean true.',
  },
  'QRY-6/restored': {
    title: 'Lists contain a restored record, with and without include_deleted',
    after: ['QRY-6/included'],
    steps: [
      create(removed),
      removal,
      setUp(back.post(`${removed}/restore`)),
      including.get(`${caseRecords}&include_deleted=true`),
      without.get(caseRecords),
    ],
    expect: [lists(including, removed), lists(without, removed)],
    remedy: 'Clear the deletion of a restored record wherever lists check it.',
  },
  'QRY-6/forbidden': {
    title: 'include_deleted returns 403 to callers who may not read deleted records',
    needs: ['no delete'],
    after: ['QRY-6/included'],
    steps: [create(removed), removal, refusal.get(`${caseRecords}&include_deleted=true`, asOther)],
    expect: [status(refusal, 403)],
    remedy: 'Ask for the permission to read deleted records before include_deleted is followed.',
  },
  'QRY-7/created': {
    title: 'Lists can be sorted by the time of creation',
    steps: [
      create(first),
      wait(20),
      create(second),
      setUp(live.get(first)),
      newest.get(`${caseRecords}&sort=-${members.created}`),
      oldest.get(`${caseRecords}&sort=${members.created}`),
    ],
    expect: [
      applicableWhere(
        (seen) => recordAt(live, seen)?.[seen.fill(members.created)] !== undefined,
        'records do not show when they were created',
      ),
      lists(newest, first, second),
      lists(oldest, first, second),
      byCreation(newest, (one, next) => one >= next),
      byCreation(oldest, (one, next) => one <= next),
    ],
    remedy: 'Let lists be sorted by created_at: "what is new" is what people ask for most.',
  },
  'QRY-7/undeclared-filter': {
    title: 'A filter by a field without a filter is refused',
    level: 'may',
    steps: [refusal.get(`${collection}?${members.undeclared}=checked`)],
    expect: [status(refusal, 400)],
    remedy: 'Answer 400 with the fields that can be filtered, or document this field as a filter.',
  },
  'QRY-7/undeclared-sort': {
    title: 'A sort by a field that cannot be sorted is refused',
    level: 'may',
    steps: [refusal.get(`${collection}?sort=${members.undeclared}`)],
    expect: [status(refusal, 400)],
    remedy: 'Answer 400 with the fields that can be sorted, or document this field as sortable.',
  },
})
