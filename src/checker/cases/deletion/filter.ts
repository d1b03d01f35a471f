/** DEL-10: deletion by filter. */
import type { Case } from '../../case/case.ts'
import { answerOf, finding, short, status } from '../../case/expect.ts'
import { isExactly, shows, succeeded } from '../../case/expect-records.ts'
import { about, given, provided, record, records, settled, when } from '../../case/steps.ts'
import { jsonOf } from '../../client/exchange.ts'

/**
 * Deletion by filter is tried where the server declares it, with a filter that lists were seen to obey (QRY-1, and again in
 * the case itself), and with a bound, for the server that heeds the bound though it does not heed the filter.
 */
const filtered = {
  kind: 'changing',
  needs: ['create', 'read', 'list', 'marker', 'delete-by-filter'],
  after: ['QRY-1/equal', 'QRY-1/none'],
} as const

const bound = (most: number) => ({ headers: { Prefer: `handling=strict, max-affected=${most}` } })

/** Two records that the filter finds, and one that it must not. */
const twoAndOne = [
  records('two', 2),
  record('bystander', { '{member:marker}': 'left alone' }),
  given('filtered', 'GET', '{collection}?{mine}'),
  provided(
    'the filter that would delete was not seen to find exactly what was made for it',
    isExactly('filtered', 'two.0', 'two.1'),
  ),
] as const

export const filterCases: readonly Case[] = [
  {
    ...filtered,
    id: 'DEL-10/matching',
    title: 'Deletion by filter deletes what the filter finds',
    steps: [
      ...twoAndOne,
      given('gone', 'DELETE', '{collection}?{mine}', bound(2)),
      settled('gone'),
      when('after', 'GET', '{collection}?{mine}'),
    ],
    expect: [shows('after', [], ['two.0', 'two.1'])],
    mend: 'Delete with the conditions that the list is read with.',
  },
  {
    ...filtered,
    id: 'DEL-10/others-stay',
    title: 'Deletion by filter leaves what the filter does not find',
    steps: [
      ...twoAndOne,
      given('gone', 'DELETE', '{collection}?{mine}', bound(2)),
      settled('gone'),
      when('after', 'GET', '{bystander}'),
    ],
    expect: [status('after', 200)],
    mend: 'Refuse a filter that you do not know with 400: to ignore it is to delete everything.',
  },
  {
    ...filtered,
    id: 'DEL-10/number',
    title: 'Deletion by filter is answered 200 with the number of records deleted, or 202',
    steps: [...twoAndOne, when('gone', 'DELETE', '{collection}?{mine}', bound(2)), settled('gone')],
    expect: [
      status('gone', 200, 202),
      answerOf('gone', 'tells the number', (answer, _, exchange) => {
        if (answer.status === 202) return undefined
        const body = jsonOf(answer)
        const told = typeof body === 'object' && body !== null ? Object.values(body) : [body]
        return told.includes(2) ? undefined : finding(exchange, 'body', `2 were deleted, and it tells ${short(body)}`)
      }),
    ],
    mend: 'Answer { "deleted_count": 2 }: who deletes by filter has to learn how much went.',
  },
  {
    ...filtered,
    id: 'DEL-10/maximum',
    title: 'Deletion by filter of more records than the client allows is answered 409, and deletes none',
    steps: [
      ...twoAndOne,
      when('gone', 'DELETE', '{collection}?{mine}', bound(1)),
      settled('gone'),
      when('after', 'GET', '{collection}?{mine}'),
    ],
    expect: [status('gone', 409), shows('after', ['two.0', 'two.1'])],
    mend: 'Heed Prefer: handling=strict, max-affected=N: count in the transaction, and undo it where more would go.',
  },
  {
    id: 'DEL-10/not-offered',
    title: 'Deletion by filter is answered 405 where it is not offered',
    kind: 'changing',
    needs: ['create', 'read', 'list', 'marker', 'disposable'],
    after: ['QRY-1/equal', 'QRY-1/none'],
    steps: [
      about('deletion by filter is offered', ({ collection }) => !collection.operations.includes('delete-by-filter')),
      ...twoAndOne,
      when('gone', 'DELETE', '{collection}?{mine}'),
      about('deletion by filter is offered', (seen) => !succeeded('gone')(seen)),
    ],
    expect: [status('gone', 405)],
    mend: 'Answer 405 with Allow for DELETE of a collection, unless you offer it on purpose.',
  },
]
