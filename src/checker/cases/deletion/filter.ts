/** DEL-10: deletion by filter. */
import { define } from '../../case/define.ts'
import { answerOf, finding, short, status } from '../../case/expect.ts'
import { isExactly, shows, succeeded } from '../../case/expect-records.ts'
import { after, gone, two } from '../../case/names.ts'
import { caseRecords, members, references } from '../../case/references.ts'
import { applicableIf, create, createMany, deleteRecord, readyIf, settled, setUp } from '../../case/steps.ts'
import { jsonOf } from '../../client/exchange.ts'

const [bystander, filteredStep] = references('bystander', 'filtered')

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
  createMany(two, 2),
  create(bystander, { [members.marker]: 'left alone' }),
  setUp(filteredStep.get(caseRecords)),
  readyIf(
    isExactly(filteredStep, two.at(0), two.at(1)),
    'the filter that would delete was not seen to find exactly what was made for it',
  ),
] as const

export const filterCases = define(
  {
    'DEL-10/matching': {
      ...filtered,
      title: 'Deletion by filter deletes what the filter finds',
      steps: [...twoAndOne, ...deleteRecord(gone, caseRecords, bound(2)), after.get(caseRecords)],
      expect: [shows(after, [], [two.at(0), two.at(1)])],
      remedy: 'Delete with the conditions that the list is read with.',
    },
    'DEL-10/others-stay': {
      ...filtered,
      title: 'Deletion by filter leaves what the filter does not find',
      steps: [...twoAndOne, ...deleteRecord(gone, caseRecords, bound(2)), after.get(bystander)],
      expect: [status(after, 200)],
      remedy: 'Refuse a filter that you do not know with 400: to ignore it is to delete everything.',
    },
    'DEL-10/number': {
      ...filtered,
      title: 'Deletion by filter is answered 200 with the number of records deleted, or 202',
      steps: [...twoAndOne, gone.delete(caseRecords, bound(2)), settled(gone)],
      expect: [
        status(gone, 200, 202),
        answerOf(gone, 'tells the number', (answer, _, exchange) => {
          if (answer.status === 202) return undefined
          const body = jsonOf(answer)
          const told = typeof body === 'object' && body !== null ? Object.values(body) : [body]
          return told.includes(2) ? undefined : finding(exchange, 'body', `2 were deleted, and it tells ${short(body)}`)
        }),
      ],
      remedy: 'Answer { "deleted_count": 2 }: who deletes by filter has to learn how much went.',
    },
    'DEL-10/maximum': {
      ...filtered,
      title: 'Deletion by filter of more records than the client allows is answered 409, and deletes none',
      steps: [...twoAndOne, gone.delete(caseRecords, bound(1)), settled(gone), after.get(caseRecords)],
      expect: [status(gone, 409), shows(after, [two.at(0), two.at(1)])],
      remedy:
        'Heed Prefer: handling=strict, max-affected=N: count in the transaction, and undo it where more would go.',
    },
    'DEL-10/not-offered': {
      title: 'Deletion by filter is answered 405 where it is not offered',
      needsOnly: ['create', 'disposable', 'list', 'marker', 'read'],
      after: ['QRY-1/equal', 'QRY-1/none'],
      steps: [
        applicableIf(
          ({ collection }) => !collection.operations.includes('delete-by-filter'),
          'deletion by filter is offered',
        ),
        ...twoAndOne,
        gone.delete(caseRecords),
        applicableIf((seen) => !succeeded(gone)(seen), 'deletion by filter is offered'),
      ],
      expect: [status(gone, 405)],
      remedy: 'Answer 405 with Allow for DELETE of a collection, unless you offer it on purpose.',
    },
  },
  'read',
)
