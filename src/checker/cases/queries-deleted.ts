/** QRY-6 and QRY-7: deleted records in lists, and what can be asked for at all. */
import type { Expectation } from '../case/case.ts'
import { define } from '../case/define.ts'
import { status } from '../case/expect.ts'
import { inOrder, lists } from '../case/expect-list.ts'
import { back, first, gone as goneStep, refusal, removed, second } from '../case/names.ts'
import { NotSetUp } from '../case/not-judged.ts'
import { caseRecords, collection, members, type Reference, references } from '../case/references.ts'
import { asOther, create, setUp, wait } from '../case/steps.ts'

const [live, including, without, newest, oldest] = references('live', 'with', 'without', 'newest', 'oldest')

const gone = setUp(goneStep.delete(removed))

/** Two records come in the order of their creation; those of one moment prove nothing. */
function byCreation(step: Reference, says: string, isInOrder: (one: number, next: number) => boolean): Expectation {
  return inOrder(step, says, (items) => {
    const times = items.map((item) => String(item['created_at']))
    const [one, next] = times.map((time) => Date.parse(time)) as [number, number]
    if (Number.isNaN(one) || Number.isNaN(next)) return 'they have no created_at'
    if (one === next) throw new NotSetUp('both records were created at the same moment, as far as created_at tells')
    return isInOrder(one, next) ? undefined : `they are of ${times.join(', then ')}`
  })
}

export const deletedCases = define({
  'QRY-6/included': {
    title: 'include_deleted=true adds deleted records to a list',
    steps: [
      create(live),
      create(removed),
      gone,
      including.get(`${caseRecords}&include_deleted=true`),
      without.get(caseRecords),
    ],
    expect: [lists(including, live, removed), lists(without, live)],
    remedy: 'Leave out the condition that hides deleted records where include_deleted=true is asked for.',
  },
  'QRY-6/false': {
    title: 'include_deleted=false leaves deleted records out',
    after: ['QRY-6/included'],
    steps: [create(live), create(removed), gone, without.get(`${caseRecords}&include_deleted=false`)],
    expect: [lists(without, live)],
    remedy: 'Read the value of include_deleted: that it is there does not mean true.',
  },
  'QRY-6/restored': {
    title: 'A record that was restored is in lists again, with and without include_deleted',
    after: ['QRY-6/included'],
    steps: [
      create(removed),
      gone,
      setUp(back.post(`${removed}/restore`)),
      including.get(`${caseRecords}&include_deleted=true`),
      without.get(caseRecords),
    ],
    expect: [lists(including, removed), lists(without, removed)],
    remedy: 'Take away the mark of deletion when a record is restored, wherever lists look for it.',
  },
  'QRY-6/forbidden': {
    title: 'Who may not read deleted records is refused include_deleted with 403',
    needs: ['no delete'],
    after: ['QRY-6/included'],
    steps: [create(removed), gone, refusal.get(`${caseRecords}&include_deleted=true`, asOther)],
    expect: [status(refusal, 403)],
    remedy: 'Ask for the permission to read deleted records before include_deleted is followed.',
  },
  'QRY-7/created': {
    title: 'Lists can be sorted by created_at',
    steps: [
      create(first),
      wait(20),
      create(second),
      newest.get(`${caseRecords}&sort=-created_at`),
      oldest.get(`${caseRecords}&sort=created_at`),
    ],
    expect: [
      lists(newest, first, second),
      lists(oldest, first, second),
      byCreation(newest, 'has the newest first', (one, next) => one >= next),
      byCreation(oldest, 'has the oldest first', (one, next) => one <= next),
    ],
    remedy: 'Let lists be sorted by created_at: "what is new" is what people ask for most.',
  },
  'QRY-7/undeclared-filter': {
    title: 'A filter by a field that cannot be filtered by is refused',
    level: 'may',
    steps: [refusal.get(`${collection}?${members.undeclared}=checked`)],
    expect: [status(refusal, 400)],
    remedy:
      'Refuse filters by fields without an index with 400, naming those that there are; or name this one in the document.',
  },
  'QRY-7/undeclared-sort': {
    title: 'An order by a field that cannot be sorted by is refused',
    level: 'may',
    steps: [refusal.get(`${collection}?sort=${members.undeclared}`)],
    expect: [status(refusal, 400)],
    remedy:
      'Refuse orders by fields without an index with 400, naming those that there are; or name this one in the document.',
  },
})
