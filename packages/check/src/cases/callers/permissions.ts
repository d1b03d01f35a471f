/** AUT-3 to AUT-7: what a caller without permission cannot do, and what belongs to another caller. */
import type { Case, Expectation, Step } from '../../case/case.ts'
import { common, define } from '../../case/define.ts'
import { finding, itemsOf, refused, sameBody, status, totalOf } from '../../case/expect.ts'
import { isExactly } from '../../case/expect-records.ts'
import { after, all, before, changed, list, one, removed } from '../../case/names.ts'
import { readyIf } from '../../case/preconditions.ts'
import { caseRecords, collection, members, Reference } from '../../case/references.ts'
import { asOther, body, create, setUp } from '../../case/steps.ts'

const [triedStep, filtered, theirs, usual, ownStep] = Reference.named('tried', 'filtered', 'theirs', 'usual', 'own')
const [tried, readOwn, readTheirs, sent] = Reference.named('tried', 'read own', 'read theirs', 'sent')

const checkPermission =
  'Decide for each resource and action whether the caller may do it, and answer 403 before anything is done.'

function withoutEffect(action: 'update' | 'replace' | 'delete' | 'bulk-delete' | 'delete-by-filter', step: Step): Case {
  return {
    id: `AUT-3/${action}`,
    title: `Somebody who may do nothing is refused ${words[action]}, and the record stays as it was`,
    kind: 'changing',
    needs: ['create', 'read', action, 'other', closedTo[action], ...(action === 'update' ? (['change'] as const) : [])],
    steps: [create(one), setUp(before.get(one)), step, after.get(one)],
    expect: [refused(triedStep), status(after, 200), sameBody(after, before)],
    remedy: checkPermission,
  }
}

const closedTo = {
  update: 'no update',
  replace: 'no update',
  delete: 'no delete',
  'bulk-delete': 'no delete',
  'delete-by-filter': 'no delete',
} as const

const words = {
  update: 'PATCH',
  replace: 'PUT',
  delete: 'DELETE',
  'bulk-delete': 'bulk-delete',
  'delete-by-filter': 'the deletion by filter',
}

export const permissions: readonly Case[] = [
  ...define({
    'AUT-3/create': {
      title: 'A caller without permissions cannot create',
      needs: ['no create'],
      steps: [create(one), triedStep.post(collection, body.example, asOther)],
      expect: [refused(triedStep)],
      remedy: checkPermission,
    },
    'AUT-3/read': {
      title: 'A caller without permissions cannot read a record',
      needs: ['no read'],
      steps: [create(one), triedStep.get(one, asOther)],
      expect: [refused(triedStep)],
      remedy: checkPermission,
    },
  }),
  withoutEffect('update', triedStep.send('PATCH', one, { ...asOther, body: body.change })),
  withoutEffect('replace', triedStep.send('PUT', one, { ...asOther, body: body.example })),
  withoutEffect('delete', triedStep.delete(one, asOther)),
  withoutEffect('bulk-delete', triedStep.post(`${collection}/bulk-delete`, body.json({ ids: [one.id] }), asOther)),
  {
    ...withoutEffect('delete-by-filter', triedStep.delete(caseRecords, asOther)),
    needs: ['create', 'read', 'list', 'delete-by-filter', 'marker', 'other', 'no delete'],
    // A server that ignores both the filter and the caller would delete everything.
    after: ['QRY-1/equal', 'QRY-1/none'],
    steps: [
      create(one),
      setUp(before.get(one)),
      setUp(filtered.get(caseRecords)),
      readyIf(isExactly(filtered, one), 'the filter was not seen to find exactly what was made for it'),
      triedStep.delete(caseRecords, { caller: 'other', headers: { Prefer: 'handling=strict, max-affected=1' } }),
      after.get(one),
    ],
  },
  ...define({
    'AUT-3/restore': {
      title: 'A caller without permissions cannot restore a record',
      needs: ['no delete', 'soft'],
      steps: [
        create(one),
        setUp(removed.delete(one)),
        triedStep.post(`${one}/restore`, undefined, asOther),
        after.get(one),
      ],
      expect: [refused(triedStep), status(after, 404)],
      remedy: checkPermission,
    },
  }),
  ...(['create', 'read', 'update', 'delete'] as const).map((action): Case => {
    const before = permissionsOf(action)
    return {
      id: `AUT-4/${action}`,
      title: `What somebody may not ${action} is answered 403: who they are is known`,
      kind: 'changing',
      needs: ['create', action, 'other', `no ${action}`, ...(action === 'update' ? (['change'] as const) : [])],
      after: [`AUT-3/${action}`],
      steps: [create(one), before],
      expect: [status(triedStep, 403)],
      remedy: 'Answer 401 if the caller is unknown, and 403 if the caller has no permission.',
    }
  }),
  ...define({
    'AUT-4/list': {
      title: 'Lists and totals exclude records that the caller may not read',
      needs: ['no read'],
      steps: [create(one), setUp(all.get(caseRecords)), triedStep.get(caseRecords, asOther)],
      expect: [
        (seen) =>
          itemsOf(seen.of(all).answer, seen)?.length === 1
            ? undefined
            : finding(seen.of(all), 'body', 'the record that was made is not in the list'),
        (seen) => {
          const tried = seen.of(triedStep)
          const { answer } = tried
          if (answer === undefined) return finding(tried, 'connection', `no answer came: ${tried.failure}`)
          if (answer.status === 403) return undefined
          if (answer.status !== 200)
            return finding(tried, 'status', `${answer.status} in place of 403, or 200 without it`)
          if (itemsOf(answer, seen)?.length !== 0) return finding(tried, 'body', 'the list is not empty')
          const total = totalOf(answer, seen) ?? 0
          return total === 0 ? undefined : finding(tried, 'body', `${total} are counted in place of 0`)
        },
      ],
      remedy: 'Put what the caller may read into the query of the list and of its total alike, as a condition.',
    },
  }),
]

function permissionsOf(action: 'create' | 'read' | 'update' | 'delete') {
  switch (action) {
    case 'create':
      return triedStep.post(collection, body.example, asOther)
    case 'read':
      return triedStep.get(one, asOther)
    case 'update':
      return triedStep.send('PATCH', one, { ...asOther, body: body.change })
    case 'delete':
      return triedStep.delete(one, asOther)
  }
}

const own: Step = { kind: 'create', as: 'own', caller: 'other' }
/** Identifiers of the records in the other caller's list. */
function listed(
  seen: Parameters<typeof itemsOf>[1] & { collection: { id: string } },
  answer: Parameters<typeof itemsOf>[0],
) {
  return itemsOf(answer, seen)?.map((item) => String(item[seen.collection.id]))
}

const remedy = 'Put what the caller may read into the query of the list and of its total alike, as a condition.'
const checkEachRecord =
  'Ask for each record whether the caller may do this with it: that they own another says nothing.'

export const ownRecords = common({ needs: ['owner'], remedy: checkEachRecord, prepare: [create(theirs), own] }).define({
  'AUT-4/own-list': {
    title: 'A list excludes records of others that the caller may not read',
    steps: [list.get(caseRecords, asOther)],
    expect: [
      status(list, 200),
      (seen) =>
        listed(seen, seen.of(list).answer)?.includes(seen.fill(theirs.id)) === false
          ? undefined
          : finding(seen.of(list), 'body', `the record ${seen.fill(theirs.id)} of another is listed`),
    ],
    remedy,
  },
  'AUT-4/own-total': {
    title: 'The total of a list counts the records that the caller may read',
    after: ['AUT-4/own-list'],
    steps: [list.get(caseRecords, asOther)],
    expect: [
      (seen) => {
        const { answer } = seen.of(list)
        const [there, total] = [itemsOf(answer, seen)?.length, totalOf(answer, seen)]
        if (there === total) return undefined
        return finding(seen.of(list), 'body', `${total ?? 'nothing'} counted, and ${there ?? 'nothing'} listed`)
      },
    ],
    remedy,
  },
  'AUT-5/read': {
    title: 'The owner of one record cannot read another',
    steps: [setUp(usual.get(ownStep, asOther)), tried.get(theirs, asOther)],
    expect: [refused(tried)],
  },
  'AUT-5/update': {
    title: 'The owner of one record cannot change another',
    steps: [
      setUp(before.get(theirs)),
      setUp(usual.change(ownStep, { caller: 'other' })),
      tried.change(theirs, { caller: 'other' }),
      after.get(theirs),
    ],
    expect: [refused(tried), sameBody(after, before)],
  },
  'AUT-5/delete': {
    title: 'The owner of one record cannot delete another',
    steps: [tried.delete(theirs, { caller: 'other' }), after.get(theirs)],
    expect: [refused(tried), status(after, 200)],
  },
  'AUT-6/list-and-record': {
    title: 'The list contains exactly the records that the caller may read',
    after: ['AUT-4/own-list', 'AUT-5/read'],
    steps: [list.get(caseRecords, asOther), readOwn.get(ownStep, asOther), readTheirs.get(theirs, asOther)],
    expect: [[ownStep, readOwn] as const, [theirs, readTheirs] as const].map(([record, reading]) => (seen) => {
      const read = seen.of(reading)
      const isListed = listed(seen, seen.of(list).answer)?.includes(seen.fill(record.id)) ?? false
      if (isListed === (read.answer?.status === 200)) return undefined
      return finding(read, 'status', `${read.answer?.status}, and it is ${isListed ? '' : 'not '}in the list`)
    }),
    remedy: 'Make the question whether one may read a record and the condition of the list from one rule.',
  },
  'AUT-7/set': {
    title: 'The owner of a record is the caller who created it',
    expect: [
      (seen) =>
        seen.fill(ownStep.owner) === seen.fill(theirs.owner)
          ? finding(seen.of(ownStep), 'body', `both are said to be owned by ${seen.fill(ownStep.owner)}`)
          : undefined,
    ],
    remedy: 'Set the owner from the credential when a record is created.',
  },
  'AUT-7/sent': {
    title: 'A creation cannot set another owner',
    after: ['AUT-7/set'],
    prepare: [],
    steps: [
      create(theirs),
      sent.post(collection, { ...body.example, with: { [members.owner]: theirs.owner } }, asOther),
    ],
    expect: [notTheirs(sent)],
    remedy: 'Refuse the owner in the body of a request, or ignore it.',
  },
  'AUT-7/changed': {
    title: 'A change cannot set another owner',
    after: ['AUT-7/set'],
    steps: [changed.patch(ownStep, body.json({ [members.owner]: theirs.owner }), { caller: 'other' })],
    expect: [notTheirs(changed)],
    remedy: 'Refuse the owner in the body of a request, or ignore it.',
  },
})

/** Refused, or the owner is not the one that was sent. */
function notTheirs(step: Reference): Expectation {
  return (seen) => {
    const exchange = seen.of(step)
    const { answer } = exchange
    if (answer === undefined) return finding(exchange, 'connection', `no answer came: ${exchange.failure}`)
    if (answer.status >= 300 || seen.fill(step.owner) !== seen.fill(theirs.owner)) return undefined
    return finding(exchange, 'body', `it is owned by ${seen.fill(theirs.owner)}, as was sent`)
  }
}
