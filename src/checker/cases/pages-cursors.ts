/** PAG-5 and PAG-6: cursors. */
import type { Case, Step } from '../case/case.ts'
import { code, everyStatus, status } from '../case/expect.ts'
import { cameIn, cursorAt, eachOnce, sameItems, showsNone } from '../case/expect-list.ts'
import { given, records, walk, when } from '../case/steps.ts'

const needs = ['create', 'list', 'marker', 'cursor'] as const
const after: readonly Case['id'][] = ['PAG-2/cursor']
const first = '{collection}?{mine}&limit=2'

const cursor = 'cursor={first.next}'

/** A case of a cursor that is used where it does not belong, and works where it does. */
function elsewhere(name: string, title: string, to: string, from = first, more: Partial<Case> = {}): Case {
  return {
    id: `PAG-5/${name}`,
    title,
    kind: 'changing',
    needs,
    level: 'should',
    after,
    steps: [
      records('many', 3),
      given('first', 'GET', from),
      given('good', 'GET', `${from}&${cursor}`),
      when('refused', 'GET', to),
    ],
    expect: [status('refused', 400)],
    mend: sealed,
    ...more,
  }
}

/** A case of a cursor that somebody else uses. */
function byAnother(caller: 'nobody' | 'other'): Step[] {
  return [
    records('many', 3),
    given('first', 'GET', first),
    given('good', 'GET', `${first}&${cursor}`),
    when('refused', 'GET', `${first}&${cursor}`, { caller }),
  ]
}

const sealed =
  'Sign what a cursor says together with its list, sort and filters (HMAC), and refuse with 400 what does not fit.'

export const cursorCases: readonly Case[] = [
  {
    id: 'PAG-5/forward',
    title: 'Cursors lead from page to page through the whole list',
    kind: 'changing',
    needs,
    after,
    steps: [records('many', 5), walk('walked', first, 9)],
    expect: [eachOnce('walked', 'many'), cameIn('walked', 3)],
    mend: 'Let a cursor stand for the last record of its page, and go on behind it: "where (sort, id) > (?, ?)".',
  },
  {
    id: 'PAG-5/previous',
    title: 'The second page gives a cursor to the one before',
    kind: 'changing',
    needs,
    level: 'should',
    after,
    steps: [records('many', 3), given('first', 'GET', first), given('second', 'GET', `${first}&cursor={first.next}`)],
    expect: [cursorAt('second', 'previous', 'a cursor')],
    mend: 'Give with each page but the first a cursor to the page before.',
  },
  {
    id: 'PAG-5/backward',
    title: 'Cursors lead back over the same pages',
    kind: 'changing',
    needs,
    level: 'should',
    after: ['PAG-5/forward', 'PAG-5/previous'],
    steps: [
      records('many', 5),
      given('first', 'GET', first),
      given('second', 'GET', `${first}&cursor={first.next}`),
      given('third', 'GET', `${first}&cursor={second.next}`),
      when('back', 'GET', `${first}&cursor={third.previous}`),
      when('start', 'GET', `${first}&cursor={back.previous}`),
    ],
    expect: [sameItems('back', 'second'), sameItems('start', 'first')],
    mend: 'Give a cursor to the previous page: the same conditions the other way round, and the records turned about before they are shown.',
  },
  {
    id: 'PAG-5/other-size',
    title: 'A cursor may be followed with pages of another size',
    kind: 'changing',
    needs,
    level: 'may',
    after: ['PAG-5/forward'],
    steps: [
      records('many', 4),
      given('pages', 'GET', '{collection}?{mine}&limit=1'),
      when('pages', 'GET', '{collection}?{mine}&limit=3&cursor={pages.next}'),
    ],
    expect: [eachOnce('pages', 'many')],
    mend: 'Keep the size out of the cursor: it belongs to the request.',
  },
  {
    id: 'PAG-5/garbage',
    title: 'A cursor that is none is refused',
    kind: 'reading',
    needs: ['list', 'cursor'],
    level: 'should',
    steps: [
      given('good', 'GET', '{collection}?limit=1'),
      ...[
        'x',
        '2',
        '0',
        '-1',
        'bnVsbA==',
        'e30',
        'W10',
        '%22',
        '%00',
        '__proto__',
        "'%20or%201=1%20--",
        'A'.repeat(1_500),
      ].map((cursor) => when('refused', 'GET', `{collection}?limit=1&cursor=${cursor}`)),
    ],
    expect: [everyStatus('refused', 400)],
    mend: sealed,
  },
  {
    id: 'PAG-5/code',
    title: 'A cursor that is none is refused with the code INVALID_CURSOR',
    kind: 'reading',
    needs: ['list', 'cursor'],
    level: 'may',
    after: ['PAG-5/garbage'],
    steps: [when('refused', 'GET', '{collection}?limit=1&cursor=x')],
    expect: [code('refused', 'INVALID_CURSOR')],
    mend: 'Give this refusal a code of its own: a client that meets it starts its walk again.',
  },
  elsewhere('forged', 'A cursor in which something was changed is refused', `${first}&cursor={first.next:forged}`),
  elsewhere('appended', 'A cursor with something after it is refused', `${first}&${cursor}x`),
  elsewhere(
    'other-filter',
    'A cursor is refused with another filter',
    `{collection}?{member:marker}={mark}-other&limit=2&${cursor}`,
  ),
  elsewhere(
    'other-sort',
    'A cursor is refused with another sort',
    `${first}&sort=-{member:ranked}&${cursor}`,
    `${first}&sort={member:ranked}`,
    { needs: [...needs, 'ranked'], after: [...after, 'QRY-3/descending'] },
  ),
  {
    id: 'PAG-5/nobody',
    title: 'A cursor opens nothing to somebody without a credential',
    kind: 'changing',
    needs: [...needs, 'key'],
    after,
    steps: byAnother('nobody'),
    expect: [status('refused', 401), showsNone('refused', 'many')],
    mend: 'Authenticate a request with a cursor like any other.',
  },
  {
    id: 'PAG-5/other-caller',
    title: 'A cursor opens nothing to somebody who may not read the list',
    kind: 'changing',
    needs: [...needs, 'other'],
    after,
    steps: byAnother('other'),
    expect: [showsNone('refused', 'many')],
    mend: 'Ask for permission on a request with a cursor like on any other: it says where to go on, not who may.',
  },
  {
    id: 'PAG-6/inserted',
    title: 'A walk by cursor visits each record once while others are added',
    kind: 'changing',
    needs,
    after: ['PAG-5/forward'],
    steps: [records('many', 5), walk('walked', first, 9, [records('added', 3)])],
    expect: [eachOnce('walked', 'many')],
    mend: 'Go on behind the last record shown, not after so many: what is added shifts everything behind it.',
  },
  {
    id: 'PAG-6/ties',
    title: 'A sorted walk by cursor visits each record once where all have the same value',
    kind: 'changing',
    needs: [...needs, 'ranked'],
    after: ['PAG-5/forward'],
    steps: [
      records('many', 5, { '{member:ranked}': '{less:ranked}' }),
      walk('walked', `${first}&sort={member:ranked}`, 9),
    ],
    expect: [eachOnce('walked', 'many')],
    mend: 'Put the identifier behind the fields of sort, in the order and in what the cursor remembers.',
  },
  {
    id: 'PAG-6/inserted-before',
    title: 'A sorted walk by cursor visits each record once while others are added before where it stands',
    kind: 'changing',
    needs: [...needs, 'ranked'],
    after: ['QRY-3/ascending', 'PAG-6/inserted', 'PAG-6/ties'],
    steps: [
      records('many', 5, { '{member:ranked}': '{more:ranked}' }),
      walk('walked', `${first}&sort={member:ranked}`, 9, [
        records('lesser', 2, { '{member:ranked}': '{less:ranked}' }),
      ]),
    ],
    expect: [eachOnce('walked', 'many')],
    mend: 'Go on behind the values and the identifier of the last record shown, not after so many records.',
  },
  {
    id: 'PAG-6/deleted',
    title: 'A walk by cursor visits each record once while others are deleted that it has passed',
    kind: 'changing',
    needs: [...needs, 'delete', 'unconditional'],
    after: ['PAG-5/forward'],
    steps: [records('many', 5), walk('walked', first, 9, [given('gone', 'DELETE', '{collection}/{walked.item:0}')])],
    expect: [eachOnce('walked', 'many')],
    mend: 'Go on behind the last record shown, not after so many: what is deleted shifts everything behind it.',
  },
  {
    id: 'PAG-6/deleted-beneath',
    title: 'A cursor works when the record that it stands on is deleted',
    kind: 'changing',
    needs: [...needs, 'delete', 'unconditional'],
    after: ['PAG-6/deleted'],
    steps: [records('many', 5), walk('walked', first, 9, [given('gone', 'DELETE', '{collection}/{walked.item:1}')])],
    expect: [eachOnce('walked', 'many')],
    mend: 'Let a cursor hold the values that it goes on from, not only an identifier that has to be looked up.',
  },
]
