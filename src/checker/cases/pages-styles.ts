/** PAG-2 and PAG-3: three styles of pages, and what they tell of themselves. */
import type { Case, Expectation } from '../case/case.ts'
import { define } from '../case/define.ts'
import { answerOf, finding, status } from '../case/expect.ts'
import { cursorAt, eachOnce, holds, numbersBeside } from '../case/expect-list.ts'
import { first, last, many, one as oneStep, other as otherStep, pages, refusal } from '../case/names.ts'
import { caseRecords, type Reference, references } from '../case/references.ts'
import { createMany, setUp } from '../case/steps.ts'

const [pageStep] = references('page')

const needs = ['create', 'list', 'marker'] as const

/** Beside its records an answer tells these numbers, under whatever names. */
function tells(step: Reference, ...numbers: readonly number[]): Expectation {
  return answerOf(step, `tells ${numbers.join(', ')} beside its records`, (answer, seen, exchange) => {
    const told = numbersBeside(answer, seen)
    const missing = numbers.filter((number) => !told.some(({ value }) => value === number))
    if (missing.length === 0) return undefined
    const all = told.map(({ name, value }) => `${name} ${value}`).join(', ') || 'no number at all'
    return finding(exchange, 'body', `${missing.join(', ')} is not there, only ${all}`)
  })
}

/** A case of parameters of two styles in one request, each of which works alone. */
function mixed(name: string, one: string, other: string, styles: Case['needs']): Case {
  const names = [one, other].map((parameter) => parameter.split('=')[0])
  return {
    id: `PAG-2/${name}`,
    title: `Styles of pages do not mix: ${names.join(' with ')} is refused`,
    kind: 'changing',
    needs: [...needs, ...styles],
    level: 'should',
    ...(styles.includes('cursor') ? { after: ['PAG-2/cursor'] } : {}),
    steps: [
      createMany(many, 2),
      setUp(first.get(`${caseRecords}${styles.includes('cursor') ? '&limit=1' : ''}`)),
      setUp(oneStep.get(`${caseRecords}&${one}`)),
      setUp(otherStep.get(`${caseRecords}&${other}`)),
      refusal.get(`${caseRecords}&${one}&${other}`),
    ],
    expect: [status(refusal, 400)],
    remedy: 'Refuse parameters of two styles in one request: whichever wins, somebody gets another page than meant.',
  }
}

export const styleCases: readonly Case[] = [
  ...define({
    'PAG-2/page': {
      title: 'Pages by page and per_page add up to the whole, without overlap',
      steps: [createMany(many, 5), ...[1, 2, 3].map((page) => pages.get(`${caseRecords}&page=${page}&per_page=2`))],
      expect: [holds(pages, 1), eachOnce(pages, many)],
      remedy: 'Skip (page − 1) · per_page records of an order that is total, and show the next per_page.',
    },
    'PAG-2/offset': {
      title: 'Pages by offset and limit add up to the whole, without overlap',
      steps: [
        createMany(many, 5),
        ...['offset=0&limit=2', 'offset=2&limit=1', 'offset=3&limit=4'].map((page) =>
          pages.get(`${caseRecords}&${page}`),
        ),
      ],
      expect: [holds(pages, 2), eachOnce(pages, many)],
      remedy: 'Skip offset records of an order that is total, and show the next limit.',
    },
    'PAG-2/cursor': {
      title: 'With limit alone a list shows so many records and gives a cursor to the next',
      steps: [createMany(many, 2), first.get(`${caseRecords}&limit=1`)],
      expect: [holds(first, 1), cursorAt(first, 'next', 'a cursor')],
      remedy:
        'Take a list without page or offset for the first page of the cursor style, and give the cursor of the next.',
    },
  }),
  mixed('page-with-offset', 'page=1', 'offset=0', ['page', 'offset']),
  mixed('page-with-limit', 'page=1', 'limit=1', ['page', 'cursor']),
  mixed('cursor-with-page', `cursor=${first.next}`, 'page=1', ['page', 'cursor']),
  mixed('cursor-with-offset', `cursor=${first.next}`, 'offset=1', ['offset', 'cursor']),
  ...define({
    'PAG-3/page': {
      title: 'A page tells its number, its size and how many pages there are',
      steps: [createMany(many, 5), setUp(pageStep.get(`${caseRecords}&page=1&per_page=2`))],
      expect: [tells(pageStep, 1, 2, 3)],
      remedy: 'Put page, per_page and total_pages beside total_count.',
    },
    'PAG-3/offset': {
      title: 'A page by offset tells where it begins, and its size',
      steps: [createMany(many, 5), setUp(pageStep.get(`${caseRecords}&offset=1&limit=3`))],
      expect: [tells(pageStep, 1, 3)],
      remedy: 'Put offset and limit beside total_count.',
    },
    'PAG-3/cursor': {
      title: 'A page by cursor tells its size',
      steps: [createMany(many, 2), setUp(pageStep.get(`${caseRecords}&limit=4`))],
      expect: [tells(pageStep, 4)],
      remedy: 'Put limit beside total_count.',
    },
    'PAG-3/ends': {
      title: 'There is no cursor to the previous page on the first, and none to the next on the last',
      after: ['PAG-2/cursor'],
      steps: [
        createMany(many, 2),
        setUp(first.get(`${caseRecords}&limit=1`)),
        setUp(last.get(`${caseRecords}&limit=1&cursor=${first.next}`)),
      ],
      expect: [cursorAt(first, 'previous', 'none'), cursorAt(last, 'next', 'none')],
      remedy:
        'Give a cursor only where there is something behind it: ask the database for one record more than is shown.',
    },
  }),
]
