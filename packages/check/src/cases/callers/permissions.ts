/** AUT-3 to AUT-7: what a caller without permission cannot do, and what belongs to another caller. */

import type { Case, Expectation, Step } from '../../case/case.ts'
import { common, type Draft, define, defineEach } from '../../case/define.ts'
import {
  answerOf,
  finding,
  itemsOf,
  refused,
  sameBody,
  status,
  totalOf,
  unexpected,
  unless,
} from '../../case/expect.ts'
import { idsOf } from '../../case/expect-list.ts'
import { isExactly, isListed } from '../../case/expect-records.ts'
import { after, all, before, changed, list, one, removed } from '../../case/names.ts'
import type { Need } from '../../case/needs.ts'
import { readyIf } from '../../case/preconditions.ts'
import { caseRecords, collection, members, Reference } from '../../case/references.ts'
import { asOther, body, create, createByOther, setUp } from '../../case/steps.ts'

const [triedStep, filtered, theirs, usual, ownStep] = Reference.named('tried', 'filtered', 'theirs', 'usual', 'own')
const [tried, readOwn, readTheirs, sent] = Reference.named('tried', 'read own', 'read theirs', 'sent')

const checkPermission =
  'Decide for each resource and action whether the caller may do it, and answer 403 before anything is done.'

function withoutEffect(words: string, closed: Need, step: Step): Draft {
  return {
    title: `Somebody who may do nothing is refused ${words}, and the record stays as it was`,
    needs: [closed],
    steps: [create(one), setUp(before.get(one)), step, after.get(one)],
    expect: [refused(triedStep), status(after, 200), sameBody(after, before)],
    remedy: checkPermission,
  }
}

const triedPatch = triedStep.send('PATCH', one, { ...asOther, body: body.change })
const triedDelete = triedStep.delete(one, asOther)
const triedBulk = triedStep.post(`${collection}/bulk-delete`, body.json({ ids: [one.id] }), asOther)

const requests = [
  { name: 'create', request: triedStep.post(collection, body.example, asOther) },
  { name: 'read', request: triedStep.get(one, asOther) },
  { name: 'update', request: triedPatch },
  { name: 'delete', request: triedDelete },
] as const

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
    'AUT-3/update': withoutEffect('PATCH', 'no update', triedPatch),
    'AUT-3/replace': withoutEffect('PUT', 'no update', triedStep.put(one, body.example, asOther)),
    'AUT-3/delete': withoutEffect('DELETE', 'no delete', triedDelete),
    'AUT-3/bulk-delete': withoutEffect('bulk-delete', 'no delete', triedBulk),
    'AUT-3/delete-by-filter': {
      ...withoutEffect('the deletion by filter', 'no delete', triedDelete),
      needsOnly: ['create', 'read', 'list', 'delete-by-filter', 'marker', 'other', 'no delete'],
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
  ...defineEach('AUT-4/', requests, ({ name, request }) => ({
    title: `What somebody may not ${name} is answered 403: who they are is known`,
    needs: [`no ${name}`],
    after: [`AUT-3/${name}`],
    steps: [create(one), request],
    expect: [status(triedStep, 403)],
    remedy: 'Answer 401 if the caller is unknown, and 403 if the caller has no permission.',
  })),
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
        answerOf(triedStep, (answer, seen, tried) => {
          if (answer.status === 403) return undefined
          if (answer.status !== 200) return unexpected(tried, '403, or 200 without it')
          if (itemsOf(answer, seen)?.length !== 0) return 'the list is not empty'
          const total = totalOf(answer, seen) ?? 0
          return unless(total === 0, `${total} are counted in place of 0`)
        }),
      ],
      remedy: 'Put what the caller may read into the query of the list and of its total alike, as a condition.',
    },
  }),
]

const remedy = 'Put what the caller may read into the query of the list and of its total alike, as a condition.'
const checkEachRecord =
  'Ask for each record whether the caller may do this with it: that they own another says nothing.'

export const ownRecords = common({
  needs: ['owner'],
  remedy: checkEachRecord,
  prepare: [create(theirs), createByOther(ownStep)],
}).define({
  'AUT-4/own-list': {
    title: 'A list excludes records of others that the caller may not read',
    steps: [list.get(caseRecords, asOther)],
    expect: [
      status(list, 200),
      (seen) =>
        idsOf(seen.of(list).answer, seen)?.includes(seen.fill(theirs.id)) === false
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
      const isShown = isListed(list, record)(seen)
      if (isShown === (read.answer?.status === 200)) return undefined
      return finding(read, 'status', `${read.answer?.status}, and it is ${isShown ? '' : 'not '}in the list`)
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
  return answerOf(step, ({ status }, seen) => {
    const owner = seen.fill(theirs.owner)
    return unless(status >= 300 || seen.fill(step.owner) !== owner, `it is owned by ${owner}, as was sent`)
  })
}
