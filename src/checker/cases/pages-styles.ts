/** PAG-2 and PAG-3: three styles of pages, and what they tell of themselves. */
import type { Case, Expectation } from '../case/case.ts'
import { answerOf, finding, status } from '../case/expect.ts'
import { cursorAt, eachOnce, holds, numbersBeside } from '../case/expect-list.ts'
import { given, records, when } from '../case/steps.ts'

const needs = ['create', 'list', 'marker'] as const

/** Beside its records an answer tells these numbers, under whatever names. */
function tells(step: string, ...numbers: readonly number[]): Expectation {
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
      records('many', 2),
      given('first', 'GET', `{collection}?{mine}${styles.includes('cursor') ? '&limit=1' : ''}`),
      given('one', 'GET', `{collection}?{mine}&${one}`),
      given('other', 'GET', `{collection}?{mine}&${other}`),
      when('refused', 'GET', `{collection}?{mine}&${one}&${other}`),
    ],
    expect: [status('refused', 400)],
    mend: 'Refuse parameters of two styles in one request: whichever wins, somebody gets another page than meant.',
  }
}

export const styleCases: readonly Case[] = [
  {
    id: 'PAG-2/page',
    title: 'Pages by page and per_page add up to the whole, without overlap',
    kind: 'changing',
    needs: [...needs, 'page'],
    steps: [
      records('many', 5),
      ...[1, 2, 3].map((page) => when('pages', 'GET', `{collection}?{mine}&page=${page}&per_page=2`)),
    ],
    expect: [holds('pages', 1), eachOnce('pages', 'many')],
    mend: 'Skip (page − 1) · per_page records of an order that is total, and show the next per_page.',
  },
  {
    id: 'PAG-2/offset',
    title: 'Pages by offset and limit add up to the whole, without overlap',
    kind: 'changing',
    needs: [...needs, 'offset'],
    steps: [
      records('many', 5),
      ...['offset=0&limit=2', 'offset=2&limit=1', 'offset=3&limit=4'].map((page) =>
        when('pages', 'GET', `{collection}?{mine}&${page}`),
      ),
    ],
    expect: [holds('pages', 2), eachOnce('pages', 'many')],
    mend: 'Skip offset records of an order that is total, and show the next limit.',
  },
  {
    id: 'PAG-2/cursor',
    title: 'With limit alone a list shows so many records and gives a cursor to the next',
    kind: 'changing',
    needs: [...needs, 'cursor'],
    steps: [records('many', 2), when('first', 'GET', '{collection}?{mine}&limit=1')],
    expect: [holds('first', 1), cursorAt('first', 'next', 'a cursor')],
    mend: 'Take a list without page or offset for the first page of the cursor style, and give the cursor of the next.',
  },
  mixed('page-with-offset', 'page=1', 'offset=0', ['page', 'offset']),
  mixed('page-with-limit', 'page=1', 'limit=1', ['page', 'cursor']),
  mixed('cursor-with-page', 'cursor={first.next}', 'page=1', ['page', 'cursor']),
  mixed('cursor-with-offset', 'cursor={first.next}', 'offset=1', ['offset', 'cursor']),
  {
    id: 'PAG-3/page',
    title: 'A page tells its number, its size and how many pages there are',
    kind: 'changing',
    needs: [...needs, 'page'],
    steps: [records('many', 5), given('page', 'GET', '{collection}?{mine}&page=1&per_page=2')],
    expect: [tells('page', 1, 2, 3)],
    mend: 'Put page, per_page and total_pages beside total_count.',
  },
  {
    id: 'PAG-3/offset',
    title: 'A page by offset tells where it begins, and its size',
    kind: 'changing',
    needs: [...needs, 'offset'],
    steps: [records('many', 5), given('page', 'GET', '{collection}?{mine}&offset=1&limit=3')],
    expect: [tells('page', 1, 3)],
    mend: 'Put offset and limit beside total_count.',
  },
  {
    id: 'PAG-3/cursor',
    title: 'A page by cursor tells its size',
    kind: 'changing',
    needs: [...needs, 'cursor'],
    steps: [records('many', 2), given('page', 'GET', '{collection}?{mine}&limit=4')],
    expect: [tells('page', 4)],
    mend: 'Put limit beside total_count.',
  },
  {
    id: 'PAG-3/ends',
    title: 'There is no cursor to the previous page on the first, and none to the next on the last',
    kind: 'changing',
    needs: [...needs, 'cursor'],
    after: ['PAG-2/cursor'],
    steps: [
      records('many', 2),
      given('first', 'GET', '{collection}?{mine}&limit=1'),
      given('last', 'GET', '{collection}?{mine}&limit=1&cursor={first.next}'),
    ],
    expect: [cursorAt('first', 'previous', 'none'), cursorAt('last', 'next', 'none')],
    mend: 'Give a cursor only where there is something behind it: ask the database for one record more than is shown.',
  },
]
