/** AUT-4 to AUT-7 where both callers make records, and each is to have to do with their own alone. */
import type { Case, Step } from '../case/case.ts'
import { altogether, finding, itemsOf, refused, sameBody, status, totalOf } from '../case/expect.ts'
import { given, record, when, whereDemanded } from '../case/steps.ts'

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

export const ownRecords: readonly Case[] = [
  {
    id: 'AUT-4/own-list',
    title: 'A list leaves out the records of others that its reader may not read',
    kind: 'changing',
    needs: ['create', 'list', 'marker', 'owner', 'other'],
    steps: [record('theirs'), own, when('list', 'GET', '{collection}?{mine}', { caller: 'other' })],
    expect: [
      status('list', 200),
      altogether('the record of another is not there', (seen) =>
        listed(seen, seen.of('list').answer)?.includes(seen.fill('{theirs.id}')) === false
          ? undefined
          : finding(seen.of('list'), 'body', `the record ${seen.fill('{theirs.id}')} of another is listed`),
      ),
    ],
    mend,
  },
  {
    id: 'AUT-4/own-total',
    title: 'The total of a list counts what its reader may read',
    kind: 'changing',
    needs: ['create', 'list', 'marker', 'owner', 'other'],
    after: ['AUT-4/own-list'],
    steps: [record('theirs'), own, when('list', 'GET', '{collection}?{mine}', { caller: 'other' })],
    expect: [
      altogether('as many are counted as are listed', (seen) => {
        const { answer } = seen.of('list')
        const [there, total] = [itemsOf(answer, seen)?.length, totalOf(answer, seen)]
        return there === total
          ? undefined
          : finding(seen.of('list'), 'body', `${total ?? 'nothing'} counted, and ${there ?? 'nothing'} listed`)
      }),
    ],
    mend,
  },
  {
    id: 'AUT-5/read',
    title: 'Who owns one record cannot read another',
    kind: 'changing',
    needs: ['create', 'read', 'owner', 'other'],
    steps: [
      record('theirs'),
      own,
      given('usual', 'GET', '{own}', { caller: 'other' }),
      when('tried', 'GET', '{theirs}', { caller: 'other' }),
    ],
    expect: [refused('tried')],
    mend: mendOwner,
  },
  {
    id: 'AUT-5/update',
    title: 'Who owns one record cannot change another',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'owner', 'other'],
    steps: [
      record('theirs'),
      own,
      given('before', 'GET', '{theirs}'),
      given('usual', 'PATCH', '{own}', { caller: 'other', headers: whereDemanded, body: { from: 'change' } }),
      when('tried', 'PATCH', '{theirs}', { caller: 'other', headers: whereDemanded, body: { from: 'change' } }),
      when('after', 'GET', '{theirs}'),
    ],
    expect: [refused('tried'), sameBody('after', 'before')],
    mend: mendOwner,
  },
  {
    id: 'AUT-5/delete',
    title: 'Who owns one record cannot delete another',
    kind: 'changing',
    needs: ['create', 'read', 'delete', 'owner', 'other'],
    steps: [
      record('theirs'),
      own,
      when('tried', 'DELETE', '{theirs}', { caller: 'other', headers: whereDemanded }),
      when('after', 'GET', '{theirs}'),
    ],
    expect: [refused('tried'), status('after', 200)],
    mend: mendOwner,
  },
  {
    id: 'AUT-6/list-and-record',
    title: 'What somebody may read is in their list, and what is in their list they may read',
    kind: 'changing',
    needs: ['create', 'list', 'read', 'marker', 'owner', 'other'],
    after: ['AUT-4/own-list', 'AUT-5/read'],
    steps: [
      record('theirs'),
      own,
      when('list', 'GET', '{collection}?{mine}', { caller: 'other' }),
      when('read own', 'GET', '{own}', { caller: 'other' }),
      when('read theirs', 'GET', '{theirs}', { caller: 'other' }),
    ],
    expect: ['own', 'theirs'].map((name) =>
      altogether(`the record ${name} is listed where it can be read`, (seen) => {
        const read = seen.of(`read ${name}`)
        const isListed = listed(seen, seen.of('list').answer)?.includes(seen.fill(`{${name}.id}`)) ?? false
        if (isListed === (read.answer?.status === 200)) return undefined
        return finding(read, 'status', `${read.answer?.status}, and it is ${isListed ? '' : 'not '}in the list`)
      }),
    ),
    mend: 'Make the question whether one may read a record and the condition of the list from one rule.',
  },
  {
    id: 'AUT-7/set',
    title: 'The owner of a record is who has made it',
    kind: 'changing',
    needs: ['create', 'owner', 'other'],
    steps: [record('theirs'), own],
    expect: [
      altogether('the records of two callers have two owners', (seen) =>
        seen.fill('{own.owner}') === seen.fill('{theirs.owner}')
          ? finding(seen.of('own'), 'body', `both are said to be owned by ${seen.fill('{own.owner}')}`)
          : undefined,
      ),
    ],
    mend: 'Set the owner from the credential when a record is created.',
  },
  {
    id: 'AUT-7/sent',
    title: 'Nobody creates a record that is owned by another',
    kind: 'changing',
    needs: ['create', 'owner', 'other'],
    after: ['AUT-7/set'],
    steps: [
      record('theirs'),
      when('sent', 'POST', '{collection}', {
        caller: 'other',
        body: { from: 'example', with: { '{member:owner}': '{theirs.owner}' } },
      }),
    ],
    expect: [notTheirs('sent')],
    mend: 'Refuse the owner in what clients send, or take no notice of it.',
  },
  {
    id: 'AUT-7/changed',
    title: 'Nobody makes a record over to another by a change',
    kind: 'changing',
    needs: ['create', 'update', 'owner', 'other'],
    after: ['AUT-7/set'],
    steps: [
      record('theirs'),
      own,
      when('changed', 'PATCH', '{own}', {
        caller: 'other',
        headers: whereDemanded,
        body: { json: { '{member:owner}': '{theirs.owner}' } },
      }),
    ],
    expect: [notTheirs('changed')],
    mend: 'Refuse the owner in what clients send, or take no notice of it.',
  },
]

/** Refused, or the owner is not the one that was sent. */
function notTheirs(step: string) {
  return altogether('is refused, or has no effect', (seen) => {
    const exchange = seen.of(step)
    const { answer } = exchange
    if (answer === undefined) return finding(exchange, 'connection', `no answer came: ${exchange.failure}`)
    if (answer.status >= 300 || seen.fill(`{${step}.owner}`) !== seen.fill('{theirs.owner}')) return undefined
    return finding(exchange, 'body', `it is owned by ${seen.fill('{theirs.owner}')}, as was sent`)
  })
}
