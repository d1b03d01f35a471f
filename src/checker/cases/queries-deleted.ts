/** QRY-6 and QRY-7: deleted records in lists, and what can be asked for at all. */
import type { Case, Expectation } from '../case/case.ts'
import { status } from '../case/expect.ts'
import { inOrder, lists } from '../case/expect-list.ts'
import { NotSetUp } from '../case/not-judged.ts'
import { given, record, when } from '../case/steps.ts'

const needs = ['create', 'list', 'delete', 'unconditional', 'soft', 'marker'] as const
const gone = given('gone', 'DELETE', '{deleted}')

/** Two records come in the order of their creation; those of one moment prove nothing. */
function byCreation(step: string, says: string, isInOrder: (one: number, next: number) => boolean): Expectation {
  return inOrder(step, says, (items) => {
    const times = items.map((item) => String(item['created_at']))
    const [one, next] = times.map((time) => Date.parse(time)) as [number, number]
    if (Number.isNaN(one) || Number.isNaN(next)) return 'they have no created_at'
    if (one === next) throw new NotSetUp('both records were created at the same moment, as far as created_at tells')
    return isInOrder(one, next) ? undefined : `they are of ${times.join(', then ')}`
  })
}

export const deletedCases: readonly Case[] = [
  {
    id: 'QRY-6/included',
    title: 'include_deleted=true adds deleted records to a list',
    kind: 'changing',
    needs,
    steps: [
      record('live'),
      record('deleted'),
      gone,
      when('with', 'GET', '{collection}?{mine}&include_deleted=true'),
      when('without', 'GET', '{collection}?{mine}'),
    ],
    expect: [lists('with', 'live', 'deleted'), lists('without', 'live')],
    mend: 'Leave out the condition that hides deleted records where include_deleted=true is asked for.',
  },
  {
    id: 'QRY-6/false',
    title: 'include_deleted=false leaves deleted records out',
    kind: 'changing',
    needs,
    after: ['QRY-6/included'],
    steps: [
      record('live'),
      record('deleted'),
      gone,
      when('without', 'GET', '{collection}?{mine}&include_deleted=false'),
    ],
    expect: [lists('without', 'live')],
    mend: 'Read the value of include_deleted: that it is there does not mean true.',
  },
  {
    id: 'QRY-6/restored',
    title: 'A record that was restored is in lists again, with and without include_deleted',
    kind: 'changing',
    needs: [...needs, 'restore'],
    after: ['QRY-6/included'],
    steps: [
      record('deleted'),
      gone,
      given('back', 'POST', '{deleted}/restore'),
      when('with', 'GET', '{collection}?{mine}&include_deleted=true'),
      when('without', 'GET', '{collection}?{mine}'),
    ],
    expect: [lists('with', 'deleted'), lists('without', 'deleted')],
    mend: 'Take away the mark of deletion when a record is restored, wherever lists look for it.',
  },
  {
    id: 'QRY-6/forbidden',
    title: 'Who may not read deleted records is refused include_deleted with 403',
    kind: 'changing',
    needs: [...needs, 'other', 'no delete'],
    after: ['QRY-6/included'],
    steps: [
      record('deleted'),
      gone,
      when('refused', 'GET', '{collection}?{mine}&include_deleted=true', { caller: 'other' }),
    ],
    expect: [status('refused', 403)],
    mend: 'Ask for the permission to read deleted records before include_deleted is followed.',
  },
  {
    id: 'QRY-7/created',
    title: 'Lists can be sorted by created_at',
    kind: 'changing',
    needs: ['create', 'list', 'marker'],
    steps: [
      record('first'),
      { kind: 'wait', milliseconds: 20 },
      record('second'),
      when('newest', 'GET', '{collection}?{mine}&sort=-created_at'),
      when('oldest', 'GET', '{collection}?{mine}&sort=created_at'),
    ],
    expect: [
      lists('newest', 'first', 'second'),
      lists('oldest', 'first', 'second'),
      byCreation('newest', 'has the newest first', (one, next) => one >= next),
      byCreation('oldest', 'has the oldest first', (one, next) => one <= next),
    ],
    mend: 'Let lists be sorted by created_at: "what is new" is what people ask for most.',
  },
  {
    id: 'QRY-7/undeclared-filter',
    title: 'A filter by a field that cannot be filtered by is refused',
    kind: 'reading',
    needs: ['list', 'undeclared'],
    level: 'may',
    steps: [when('refused', 'GET', '{collection}?{member:undeclared}=checked')],
    expect: [status('refused', 400)],
    mend: 'Refuse filters by fields without an index with 400, naming those that there are; or name this one in the document.',
  },
  {
    id: 'QRY-7/undeclared-sort',
    title: 'An order by a field that cannot be sorted by is refused',
    kind: 'reading',
    needs: ['list', 'undeclared'],
    level: 'may',
    steps: [when('refused', 'GET', '{collection}?sort={member:undeclared}')],
    expect: [status('refused', 400)],
    mend: 'Refuse orders by fields without an index with 400, naming those that there are; or name this one in the document.',
  },
]
