/** DEL-9: many at once. Nothing is sent that could take what the checker has not made. */

import type { Body, Case } from '../../case/case.ts'
import {
  altogether,
  answerOf,
  everyStatus,
  finding,
  itemsOf,
  member,
  refused,
  short,
  status,
} from '../../case/expect.ts'
import { answered, oneWins } from '../../case/expect-records.ts'
import { about, given, record, records, settled, together, when } from '../../case/steps.ts'
import { isSame } from '../../values/json.ts'

/** What every one of these cases needs. */
export const base = ['create', 'read', 'bulk-delete'] as const

/** A body that lists identifiers. */
export function ids(...list: readonly unknown[]): { readonly body: Body } {
  return { body: { json: { ids: list } } }
}

export const toBulk = '{collection}/bulk-delete'
const isDone = about('a bulk deletion was not answered 200', answered('gone', 200))

export const bulkCases: readonly Case[] = [
  {
    id: 'DEL-9/all',
    title: 'Bulk deletion deletes all records that it lists',
    kind: 'changing',
    needs: base,
    after: ['DEL-1/gone'],
    steps: [
      records('three', 3),
      given('gone', 'POST', toBulk, ids('{three.0.id}', '{three.1.id}', '{three.2.id}')),
      settled('gone'),
      when('after', 'GET', '{three.0}'),
      when('after', 'GET', '{three.1}'),
      when('after', 'GET', '{three.2}'),
    ],
    expect: [everyStatus('after', 404)],
    mend: 'Delete each record of ids, in one transaction.',
  },
  {
    id: 'DEL-9/others-stay',
    title: 'Bulk deletion leaves what it does not list',
    kind: 'changing',
    needs: base,
    steps: [
      records('two', 2),
      given('gone', 'POST', toBulk, ids('{two.0.id}')),
      settled('gone'),
      when('after', 'GET', '{two.1}'),
    ],
    expect: [status('after', 200)],
    mend: 'Delete by the identifiers that were listed, and by nothing else.',
  },
  {
    id: 'DEL-9/status',
    title: 'Bulk deletion is answered 200, or 202 where it takes long',
    kind: 'changing',
    needs: base,
    steps: [records('two', 2), when('gone', 'POST', toBulk, ids('{two.0.id}', '{two.1.id}')), settled('gone')],
    expect: [status('gone', 200, 202)],
    mend: 'Answer 200 with what was deleted.',
  },
  {
    id: 'DEL-9/order',
    title: 'Bulk deletion tells what it has deleted in the order asked',
    kind: 'changing',
    needs: base,
    after: ['DEL-9/status'],
    steps: [
      records('three', 3),
      when('gone', 'POST', toBulk, ids('{three.2.id}', '{three.0.id}', '{three.1.id}')),
      settled('gone'),
      isDone,
    ],
    expect: [
      answerOf('gone', 'lists the identifiers as they were asked', (answer, seen, exchange) => {
        const told = itemsOf(answer, seen)?.map((item) => String(item?.['id']))
        const asked = ['2', '0', '1'].map((each) => seen.fill(`{three.${each}.id}`))
        if (isSame(told, asked)) return undefined
        return finding(exchange, { pointer: seen.profile.names.items }, `${short(told)} in place of ${short(asked)}`)
      }),
    ],
    mend: 'Build the answer from the list that was sent, not from what the database returns.',
  },
  {
    id: 'DEL-9/members',
    title: 'Bulk deletion tells exactly id and deleted_at of each record',
    kind: 'changing',
    needs: base,
    after: ['DEL-9/status'],
    steps: [records('two', 2), when('gone', 'POST', toBulk, ids('{two.0.id}', '{two.1.id}')), settled('gone'), isDone],
    expect: [
      answerOf('gone', 'has items of exactly id and deleted_at', (answer, seen, exchange) => {
        const at = { pointer: seen.profile.names.items }
        const told = itemsOf(answer, seen)
        if (told?.length !== 2) return finding(exchange, at, `${told?.length ?? 'no'} items in place of 2`)
        const odd = told.find(
          (item) =>
            Object.keys(item ?? {})
              .sort()
              .join() !== 'deleted_at,id',
        )
        return odd && finding(exchange, at, `an item is ${short(odd)}`)
      }),
    ],
    mend: 'Answer { "data": [{ "id": …, "deleted_at": … }, …] }, as a single deletion does.',
  },
  {
    id: 'DEL-9/all-or-nothing',
    title: 'Bulk deletion of which one record is not there deletes none',
    kind: 'changing',
    needs: base,
    steps: [
      records('two', 2),
      when('gone', 'POST', toBulk, ids('{two.0.id}', '{two.0.other}', '{two.1.id}')),
      settled('gone'),
      when('after', 'GET', '{two.0}'),
      when('after', 'GET', '{two.1}'),
    ],
    expect: [refused('gone'), everyStatus('after', 200)],
    mend: 'Delete in one transaction, and undo it where fewer rows were changed than were listed.',
  },
  {
    id: 'DEL-9/already-gone',
    title: 'Bulk deletion of which one record was deleted before deletes none',
    kind: 'changing',
    needs: [...base, 'delete', 'unconditional'],
    after: ['DEL-9/all-or-nothing'],
    steps: [
      records('two', 2),
      given('earlier', 'DELETE', '{two.0}'),
      settled('earlier', 'earlier job'),
      when('gone', 'POST', toBulk, ids('{two.1.id}', '{two.0.id}')),
      settled('gone'),
      when('after', 'GET', '{two.1}'),
    ],
    expect: [refused('gone'), status('after', 200)],
    mend: 'Count live records alone when you compare what was deleted with what was listed.',
  },
  {
    id: 'DEL-9/reasons',
    title: 'Bulk deletion that is refused gives the reason for every identifier that cannot go',
    kind: 'changing',
    needs: base,
    after: ['DEL-9/all-or-nothing'],
    steps: [record(), when('gone', 'POST', toBulk, ids('{one.other}', '{one.id}', '{one.other}z')), settled('gone')],
    expect: [
      member(
        'gone',
        ({ profile }) => profile.names.errors,
        'has an error for both that are not there',
        (errors) => (Array.isArray(errors) && errors.length >= 2 ? undefined : `errors is ${short(errors)}`),
      ),
    ],
    mend: 'Collect what is wrong with every identifier before you answer, each with its place (/ids/0).',
  },
  {
    id: 'DEL-9/dependents',
    title: 'Bulk deletion of a record that others depend on is answered 409, and it stays',
    kind: 'changing',
    needs: ['create', 'read', 'delete', 'unconditional', 'parent'],
    after: ['DEL-4/refused'],
    steps: [
      about('what its records refer to has no bulk deletion', ({ profile, collection }) => {
        const [first] = Object.values(collection.references)
        return profile.collections.find(({ name }) => name === first)?.operations.includes('bulk-delete') === true
      }),
      record(),
      when('single', 'DELETE', '{parent}'),
      about('what others refer to is deleted all the same', answered('single', 409)),
      when('gone', 'POST', '{parents}/bulk-delete', ids('{parent.id}')),
      settled('gone'),
      when('after', 'GET', '{parent}'),
    ],
    expect: [status('gone', 409), status('after', 200)],
    mend: 'Let bulk deletion pass through the same checks as a single one.',
  },
  {
    id: 'DEL-9/at-once',
    title: 'Of two bulk deletions at once that share a record one deletes all its records, the other none',
    kind: 'changing',
    needs: base,
    after: ['DEL-1/gone', 'DEL-9/all', 'DEL-9/others-stay', 'DEL-9/all-or-nothing'],
    steps: [
      records('first', 2),
      records('second', 2),
      record('shared'),
      together(
        when('both', 'POST', toBulk, ids('{first.0.id}', '{first.1.id}', '{shared.id}')),
        when('both', 'POST', toBulk, ids('{shared.id}', '{second.1.id}', '{second.0.id}')),
      ),
      about('bulk deletions are only accepted', (seen) =>
        seen.all('both').every(({ answer }) => answer?.status !== 202),
      ),
      when('first after', 'GET', '{first.0}'),
      when('first after', 'GET', '{first.1}'),
      when('second after', 'GET', '{second.0}'),
      when('second after', 'GET', '{second.1}'),
    ],
    expect: [
      oneWins('both', 404, 409),
      altogether('all went of the one list, and nothing of the other', (seen) => {
        const statuses = (step: string) => seen.all(step).map(({ answer }) => answer?.status)
        const isWon = (index: number) => (seen.all('both')[index]?.answer?.status ?? 500) < 300
        for (const [index, step] of ['first after', 'second after'].entries()) {
          const wanted = isWon(index) ? 404 : 200
          const odd = seen.all(step).find(({ answer }) => answer?.status !== wanted)
          if (odd !== undefined) return finding(odd, 'status', `${statuses(step).join(' and ')} in place of ${wanted}`)
        }
        return undefined
      }),
    ],
    mend: 'Lock the rows in one order, and count what was deleted in the transaction: of two lists that share a record one has to be undone.',
  },
]
