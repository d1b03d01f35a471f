/** AUT-3 and AUT-4: what somebody may not do who may do nothing. */
import type { Case, Step } from '../case/case.ts'
import { define } from '../case/define.ts'
import { altogether, finding, itemsOf, refused, sameBody, status, totalOf } from '../case/expect.ts'
import { isExactly } from '../case/expect-records.ts'
import { after, all, before as beforeStep, one, removed } from '../case/names.ts'
import { caseRecords, collection, ifRequired, references } from '../case/references.ts'
import { asOther, body, create, readyIf, setUp } from '../case/steps.ts'

const [triedStep, filtered] = references('tried', 'filtered')

const mendRight =
  'Decide for each resource and action whether the caller may do it, and answer 403 before anything is done.'

/** Somebody who may do nothing tries to change a record; it stays as it was. */
function withoutEffect(action: 'update' | 'replace' | 'delete' | 'bulk-delete' | 'delete-by-filter', step: Step): Case {
  return {
    id: `AUT-3/${action}`,
    title: `Somebody who may do nothing is refused ${words[action]}, and the record stays as it was`,
    kind: 'changing',
    needs: ['create', 'read', action, 'other', closedTo[action], ...(action === 'update' ? (['change'] as const) : [])],
    steps: [create(one), setUp(beforeStep.get(one)), step, after.get(one)],
    expect: [refused(triedStep), status(after, 200), sameBody(after, beforeStep)],
    remedy: mendRight,
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

const asOtherIfRequired = { caller: 'other', ...ifRequired } as const

/** Whoever may not do a thing does not get it done, and is told so. */
export const permissions: readonly Case[] = [
  ...define({
    'AUT-3/create': {
      title: 'Somebody who may do nothing cannot create',
      needs: ['no create'],
      steps: [create(one), triedStep.post(collection, body.example, asOther)],
      expect: [refused(triedStep)],
      remedy: mendRight,
    },
    'AUT-3/read': {
      title: 'Somebody who may do nothing cannot read a record',
      needs: ['no read'],
      steps: [create(one), triedStep.get(one, asOther)],
      expect: [refused(triedStep)],
      remedy: mendRight,
    },
  }),
  withoutEffect('update', triedStep.send('PATCH', one, { ...asOtherIfRequired, body: body.change })),
  withoutEffect('replace', triedStep.send('PUT', one, { ...asOtherIfRequired, body: body.example })),
  withoutEffect('delete', triedStep.delete(one, asOtherIfRequired)),
  withoutEffect('bulk-delete', triedStep.post(`${collection}/bulk-delete`, body.json({ ids: [one.id] }), asOther)),
  {
    ...withoutEffect('delete-by-filter', triedStep.delete(caseRecords, asOther)),
    needs: ['create', 'read', 'list', 'delete-by-filter', 'marker', 'other', 'no delete'],
    // Where neither filters nor callers are heeded, all would be lost.
    after: ['QRY-1/equal', 'QRY-1/none'],
    steps: [
      create(one),
      setUp(beforeStep.get(one)),
      setUp(filtered.get(caseRecords)),
      readyIf(isExactly(filtered, one), 'the filter was not seen to find exactly what was made for it'),
      triedStep.delete(caseRecords, { caller: 'other', headers: { Prefer: 'handling=strict, max-affected=1' } }),
      after.get(one),
    ],
  },
  ...define({
    'AUT-3/restore': {
      title: 'Somebody who may do nothing cannot bring a deleted record back',
      needs: ['no delete', 'soft'],
      steps: [
        create(one),
        setUp(removed.delete(one, ifRequired)),
        triedStep.post(`${one}/restore`, undefined, asOther),
        after.get(one),
      ],
      expect: [refused(triedStep), status(after, 404)],
      remedy: mendRight,
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
      remedy: 'Answer 401 where nobody knows who asks, and 403 where one knows and they may not.',
    }
  }),
  ...define({
    'AUT-4/list': {
      title: 'Records that somebody may not read are neither in their lists nor counted',
      needs: ['no read'],
      steps: [create(one), setUp(all.get(caseRecords)), triedStep.get(caseRecords, asOther)],
      expect: [
        altogether('the record is in the list of who may read it', (seen) =>
          itemsOf(seen.of(all).answer, seen)?.length === 1
            ? undefined
            : finding(seen.of(all), 'body', 'the record that was made is not in the list'),
        ),
        altogether('answers 403, or 200 without it', (seen) => {
          const tried = seen.of(triedStep)
          const { answer } = tried
          if (answer === undefined) return finding(tried, 'connection', `no answer came: ${tried.failure}`)
          if (answer.status === 403) return undefined
          if (answer.status !== 200)
            return finding(tried, 'status', `${answer.status} in place of 403, or 200 without it`)
          if (itemsOf(answer, seen)?.length !== 0) return finding(tried, 'body', 'the list is not empty')
          const total = totalOf(answer, seen) ?? 0
          return total === 0 ? undefined : finding(tried, 'body', `${total} are counted in place of 0`)
        }),
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
      return triedStep.send('PATCH', one, { ...asOtherIfRequired, body: body.change })
    case 'delete':
      return triedStep.delete(one, asOtherIfRequired)
  }
}
