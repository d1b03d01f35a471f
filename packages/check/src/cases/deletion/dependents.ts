/** DEL-4, DEL-5, DEL-10: records that refer to a deleted one, and deletion by filter. */
import { NotApplicable, type Observations } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import {
  answerOf,
  finding,
  itemsOf,
  listsErrors,
  refused,
  sameBody,
  short,
  status,
  unexpected,
} from '../../case/expect.ts'
import { deleted, isExactly, recordAt, recordOf, recordSent, shows } from '../../case/expect-records.ts'
import { after, before, first, gone, made, one, three, two } from '../../case/names.ts'
import { answered, applicableIf, readyIf, succeeded } from '../../case/preconditions.ts'
import { caseRecords, collection, listWithCase, members, parent, Reference } from '../../case/references.ts'
import { body, create, createMany, deleteRecord, settled, setUp, together } from '../../case/steps.ts'
import { jsonOf } from '../../client/exchange.ts'
import { isObject, objectOf } from '../../values/json.ts'

const [childBefore, childAfter, child, childJob] = Reference.named('child before', 'child after', 'child', 'child job')
const [then, thenJob, children, kept, bystander] = Reference.named('then', 'then job', 'children', 'kept', 'bystander')
const [filteredStep] = Reference.named('filtered')

const isRefused = applicableIf((seen) => !succeeded(gone)(seen), 'the server deletes records that others refer to')
const dependentIsDeleted = applicableIf(answered(child, 404), 'dependents stay')

/** A deletion of the parent that its dependent prevents. */
const refusedDeletion = [create(one), gone.delete(parent), settled(gone), isRefused]

/** Deletes the parent of records, if the server does this at all. */
const deleteParent = [
  gone.delete(parent),
  applicableIf(succeeded(gone), 'the server does not delete records that others refer to'),
  settled(gone),
]

/** A body whose reference leads nowhere. A server that accepts it knows of no references. */
const referringToNothing = { ...body.example, with: { [members.reference]: parent.otherId } }

/** The reference of a record to the parent of the case's records. */
function referenceIn(item: unknown, { collection }: Pick<Observations, 'collection'>): unknown {
  const [name = ''] = Object.keys(collection.references)
  const value = objectOf(item)[name]
  if (isObject(value)) return value['id'] ?? value['_id']
  return typeof value === 'string' ? value.split('/').at(-1) : value
}

export const dependentCases = common({ needs: ['read'], after: ['DEL-4/refused'] }).define({
  'DEL-4/refused': {
    title: 'A deletion that dependents prevent is refused with a client error (4xx)',
    after: [],
    steps: refusedDeletion,
    expect: [refused(gone)],
    remedy: 'Check for dependents before you delete; do not pass on the error of the database.',
  },
  'DEL-4/status': {
    title: 'A deletion that dependents prevent returns 409',
    steps: refusedDeletion,
    expect: [status(gone, 409)],
    remedy: 'Answer 409: the request is sound, and the state of the resource is in its way.',
  },
  'DEL-4/errors': {
    title: 'A deletion that dependents prevent lists them in errors',
    steps: refusedDeletion,
    expect: [listsErrors(gone, 1)],
    remedy: 'List in errors which collection, and which of its records, are in the way.',
  },
  'DEL-4/unchanged': {
    title: 'A deletion that dependents prevent changes nothing',
    steps: [
      create(one),
      setUp(before.get(parent)),
      setUp(childBefore.get(one)),
      gone.delete(parent),
      settled(gone),
      isRefused,
      after.get(parent),
      childAfter.get(one),
    ],
    expect: [status(after, 200), sameBody(after, before), status(childAfter, 200), sameBody(childAfter, childBefore)],
    remedy: 'Check for dependents in the deleting transaction, and roll it back if there are any.',
  },
  'DEL-4/then': {
    title: 'The deletion succeeds after its dependents were deleted',
    steps: [
      ...refusedDeletion,
      setUp(child.delete(one)),
      settled(child, childJob),
      then.delete(parent),
      settled(then, thenJob),
    ],
    expect: [deleted(then)],
    remedy: "Count live dependents alone: what was deleted softly is in nobody's way.",
  },
  'DEL-4/race': {
    title: 'A record is not deleted while a dependent is created',
    needs: ['repairable'],
    after: ['DEL-4/refused', 'DEL-1/list'],
    steps: [
      create(first),
      setUp(child.delete(first)),
      settled(child, childJob),
      together(
        made.post(collection, body.example),
        made.post(collection, body.example),
        gone.delete(parent),
        made.post(collection, body.example),
        made.post(collection, body.example),
      ),
      settled(gone),
      parent.get(parent),
      children.get(listWithCase),
    ],
    expect: [
      status(children, 200),
      (seen) => {
        const { answer } = seen.of(parent)
        if (answer?.status === 200) return undefined
        if (answer?.status !== 404) return unexpected(seen.of(parent), '200 or 404')
        const dangling = itemsOf(seen.of(children).answer, seen)?.find(
          (item) => String(referenceIn(item, seen)) === seen.fill(parent.id),
        )
        const message = `${short(dangling)} refers to a record that is gone`
        return dangling && finding(seen.of(children), { pointer: seen.profile.names.items }, message)
      },
    ],
    remedy: 'Lock the referenced record in both transactions: the one that deletes it and the one that refers to it.',
  },
  'DEL-5/no-dangling': {
    title: 'A deletion deletes the dependents or clears their references',
    after: ['DEL-1/gone'],
    steps: [
      create(one),
      made.post(collection, referringToNothing),
      ...deleteParent,
      parent.get(parent),
      // The job may fail later.
      applicableIf(answered(parent, 404), 'what others refer to is not deleted'),
      child.get(one),
    ],
    expect: [
      status(child, 200, 404),
      (seen) => {
        const { answer } = seen.of(child)
        if (answer?.status !== 200) return undefined
        const reference = referenceIn(recordOf(answer, seen), seen)
        if (String(reference) !== seen.fill(parent.id)) return undefined
        if (succeeded(made)(seen)) throw new NotApplicable('the server does not check what records refer to')
        const [name = ''] = Object.keys(seen.collection.references)
        return finding(seen.of(child), { pointer: `/${name}` }, `it refers to ${reference}, which is gone`)
      },
    ],
    remedy: 'Declare for each reference what a deletion does: refuse (409), cascade, or set null, in one transaction.',
  },
  'DEL-5/cascade': {
    title: 'A cascading deletion deletes all dependents',
    after: ['DEL-5/no-dangling', 'DEL-1/list'],
    steps: [
      createMany(three, 3),
      setUp(before.get(listWithCase)),
      ...deleteParent,
      child.get(three.at(0)),
      dependentIsDeleted,
      after.get(listWithCase),
    ],
    expect: [
      shows(before, [three.at(0), three.at(1), three.at(2)]),
      shows(after, [], [three.at(0), three.at(1), three.at(2)]),
    ],
    remedy: 'Delete every record that refers to it in the same transaction.',
  },
  'DEL-5/own-variant': {
    title: 'A cascading deletion deletes dependents softly if their collection does',
    after: ['DEL-5/no-dangling', 'DEL-1/kept'],
    steps: [
      create(one),
      ...deleteParent,
      child.get(one),
      dependentIsDeleted,
      kept.get(`${caseRecords}&include_deleted=true`),
    ],
    expect: [shows(kept, [one])],
    remedy: 'Delete each dependent by the variant of its own collection, not by the database\'s "on delete cascade".',
  },
  'DEL-5/clear': {
    title: 'A cleared reference becomes null, and the other members are unchanged',
    after: ['DEL-5/no-dangling'],
    steps: [create(one), ...deleteParent, child.get(one), applicableIf(answered(child, 200), 'dependents go too')],
    expect: [
      (seen) => {
        const exchange = seen.of(child)
        const [first = ''] = Object.keys(seen.collection.references)
        const sent = objectOf(recordSent(seen.of(one).asked, seen))
        const made = recordAt(one, seen)
        const now = recordOf(exchange.answer, seen)
        const before = Object.entries(sent).map(([name, value]) => [name, made?.[name] ?? value] as const)
        for (const [name, was] of Object.entries({ ...Object.fromEntries(before), [first]: null })) {
          if (short(now?.[name]) === short(was)) continue
          const message = `${name} is ${short(now?.[name])} in place of ${short(was)}`
          return finding(exchange, { pointer: `/${name}` }, message)
        }
        return undefined
      },
    ],
    remedy: 'Set the reference itself to null, and leave the other columns as they are.',
  },
})

/**
 * Deletion by filter is tried where the server declares it, with a filter that lists were seen to obey (QRY-1, and
 * again in the case itself), and with a bound, for the server that heeds the bound though it does not heed the filter.
 */
const filtered = {
  kind: 'changing',
  needs: ['create', 'read', 'list', 'marker', 'delete-by-filter'],
  after: ['QRY-1/equal', 'QRY-1/none'],
} as const

const bound = (most: number) => ({ headers: { Prefer: `handling=strict, max-affected=${most}` } })

/** Two records that match the filter, and one that does not. */
const twoAndOne = [
  createMany(two, 2),
  create(bystander, { [members.marker]: 'left alone' }),
  setUp(filteredStep.get(caseRecords)),
  readyIf(
    isExactly(filteredStep, two.at(0), two.at(1)),
    'the filter that would delete was not seen to find exactly what was made for it',
  ),
] as const

export const deletionByFilter = common({ needs: ['read'] }).define({
  'DEL-10/matching': {
    ...filtered,
    title: 'Deletion by filter deletes the records that match',
    steps: [...twoAndOne, ...deleteRecord(gone, caseRecords, bound(2)), after.get(caseRecords)],
    expect: [shows(after, [], [two.at(0), two.at(1)])],
    remedy: 'Delete with the conditions that the list is read with.',
  },
  'DEL-10/others-stay': {
    ...filtered,
    title: 'Deletion by filter keeps the records that do not match',
    steps: [...twoAndOne, ...deleteRecord(gone, caseRecords, bound(2)), after.get(bystander)],
    expect: [status(after, 200)],
    remedy: 'Refuse a filter that you do not know with 400: to ignore it is to delete everything.',
  },
  'DEL-10/number': {
    ...filtered,
    title: 'Deletion by filter returns 200 with the number of deleted records, or 202',
    steps: [...twoAndOne, gone.delete(caseRecords, bound(2)), settled(gone)],
    expect: [
      status(gone, 200, 202),
      answerOf(gone, (answer) => {
        if (answer.status === 202) return undefined
        const body = jsonOf(answer)
        const told = typeof body === 'object' && body !== null ? Object.values(body) : [body]
        return told.includes(2) ? undefined : `2 were deleted, and it tells ${short(body)}`
      }),
    ],
    remedy: 'Answer { "deleted_count": 2 }: clients that delete by filter need the number.',
  },
  'DEL-10/maximum': {
    ...filtered,
    title: 'Deletion by filter of more than max-affected records returns 409 and deletes none',
    steps: [...twoAndOne, gone.delete(caseRecords, bound(1)), settled(gone), after.get(caseRecords)],
    expect: [status(gone, 409), shows(after, [two.at(0), two.at(1)])],
    remedy: 'Heed Prefer: handling=strict, max-affected=N: count in the transaction, and undo it where more would go.',
  },
  'DEL-10/not-offered': {
    title: 'Deletion by filter returns 405 if it is not supported',
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
})
