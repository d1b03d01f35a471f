/** QRY-1, QRY-2, QRY-4, WHR-5: filters and their operators, and the members that a response includes. */
import { type Case, type Expectation, NotSetUp } from '../../case/case.ts'
import { define, defineOne } from '../../case/define.ts'
import { answerOf, finding, itemsOf, status } from '../../case/expect.ts'
import { idsOf, lists, showsNone } from '../../case/expect-list.ts'
import { recordAt, recordOf } from '../../case/expect-records.ts'
import { empty, first, found, one, other, second, whole } from '../../case/names.ts'
import { applicableWhere } from '../../case/preconditions.ts'
import {
  caseRecords,
  collection,
  idMember,
  mark,
  members,
  ordered,
  Reference,
  uppercase,
} from '../../case/references.ts'
import { create, setUp } from '../../case/steps.ts'
import { isObject } from '../../values/json.ts'

const [longer, capitals, less, more, third] = Reference.named('longer', 'capitals', 'less', 'more', 'third')
const [percent, underscore, star, quote, comment] = Reference.named('percent', 'underscore', 'star', 'quote', 'comment')
const [inside, begins, ends, full, without] = Reference.named('inside', 'begins', 'ends', 'full', 'without')
const [including, some] = Reference.named('with', 'some')

const odd = `&=#+%'"\\ü日😀`

/** Another text in the member by which a case finds its records. */
const marked = (text: string) => ({ [members.marker]: text })

/** Records whose texts end with a, b and c. */
const threeMarked = [first, second, third].map((step, at) => create(step, marked(`${mark}-${'abc'[at]}`)))

/** Another value in the number by which lists are filtered. */
const measured = (which: Which) => ({ [members.measured]: ordered[which].measured })

export const filterCases: readonly Case[] = [
  ...define({
    'QRY-1/equal': {
      title: 'A filter finds records with exactly its value, not with a longer one',
      steps: [create(one), create(longer, marked(`${mark}x`)), found.get(caseRecords)],
      expect: [lists(found, one)],
      remedy: 'Compare the whole value of the field with that of the parameter: "where name = ?".',
    },
    'QRY-1/capitals': {
      title: 'A filter by text is case-sensitive',
      level: 'may',
      after: ['QRY-1/equal'],
      steps: [
        create(one),
        create(capitals, marked(uppercase.mark)),
        found.get(`${collection}?${members.marker}=${uppercase.mark}`),
      ],
      expect: [lists(found, capitals)],
      remedy: 'Compare texts with a case-sensitive collation, unless your documentation says otherwise.',
    },
    'QRY-1/number': {
      title: 'A filter by number finds only records with this number',
      steps: [
        create(less, measured('less')),
        create(more, measured('more')),
        found.get(`${caseRecords}&${members.measured}=${ordered.more.measured}`),
      ],
      expect: [lists(found, more)],
      remedy: 'Read the value of a filter by the type of its field, and combine filters of several fields with "and".',
    },
    'QRY-1/word': {
      title: 'A filter by a text finds only records with this text, beside another filter',
      steps: [
        create(less, { [members.worded]: ordered.less.worded }),
        create(more, { [members.worded]: ordered.more.worded }),
        found.get(`${caseRecords}&${members.worded}=${ordered.more.worded}`),
      ],
      expect: [lists(found, more)],
      remedy: 'Combine the filters of several fields with "and".',
    },
    'QRY-1/any-of': {
      title: 'A repeated filter finds the records with either value',
      level: 'should',
      after: ['QRY-1/equal'],
      steps: [...threeMarked, found.get(`${collection}?${members.marker}=${mark}-a&${members.marker}=${mark}-b`)],
      expect: [lists(found, first, second)],
      remedy: 'Read all values of a repeated parameter, and find records with any of them: "where name in (?, ?)".',
    },
    'QRY-1/none': {
      title: 'A filter that no record matches returns an empty list',
      steps: [create(one), found.get(`${collection}?${members.marker}=${mark}-none`)],
      expect: [status(found, 200), lists(found)],
      remedy: 'Answer 200 with an empty list: the collection exists even if nothing matches.',
    },
    'QRY-1/literal': {
      title: 'Special characters of SQL and patterns are literal in a filter',
      after: ['QRY-1/none'],
      steps: [
        create(one, marked(`${mark}a`)),
        percent.get(`${collection}?${members.marker}=${mark}%25`),
        underscore.get(`${collection}?${members.marker}=${mark}_`),
        star.get(`${collection}?${members.marker}=${mark}*`),
        quote.get(`${collection}?${members.marker}=${mark}'%20or%20'1'='1`),
        comment.get(`${collection}?${members.marker}=${mark}a%27%20--%20`),
      ],
      expect: [percent, underscore, star, quote, comment].map((step) => lists(step)),
      remedy: 'Hand values to the database as parameters of the statement, and compare with "=", not with "like".',
    },
    'QRY-1/every-character': {
      title: 'A filter finds a text with any characters in it, percent-encoded',
      after: ['QRY-1/equal'],
      steps: [
        create(one, marked(`${mark} ${odd}`)),
        found.get(`${collection}?${members.marker}=${mark}%20${encodeURIComponent(odd)}`),
      ],
      expect: [lists(found, one)],
      remedy: 'Split the query string at "&" and the first "=", then decode names and values once, as UTF-8.',
    },
    'QRY-1/nul': {
      title: 'A filter with the character U+0000 is refused or finds nothing',
      steps: [create(one), found.get(`${collection}?${members.marker}=${mark}%00`)],
      expect: [status(found, 200, 400), showsNone(found, one)],
      remedy: 'Refuse U+0000 in parameters with 400 before the query: PostgreSQL accepts no text with it.',
    },
  }),
  comparison('gt', 'greater than', 'less', 'more'),
  comparison('gte', 'of at least', 'more', 'more'),
  comparison('lt', 'less than', 'more', 'less'),
  comparison('lte', 'of at most', 'less', 'less'),
  ...define({
    'QRY-2/not': {
      title: '[not] finds the records with another value',
      steps: [
        create(less, measured('less')),
        create(more, measured('more')),
        found.get(`${caseRecords}&${members.measured}%5Bnot%5D=${ordered.less.measured}`),
      ],
      expect: [lists(found, more)],
      remedy: 'Read field[not]=value as "the field has another value than this".',
    },
    'QRY-2/in': {
      title: '[in] finds the records with any of the comma-separated values',
      steps: [...threeMarked, found.get(`${collection}?${members.marker}%5Bin%5D=${mark}-a,${mark}-b`)],
      expect: [lists(found, first, second)],
      remedy: 'Read field[in]=a,b as "the field has one of these values".',
    },
    'QRY-2/contains': {
      title: '[contains] finds the records that contain the text',
      steps: [
        create(inside, marked(`a ${mark} z`)),
        create(other, marked('a z')),
        found.get(`${collection}?${members.marker}%5Bcontains%5D=${mark}`),
      ],
      expect: [lists(found, inside)],
      remedy: 'Read field[contains]=text as "the field contains the text", with pattern characters escaped.',
    },
    'QRY-2/starts-with': {
      title: '[starts_with] finds the records that begin with the text',
      steps: [
        create(begins, marked(`${mark} z`)),
        create(ends, marked(`a ${mark}`)),
        found.get(`${collection}?${members.marker}%5Bstarts_with%5D=${mark}`),
      ],
      expect: [lists(found, begins)],
      remedy: 'Read field[starts_with]=text as "the field starts with the text", with pattern characters escaped.',
    },
    'QRY-2/null': {
      title: '[null] finds the records without a value, or with one',
      steps: [
        create(full),
        { kind: 'create', as: empty.name, with: {}, without: [members.emptied] },
        without.get(`${caseRecords}&${members.emptied}%5Bnull%5D=true`),
        including.get(`${caseRecords}&${members.emptied}%5Bnull%5D=false`),
      ],
      expect: [
        applicableWhere(
          (seen) => recordAt(empty, seen)?.[seen.fill(members.emptied)] == null,
          'the server gives the member that was left out a value',
        ),
        lists(without, empty),
        lists(including, full),
      ],
      remedy: 'Read field[null]=true as "the field has no value", and false as its opposite.',
    },
  }),
]

/** WHR-5: filters by the identifier. */
export const idCases: readonly Case[] = define({
  'WHR-5/in': {
    title: '[in] of the identifier finds all of the records that it names',
    steps: [create(first), create(second), found.get(`${collection}?${idMember}%5Bin%5D=${first.id},${second.id}`)],
    expect: [
      // Where the parameter is refused or ignored, this is no filter; QRY-8 is about ignored ones.
      applicableWhere((seen) => {
        const named = [first, second].flatMap(seen.ids)
        const { answer } = seen.of(found)
        return answer?.status === 200 && (idsOf(answer, seen)?.every((id) => named.includes(id)) ?? false)
      }, 'lists cannot be filtered by the identifier'),
      lists(found, first, second),
    ],
    remedy: 'Read id[in]=a,b as "the identifier is one of these", so that clients read many records by one request.',
  },
})

type Which = 'less' | 'more'

/** A case of an operator that compares numbers. */
function comparison(operator: 'gt' | 'gte' | 'lt' | 'lte', words: string, than: Which, finds: Which): Case {
  return defineOne(`QRY-2/${operator}`, {
    title: `[${operator}] finds the records with a value ${words} that`,
    steps: [
      create(less, measured('less')),
      create(more, measured('more')),
      found.get(`${caseRecords}&${members.measured}%5B${operator}%5D=${ordered[than].measured}`),
    ],
    expect: [lists(found, finds === 'less' ? less : more)],
    remedy: `Read field[${operator}]=value as "a value ${words} that", compared as the type of the field.`,
  })
}

const readWhole = setUp(whole.get(caseRecords))

/**
 * The record in an answer, or the first of its list, has these members, and no others than them and perhaps its
 * identifier.
 */
function hasOnly(step: Reference, ...members: readonly string[]): Expectation {
  return answerOf(step, (answer, seen, exchange) => {
    if (answer.status !== 200) return finding(exchange, 'status', `${answer.status} in place of 200`)
    const { items } = seen.profile.names
    const list = itemsOf(answer, seen)
    const record = list === undefined ? recordOf(answer, seen) : list[0]
    const part = list === undefined ? 'body' : ({ pointer: `${items}/0` } as const)
    if (!isObject(record)) return finding(exchange, part, 'there is no record in it')
    const wanted = members.map(seen.fill)
    const all = Object.keys(itemsOf(seen.of(whole).answer, seen)?.[0] ?? {})
    if (all.every((name) => wanted.includes(name) || name === seen.collection.id)) {
      throw new NotSetUp('the record has no members that fields could leave out')
    }
    const missing = wanted.filter((name) => !Object.hasOwn(record, name))
    if (missing.length > 0) return finding(exchange, part, `${missing.join(', ')} is not there`)
    const surplus = Object.keys(record).filter((name) => !wanted.includes(name) && name !== seen.collection.id)
    return surplus.length === 0 ? undefined : finding(exchange, part, `${surplus.join(', ')} came along`)
  })
}

export const fieldsCases = define({
  'QRY-4/list': {
    title: 'fields restricts the members of the records in a list',
    steps: [create(one), readWhole, some.get(`${caseRecords}&fields=${members.marker}`)],
    expect: [hasOnly(some, members.marker)],
    remedy: 'Return of each record only the members that fields names.',
  },
  'QRY-4/several': {
    title: 'fields accepts several names, separated by commas',
    after: ['QRY-4/list'],
    steps: [create(one), readWhole, some.get(`${caseRecords}&fields=${idMember},${members.marker}`)],
    expect: [hasOnly(some, idMember, members.marker)],
    remedy: 'Split fields at commas.',
  },
  'QRY-4/record': {
    title: 'fields restricts the members of a single record',
    level: 'should',
    steps: [create(one), readWhole, some.get(`${one}?fields=${members.marker}`)],
    expect: [hasOnly(some, members.marker)],
    remedy: 'Understand fields at the address of a record as on its collection.',
  },
  'QRY-4/id': {
    title: 'fields never omits the identifier',
    level: 'should',
    after: ['QRY-4/list'],
    steps: [create(one), readWhole, some.get(`${caseRecords}&fields=${members.marker}`)],
    expect: [hasOnly(some, idMember, members.marker)],
    remedy: 'Add the identifier to what fields names: without it a client cannot tell which record it has.',
  },
})
