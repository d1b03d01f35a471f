/** AUT-3 and AUT-4: what somebody may not do who may do nothing. */
import type { Case, Step } from '../case/case.ts'
import { altogether, finding, itemsOf, refused, sameBody, status, totalOf } from '../case/expect.ts'
import { isExactly } from '../case/expect-records.ts'
import { given, provided, record, when, whereDemanded } from '../case/steps.ts'

const mendRight =
  'Decide for each resource and action whether the caller may do it, and answer 403 before anything is done.'

/** Somebody who may do nothing tries to change a record; it stays as it was. */
function withoutEffect(action: 'update' | 'replace' | 'delete' | 'bulk-delete' | 'delete-by-filter', step: Step): Case {
  return {
    id: `AUT-3/${action}`,
    title: `Somebody who may do nothing is refused ${words[action]}, and the record stays as it was`,
    kind: 'changing',
    needs: ['create', 'read', action, 'other', closedTo[action], ...(action === 'update' ? (['change'] as const) : [])],
    steps: [record(), given('before', 'GET', '{one}'), step, when('after', 'GET', '{one}')],
    expect: [refused('tried'), status('after', 200), sameBody('after', 'before')],
    mend: mendRight,
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

const asOther = { caller: 'other', headers: whereDemanded } as const

/** Whoever may not do a thing does not get it done, and is told so. */
export const permissions: readonly Case[] = [
  {
    id: 'AUT-3/create',
    title: 'Somebody who may do nothing cannot create',
    kind: 'changing',
    needs: ['create', 'other', 'no create'],
    steps: [record(), when('tried', 'POST', '{collection}', { caller: 'other', body: { from: 'example' } })],
    expect: [refused('tried')],
    mend: mendRight,
  },
  {
    id: 'AUT-3/read',
    title: 'Somebody who may do nothing cannot read a record',
    kind: 'changing',
    needs: ['create', 'read', 'other', 'no read'],
    steps: [record(), when('tried', 'GET', '{one}', { caller: 'other' })],
    expect: [refused('tried')],
    mend: mendRight,
  },
  withoutEffect('update', when('tried', 'PATCH', '{one}', { ...asOther, body: { from: 'change' } })),
  withoutEffect('replace', when('tried', 'PUT', '{one}', { ...asOther, body: { from: 'example' } })),
  withoutEffect('delete', when('tried', 'DELETE', '{one}', asOther)),
  withoutEffect(
    'bulk-delete',
    when('tried', 'POST', '{collection}/bulk-delete', { caller: 'other', body: { json: { ids: ['{one.id}'] } } }),
  ),
  {
    ...withoutEffect('delete-by-filter', when('tried', 'DELETE', '{collection}?{mine}', { caller: 'other' })),
    needs: ['create', 'read', 'list', 'delete-by-filter', 'marker', 'other', 'no delete'],
    // Where neither filters nor callers are heeded, all would be lost.
    after: ['QRY-1/equal', 'QRY-1/none'],
    steps: [
      record(),
      given('before', 'GET', '{one}'),
      given('filtered', 'GET', '{collection}?{mine}'),
      provided('the filter was not seen to find exactly what was made for it', isExactly('filtered', 'one')),
      when('tried', 'DELETE', '{collection}?{mine}', {
        caller: 'other',
        headers: { Prefer: 'handling=strict, max-affected=1' },
      }),
      when('after', 'GET', '{one}'),
    ],
  },
  {
    id: 'AUT-3/restore',
    title: 'Somebody who may do nothing cannot bring a deleted record back',
    kind: 'changing',
    needs: ['create', 'read', 'delete', 'restore', 'soft', 'other', 'no delete'],
    steps: [
      record(),
      given('deleted', 'DELETE', '{one}', { headers: whereDemanded }),
      when('tried', 'POST', '{one}/restore', { caller: 'other' }),
      when('after', 'GET', '{one}'),
    ],
    expect: [refused('tried'), status('after', 404)],
    mend: mendRight,
  },
  ...(['create', 'read', 'update', 'delete'] as const).map((action): Case => {
    const before = permissionsOf(action)
    return {
      id: `AUT-4/${action}`,
      title: `What somebody may not ${action} is answered 403: who they are is known`,
      kind: 'changing',
      needs: ['create', action, 'other', `no ${action}`, ...(action === 'update' ? (['change'] as const) : [])],
      after: [`AUT-3/${action}`],
      steps: [record(), before],
      expect: [status('tried', 403)],
      mend: 'Answer 401 where nobody knows who asks, and 403 where one knows and they may not.',
    }
  }),
  {
    id: 'AUT-4/list',
    title: 'Records that somebody may not read are neither in their lists nor counted',
    kind: 'changing',
    needs: ['create', 'list', 'marker', 'other', 'no read'],
    steps: [
      record(),
      given('all', 'GET', '{collection}?{mine}'),
      when('tried', 'GET', '{collection}?{mine}', { caller: 'other' }),
    ],
    expect: [
      altogether('the record is in the list of who may read it', (seen) =>
        itemsOf(seen.of('all').answer, seen)?.length === 1
          ? undefined
          : finding(seen.of('all'), 'body', 'the record that was made is not in the list'),
      ),
      altogether('answers 403, or 200 without it', (seen) => {
        const tried = seen.of('tried')
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
    mend: 'Put what the caller may read into the query of the list and of its total alike, as a condition.',
  },
]

function permissionsOf(action: 'create' | 'read' | 'update' | 'delete') {
  switch (action) {
    case 'create':
      return when('tried', 'POST', '{collection}', { caller: 'other', body: { from: 'example' } })
    case 'read':
      return when('tried', 'GET', '{one}', { caller: 'other' })
    case 'update':
      return when('tried', 'PATCH', '{one}', { ...asOther, body: { from: 'change' } })
    case 'delete':
      return when('tried', 'DELETE', '{one}', asOther)
  }
}
