/** AUT-4 to AUT-7 where both callers make records, and each is to have to do with their own alone. */
import type { Step } from '../case/case.ts'
import { define } from '../case/define.ts'
import { altogether, finding, itemsOf, refused, sameBody, status, totalOf } from '../case/expect.ts'
import { after, before, changed, list } from '../case/names.ts'
import { caseRecords, collection, ifRequired, members, type Reference, references } from '../case/references.ts'
import { asOther, body, create, setUp } from '../case/steps.ts'

const [theirs, usual, ownStep, tried, readOwn, readTheirs, sent] = references(
  'theirs',
  'usual',
  'own',
  'tried',
  'read own',
  'read theirs',
  'sent',
)

const own: Step = { kind: 'create', as: 'own', caller: 'other' }
/** Identifiers of the records in the other caller's list. */
function listed(
  seen: Parameters<typeof itemsOf>[1] & { collection: { id: string } },
  answer: Parameters<typeof itemsOf>[0],
) {
  return itemsOf(answer, seen)?.map((item) => String(item[seen.collection.id]))
}

const mend = 'Put what the caller may read into the query of the list and of its total alike, as a condition.'
const mendOwner = 'Ask for each record whether the caller may do this with it: that they own another says nothing.'

export const ownRecords = define(
  {
    'AUT-4/own-list': {
      title: 'A list leaves out the records of others that its reader may not read',
      steps: [create(theirs), own, list.get(caseRecords, asOther)],
      expect: [
        status(list, 200),
        altogether('the record of another is not there', (seen) =>
          listed(seen, seen.of(list).answer)?.includes(seen.fill(theirs.id)) === false
            ? undefined
            : finding(seen.of(list), 'body', `the record ${seen.fill(theirs.id)} of another is listed`),
        ),
      ],
      remedy: mend,
    },
    'AUT-4/own-total': {
      title: 'The total of a list counts what its reader may read',
      after: ['AUT-4/own-list'],
      steps: [create(theirs), own, list.get(caseRecords, asOther)],
      expect: [
        altogether('as many are counted as are listed', (seen) => {
          const { answer } = seen.of(list)
          const [there, total] = [itemsOf(answer, seen)?.length, totalOf(answer, seen)]
          return there === total
            ? undefined
            : finding(seen.of(list), 'body', `${total ?? 'nothing'} counted, and ${there ?? 'nothing'} listed`)
        }),
      ],
      remedy: mend,
    },
    'AUT-5/read': {
      title: 'Who owns one record cannot read another',
      steps: [create(theirs), own, setUp(usual.get(ownStep, asOther)), tried.get(theirs, asOther)],
      expect: [refused(tried)],
      remedy: mendOwner,
    },
    'AUT-5/update': {
      title: 'Who owns one record cannot change another',
      steps: [
        create(theirs),
        own,
        setUp(before.get(theirs)),
        setUp(usual.patch(ownStep, body.change, { caller: 'other', ...ifRequired })),
        tried.patch(theirs, body.change, { caller: 'other', ...ifRequired }),
        after.get(theirs),
      ],
      expect: [refused(tried), sameBody(after, before)],
      remedy: mendOwner,
    },
    'AUT-5/delete': {
      title: 'Who owns one record cannot delete another',
      steps: [create(theirs), own, tried.delete(theirs, { caller: 'other', ...ifRequired }), after.get(theirs)],
      expect: [refused(tried), status(after, 200)],
      remedy: mendOwner,
    },
    'AUT-6/list-and-record': {
      title: 'What somebody may read is in their list, and what is in their list they may read',
      after: ['AUT-4/own-list', 'AUT-5/read'],
      steps: [
        create(theirs),
        own,
        list.get(caseRecords, asOther),
        readOwn.get(ownStep, asOther),
        readTheirs.get(theirs, asOther),
      ],
      expect: [[ownStep, readOwn] as const, [theirs, readTheirs] as const].map(([record, reading]) =>
        altogether(`the record ${record.name} is listed where it can be read`, (seen) => {
          const read = seen.of(reading)
          const isListed = listed(seen, seen.of(list).answer)?.includes(seen.fill(record.id)) ?? false
          if (isListed === (read.answer?.status === 200)) return undefined
          return finding(read, 'status', `${read.answer?.status}, and it is ${isListed ? '' : 'not '}in the list`)
        }),
      ),
      remedy: 'Make the question whether one may read a record and the condition of the list from one rule.',
    },
    'AUT-7/set': {
      title: 'The owner of a record is who has made it',
      steps: [create(theirs), own],
      expect: [
        altogether('the records of two callers have two owners', (seen) =>
          seen.fill(ownStep.owner) === seen.fill(theirs.owner)
            ? finding(seen.of(ownStep), 'body', `both are said to be owned by ${seen.fill(ownStep.owner)}`)
            : undefined,
        ),
      ],
      remedy: 'Set the owner from the credential when a record is created.',
    },
    'AUT-7/sent': {
      title: 'Nobody creates a record that is owned by another',
      after: ['AUT-7/set'],
      steps: [
        create(theirs),
        sent.post(collection, { ...body.example, with: { [members.owner]: theirs.owner } }, asOther),
      ],
      expect: [notTheirs(sent)],
      remedy: 'Refuse the owner in what clients send, or take no notice of it.',
    },
    'AUT-7/changed': {
      title: 'Nobody makes a record over to another by a change',
      after: ['AUT-7/set'],
      steps: [
        create(theirs),
        own,
        changed.patch(ownStep, body.json({ [members.owner]: theirs.owner }), { caller: 'other', ...ifRequired }),
      ],
      expect: [notTheirs(changed)],
      remedy: 'Refuse the owner in what clients send, or take no notice of it.',
    },
  },
  'owner',
)

/** Refused, or the owner is not the one that was sent. */
function notTheirs(step: Reference) {
  return altogether('is refused, or has no effect', (seen) => {
    const exchange = seen.of(step)
    const { answer } = exchange
    if (answer === undefined) return finding(exchange, 'connection', `no answer came: ${exchange.failure}`)
    if (answer.status >= 300 || seen.fill(step.owner) !== seen.fill(theirs.owner)) return undefined
    return finding(exchange, 'body', `it is owned by ${seen.fill(theirs.owner)}, as was sent`)
  })
}
