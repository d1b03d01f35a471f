/** QRY-1 and QRY-2: filters. */
import type { Case } from '../case/case.ts'
import { status } from '../case/expect.ts'
import { lists, showsNone } from '../case/expect-list.ts'
import { record, recordWithout, when } from '../case/steps.ts'

const needs = ['create', 'list', 'marker'] as const
const odd = `&=#+%'"\\ü日😀`

/** Another text in the member by which a case finds its records. */
const marked = (text: string) => ({ '{member:marker}': text })

/** Another value in the number by which lists are filtered. */
const measured = (which: 'less' | 'more') => ({ '{member:measured}': `{${which}:measured}` })

export const filterCases: readonly Case[] = [
  {
    id: 'QRY-1/equal',
    title: 'A filter finds the records that have its value, and not those whose value only begins with it',
    kind: 'changing',
    needs,
    steps: [record(), record('longer', marked('{mark}x')), when('found', 'GET', '{collection}?{mine}')],
    expect: [lists('found', 'one')],
    mend: 'Compare the whole value of the field with that of the parameter: "where name = ?".',
  },
  {
    id: 'QRY-1/capitals',
    title: 'A filter by a text tells capitals from small letters',
    kind: 'changing',
    needs,
    level: 'may',
    after: ['QRY-1/equal'],
    steps: [
      record(),
      record('capitals', marked('{mark:upper}')),
      when('found', 'GET', '{collection}?{member:marker}={mark:upper}'),
    ],
    expect: [lists('found', 'capitals')],
    mend: 'Compare texts with a collation that knows capitals, where people have not been told otherwise.',
  },
  {
    id: 'QRY-1/number',
    title: 'A filter by a number narrows what another filter finds to the records with this number',
    kind: 'changing',
    needs: [...needs, 'measured'],
    steps: [
      record('less', measured('less')),
      record('more', measured('more')),
      when('found', 'GET', '{collection}?{mine}&{member:measured}={more:measured}'),
    ],
    expect: [lists('found', 'more')],
    mend: 'Read the value of a filter by the type of its field, and combine filters of several fields with "and".',
  },
  {
    id: 'QRY-1/any-of',
    title: 'A filter given twice finds the records with either value',
    kind: 'changing',
    needs,
    level: 'should',
    after: ['QRY-1/equal'],
    steps: [
      record('first', marked('{mark}-a')),
      record('second', marked('{mark}-b')),
      record('third', marked('{mark}-c')),
      when('found', 'GET', '{collection}?{member:marker}={mark}-a&{member:marker}={mark}-b'),
    ],
    expect: [lists('found', 'first', 'second')],
    mend: 'Read all values of a repeated parameter, and find records with any of them: "where name in (?, ?)".',
  },
  {
    id: 'QRY-1/none',
    title: 'A filter that no record matches is answered with an empty list',
    kind: 'changing',
    needs,
    steps: [record(), when('found', 'GET', '{collection}?{member:marker}={mark}-none')],
    expect: [status('found', 200), lists('found')],
    mend: 'Answer 200 with an empty list: the collection is there, whatever is in it.',
  },
  {
    id: 'QRY-1/literal',
    title: 'Characters with a meaning in SQL and patterns are mere characters in a filter',
    kind: 'changing',
    needs,
    after: ['QRY-1/none'],
    steps: [
      record('one', marked('{mark}a')),
      when('percent', 'GET', '{collection}?{member:marker}={mark}%25'),
      when('underscore', 'GET', '{collection}?{member:marker}={mark}_'),
      when('star', 'GET', '{collection}?{member:marker}={mark}*'),
      when('quote', 'GET', "{collection}?{member:marker}={mark}'%20or%20'1'='1"),
      when('comment', 'GET', '{collection}?{member:marker}={mark}a%27%20--%20'),
    ],
    expect: ['percent', 'underscore', 'star', 'quote', 'comment'].map((step) => lists(step)),
    mend: 'Hand values to the database as parameters of the statement, and compare with "=", not with "like".',
  },
  {
    id: 'QRY-1/every-character',
    title: 'A filter finds a text with any characters in it, percent-encoded',
    kind: 'changing',
    needs,
    after: ['QRY-1/equal'],
    steps: [
      record('one', marked(`{mark} ${odd}`)),
      when('found', 'GET', `{collection}?{member:marker}={mark}%20${encodeURIComponent(odd)}`),
    ],
    expect: [lists('found', 'one')],
    mend: 'Take the query string apart at "&" and the first "=", then decode names and values once, as UTF-8.',
  },
  {
    id: 'QRY-1/nul',
    title: 'A filter with the character U+0000 is refused or finds nothing',
    kind: 'changing',
    needs,
    steps: [record(), when('found', 'GET', '{collection}?{member:marker}={mark}%00')],
    expect: [status('found', 200, 400), showsNone('found', 'one')],
    mend: 'Refuse U+0000 in parameters with 400 before the database sees it: PostgreSQL takes no text with it.',
  },
  comparison('gt', 'greater than', { than: 'less', finds: 'more' }),
  comparison('gte', 'of at least', { than: 'more', finds: 'more' }),
  comparison('lt', 'less than', { than: 'more', finds: 'less' }),
  comparison('lte', 'of at most', { than: 'less', finds: 'less' }),
  {
    id: 'QRY-2/not',
    title: '[not] finds the records that have not this value',
    kind: 'changing',
    needs: [...needs, 'measured'],
    steps: [
      record('less', measured('less')),
      record('more', measured('more')),
      when('found', 'GET', '{collection}?{mine}&{member:measured}%5Bnot%5D={less:measured}'),
    ],
    expect: [lists('found', 'more')],
    mend: 'Read field[not]=value as "the field has another value than this".',
  },
  {
    id: 'QRY-2/in',
    title: '[in] finds the records that have any of the values, separated by commas',
    kind: 'changing',
    needs,
    steps: [
      record('first', marked('{mark}-a')),
      record('second', marked('{mark}-b')),
      record('third', marked('{mark}-c')),
      when('found', 'GET', '{collection}?{member:marker}%5Bin%5D={mark}-a,{mark}-b'),
    ],
    expect: [lists('found', 'first', 'second')],
    mend: 'Read field[in]=a,b as "the field has one of these values".',
  },
  {
    id: 'QRY-2/contains',
    title: '[contains] finds the records that have the text somewhere',
    kind: 'changing',
    needs,
    steps: [
      record('inside', marked('a {mark} z')),
      record('other', marked('a z')),
      when('found', 'GET', '{collection}?{member:marker}%5Bcontains%5D={mark}'),
    ],
    expect: [lists('found', 'inside')],
    mend: 'Read field[contains]=text as "the text stands somewhere in the field", with the characters of patterns escaped.',
  },
  {
    id: 'QRY-2/starts-with',
    title: '[starts_with] finds the records that begin with the text',
    kind: 'changing',
    needs,
    steps: [
      record('begins', marked('{mark} z')),
      record('ends', marked('a {mark}')),
      when('found', 'GET', '{collection}?{member:marker}%5Bstarts_with%5D={mark}'),
    ],
    expect: [lists('found', 'begins')],
    mend: 'Read field[starts_with]=text as "the field begins with the text", with the characters of patterns escaped.',
  },
  {
    id: 'QRY-2/null',
    title: '[null] finds the records that have no value, or those that have one',
    kind: 'changing',
    needs: [...needs, 'emptied'],
    steps: [
      record('full'),
      recordWithout('empty', ['{member:emptied}']),
      when('without', 'GET', '{collection}?{mine}&{member:emptied}%5Bnull%5D=true'),
      when('with', 'GET', '{collection}?{mine}&{member:emptied}%5Bnull%5D=false'),
    ],
    expect: [lists('without', 'empty'), lists('with', 'full')],
    mend: 'Read field[null]=true as "the field has no value", and false as its opposite.',
  },
]

/** A case of an operator that compares numbers. */
function comparison(
  operator: 'gt' | 'gte' | 'lt' | 'lte',
  words: string,
  { than, finds }: { readonly than: 'less' | 'more'; readonly finds: 'less' | 'more' },
): Case {
  return {
    id: `QRY-2/${operator}`,
    title: `[${operator}] finds the records with a value ${words} that`,
    kind: 'changing',
    needs: [...needs, 'measured'],
    steps: [
      record('less', measured('less')),
      record('more', measured('more')),
      when('found', 'GET', `{collection}?{mine}&{member:measured}%5B${operator}%5D={${than}:measured}`),
    ],
    expect: [lists('found', finds)],
    mend: `Read field[${operator}]=value as "a value ${words} that", compared as the type of the field.`,
  }
}
