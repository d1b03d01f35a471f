/** DEL-1: what is deleted is gone, and nothing else is. */

import type { Case } from '../../case/case.ts'
import { answerOf, finding, itemsOf, short, status } from '../../case/expect.ts'
import { asMade, isListed, listed, recordOf, shows } from '../../case/expect-records.ts'
import { about, given, provided, record, records, settled, when } from '../../case/steps.ts'
import { isSame } from '../../values/json.ts'

const base = ['create', 'read', 'delete', 'unconditional'] as const

export const goneCases: readonly Case[] = [
  {
    id: 'DEL-1/gone',
    title: 'A deleted record is answered 404',
    kind: 'changing',
    needs: base,
    steps: [
      record(),
      given('before', 'GET', '{one}'),
      given('gone', 'DELETE', '{one}'),
      settled('gone'),
      when('after', 'GET', '{one}'),
    ],
    expect: [status('after', 404)],
    mend: 'Answer 404 for a record that is marked as deleted, exactly as for one that never was.',
  },
  {
    id: 'DEL-1/put',
    title: 'PUT to a deleted record is answered 404, and does not bring it back',
    kind: 'changing',
    needs: [...base, 'replace'],
    after: ['DEL-1/gone'],
    steps: [
      record(),
      given('gone', 'DELETE', '{one}'),
      settled('gone'),
      when('put', 'PUT', '{one}', { body: { from: 'example' } }),
      when('after', 'GET', '{one}'),
    ],
    expect: [status('put', 404), status('after', 404)],
    mend: 'Let PUT look for a live record before it writes; it never makes one.',
  },
  {
    id: 'DEL-1/patch',
    title: 'PATCH of a deleted record is answered 404',
    kind: 'changing',
    needs: [...base, 'update', 'change'],
    after: ['DEL-1/gone'],
    steps: [
      record(),
      given('gone', 'DELETE', '{one}'),
      settled('gone'),
      when('patch', 'PATCH', '{one}', { body: { from: 'change' } }),
    ],
    expect: [status('patch', 404)],
    mend: 'Let PATCH change live records alone: "update … where id = ? and deleted_at is null".',
  },
  {
    id: 'DEL-1/list',
    title: 'Lists leave a deleted record out, and keep the others',
    kind: 'changing',
    needs: [...base, 'list', 'marker'],
    steps: [
      records('two', 2),
      given('before', 'GET', '{collection}?{mine}'),
      provided(
        'the list did not show what had been made',
        (seen) => itemsOf(seen.of('before').answer, seen)?.length === 2,
      ),
      given('gone', 'DELETE', '{two.0}'),
      settled('gone'),
      when('after', 'GET', '{collection}?{mine}'),
    ],
    expect: [shows('before', ['two.0', 'two.1']), shows('after', ['two.1'], ['two.0'])],
    mend: 'Leave deleted records out of every list that does not ask for them: "where deleted_at is null".',
  },
  {
    id: 'DEL-1/nested',
    title: 'The list below a parent leaves a deleted record out, and keeps the others',
    kind: 'changing',
    needs: [...base, 'parent', 'nested'],
    steps: [
      records('two', 2),
      given('before', 'GET', '{nested}'),
      provided(
        'the list did not show what had been made',
        (seen) => itemsOf(seen.of('before').answer, seen)?.length === 2,
      ),
      given('gone', 'DELETE', '{two.0}'),
      settled('gone'),
      when('after', 'GET', '{nested}'),
    ],
    expect: [shows('after', ['two.1'], ['two.0'])],
    mend: 'Read the list below a parent with the same conditions as the collection itself.',
  },
  {
    id: 'DEL-1/others-stay',
    title: 'A deletion leaves other records as they were',
    kind: 'changing',
    needs: base,
    steps: [
      record('other'),
      record('one'),
      given('before', 'GET', '{other}'),
      given('gone', 'DELETE', '{one}'),
      settled('gone'),
      when('after', 'GET', '{other}'),
    ],
    expect: [
      status('after', 200),
      answerOf('after', 'shows the other record as it was', (answer, seen, exchange) => {
        const [was, is] = [recordOf(seen.of('before').answer as typeof answer, seen), recordOf(answer, seen)]
        return isSame(was, is) ? undefined : finding(exchange, 'body', `${short(is)}, and was ${short(was)}`)
      }),
    ],
    mend: 'Delete by the identifier of the record alone, and touch no other row.',
  },
  {
    id: 'DEL-1/kept',
    title: 'What was deleted softly keeps the members that it had',
    kind: 'changing',
    needs: [...base, 'soft', 'list', 'marker'],
    steps: [
      record(),
      given('gone', 'DELETE', '{one}'),
      settled('gone'),
      when('kept', 'GET', '{collection}?{mine}&include_deleted=true'),
      // Whether they are shown at all is a rule of its own (QRY-6).
      about('include_deleted does not show what was deleted', isListed('kept')),
    ],
    expect: [asMade('kept', 'one', (answer, seen) => listed(answer, 'one', seen))],
    mend: 'Set deleted_at and leave all other columns as they are; include_deleted=true shows them.',
  },
  {
    id: 'DEL-1/for-good',
    title: 'What was deleted for good is not shown to those who ask for deleted records',
    kind: 'changing',
    needs: [...base, 'hard', 'list', 'marker'],
    steps: [
      record(),
      given('before', 'GET', '{collection}?{mine}'),
      given('gone', 'DELETE', '{one}'),
      settled('gone'),
      when('after', 'GET', '{collection}?{mine}&include_deleted=true'),
      // It may be that nobody can ask for them at all.
      about('there is no asking for deleted records', (seen) => seen.of('after').answer?.status !== 400),
    ],
    expect: [shows('before', ['one']), status('after', 200), shows('after', [], ['one'])],
    mend: 'Remove the row itself where the variant is hard.',
  },
]
