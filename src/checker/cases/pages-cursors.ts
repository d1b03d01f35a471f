/** PAG-5 and PAG-6: cursors. */
import type { Case, Step } from '../case/case.ts'
import { define } from '../case/define.ts'
import { code, everyStatus, status } from '../case/expect.ts'
import { cameIn, cursorAt, eachOnce, sameItems, showsNone } from '../case/expect-list.ts'
import { back, first as firstStep, gone, good, many, pages, refusal, second } from '../case/names.ts'
import { caseRecords, collection, greater, lesser, mark, members, references } from '../case/references.ts'
import { createMany, setUp, walk } from '../case/steps.ts'

const [walked, third, start, added, before] = references('walked', 'third', 'start', 'added', 'lesser')

const needs = ['create', 'list', 'marker', 'cursor'] as const
const after: readonly Case['id'][] = ['PAG-2/cursor']
const first = `${caseRecords}&limit=2`

const cursor = `cursor=${firstStep.next}`

/** A case of a cursor that is used where it does not belong, and works where it does. */
function elsewhere(name: string, title: string, to: string, from = first, more: Partial<Case> = {}): Case {
  return {
    id: `PAG-5/${name}`,
    title,
    kind: 'changing',
    needs,
    level: 'should',
    after,
    steps: [createMany(many, 3), setUp(firstStep.get(from)), setUp(good.get(`${from}&${cursor}`)), refusal.get(to)],
    expect: [status(refusal, 400)],
    remedy: sealed,
    ...more,
  }
}

/** A case of a cursor that somebody else uses. */
function byAnother(caller: 'nobody' | 'other'): Step[] {
  return [
    createMany(many, 3),
    setUp(firstStep.get(first)),
    setUp(good.get(`${first}&${cursor}`)),
    refusal.get(`${first}&${cursor}`, { caller }),
  ]
}

const sealed =
  'Sign what a cursor says together with its list, sort and filters (HMAC), and refuse with 400 what does not fit.'

export const cursorCases: readonly Case[] = [
  ...define({
    'PAG-5/forward': {
      title: 'Cursors lead from page to page through the whole list',
      after,
      steps: [createMany(many, 5), walk(walked, first, 9)],
      expect: [eachOnce(walked, many), cameIn(walked, 3)],
      remedy: 'Let a cursor stand for the last record of its page, and go on behind it: "where (sort, id) > (?, ?)".',
    },
    'PAG-5/previous': {
      title: 'The second page gives a cursor to the one before',
      level: 'should',
      after,
      steps: [createMany(many, 3), setUp(firstStep.get(first)), setUp(second.get(`${first}&cursor=${firstStep.next}`))],
      expect: [cursorAt(second, 'previous', 'a cursor')],
      remedy: 'Give with each page but the first a cursor to the page before.',
    },
    'PAG-5/backward': {
      title: 'Cursors lead back over the same pages',
      level: 'should',
      after: ['PAG-5/forward', 'PAG-5/previous'],
      steps: [
        createMany(many, 5),
        setUp(firstStep.get(first)),
        setUp(second.get(`${first}&cursor=${firstStep.next}`)),
        setUp(third.get(`${first}&cursor=${second.next}`)),
        back.get(`${first}&cursor=${third.previous}`),
        start.get(`${first}&cursor=${back.previous}`),
      ],
      expect: [sameItems(back, second), sameItems(start, firstStep)],
      remedy:
        'Give a cursor to the previous page: the same conditions the other way round, and the records turned about before they are shown.',
    },
    'PAG-5/other-size': {
      title: 'A cursor may be followed with pages of another size',
      level: 'may',
      after: ['PAG-5/forward'],
      steps: [
        createMany(many, 4),
        setUp(pages.get(`${caseRecords}&limit=1`)),
        pages.get(`${caseRecords}&limit=3&cursor=${pages.next}`),
      ],
      expect: [eachOnce(pages, many)],
      remedy: 'Keep the size out of the cursor: it belongs to the request.',
    },
    'PAG-5/garbage': {
      title: 'A cursor that is none is refused',
      level: 'should',
      steps: [
        setUp(good.get(`${collection}?limit=1`)),
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
        ].map((cursor) => refusal.get(`${collection}?limit=1&cursor=${cursor}`)),
      ],
      expect: [everyStatus(refusal, 400)],
      remedy: sealed,
    },
    'PAG-5/code': {
      title: 'A cursor that is none is refused with the code INVALID_CURSOR',
      level: 'may',
      after: ['PAG-5/garbage'],
      steps: [refusal.get(`${collection}?limit=1&cursor=x`)],
      expect: [code(refusal, 'INVALID_CURSOR')],
      remedy: 'Give this refusal a code of its own: a client that meets it starts its walk again.',
    },
  }),
  elsewhere('forged', 'A cursor in which something was changed is refused', `${first}&cursor=${firstStep.forgedNext}`),
  elsewhere('appended', 'A cursor with something after it is refused', `${first}&${cursor}x`),
  elsewhere(
    'other-filter',
    'A cursor is refused with another filter',
    `${collection}?${members.marker}=${mark}-other&limit=2&${cursor}`,
  ),
  elsewhere(
    'other-sort',
    'A cursor is refused with another sort',
    `${first}&sort=-${members.ranked}&${cursor}`,
    `${first}&sort=${members.ranked}`,
    { needs: [...needs, 'ranked'], after: [...after, 'QRY-3/descending'] },
  ),
  ...define({
    'PAG-5/nobody': {
      title: 'A cursor opens nothing to somebody without a credential',
      needs: ['key'],
      after,
      steps: byAnother('nobody'),
      expect: [status(refusal, 401), showsNone(refusal, many)],
      remedy: 'Authenticate a request with a cursor like any other.',
    },
    'PAG-5/other-caller': {
      title: 'A cursor opens nothing to somebody who may not read the list',
      after,
      steps: byAnother('other'),
      expect: [showsNone(refusal, many)],
      remedy: 'Ask for permission on a request with a cursor like on any other: it says where to go on, not who may.',
    },
    'PAG-6/inserted': {
      title: 'A walk by cursor visits each record once while others are added',
      after: ['PAG-5/forward'],
      steps: [createMany(many, 5), walk(walked, first, 9, [createMany(added, 3)])],
      expect: [eachOnce(walked, many)],
      remedy: 'Go on behind the last record shown, not after so many: what is added shifts everything behind it.',
    },
    'PAG-6/ties': {
      title: 'A sorted walk by cursor visits each record once where all have the same value',
      after: ['PAG-5/forward'],
      steps: [
        createMany(many, 5, { [members.ranked]: lesser.ranked }),
        walk(walked, `${first}&sort=${members.ranked}`, 9),
      ],
      expect: [eachOnce(walked, many)],
      remedy: 'Put the identifier behind the fields of sort, in the order and in what the cursor remembers.',
    },
    'PAG-6/inserted-before': {
      title: 'A sorted walk by cursor visits each record once while others are added before where it stands',
      after: ['QRY-3/ascending', 'PAG-6/inserted', 'PAG-6/ties'],
      steps: [
        createMany(many, 5, { [members.ranked]: greater.ranked }),
        walk(walked, `${first}&sort=${members.ranked}`, 9, [
          createMany(before, 2, { [members.ranked]: lesser.ranked }),
        ]),
      ],
      expect: [eachOnce(walked, many)],
      remedy: 'Go on behind the values and the identifier of the last record shown, not after so many records.',
    },
    'PAG-6/deleted': {
      title: 'A walk by cursor visits each record once while others are deleted that it has passed',
      after: ['PAG-5/forward'],
      steps: [createMany(many, 5), walk(walked, first, 9, [setUp(gone.delete(`${collection}/${walked.item(0)}`))])],
      expect: [eachOnce(walked, many)],
      remedy: 'Go on behind the last record shown, not after so many: what is deleted shifts everything behind it.',
    },
    'PAG-6/deleted-beneath': {
      title: 'A cursor works when the record that it stands on is deleted',
      after: ['PAG-6/deleted'],
      steps: [createMany(many, 5), walk(walked, first, 9, [setUp(gone.delete(`${collection}/${walked.item(1)}`))])],
      expect: [eachOnce(walked, many)],
      remedy: 'Let a cursor hold the values that it goes on from, not only an identifier that has to be looked up.',
    },
  }),
]
