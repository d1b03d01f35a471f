import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceFixture } from './catalog.fixture.ts'
import { snapshotColumns } from './columns.ts'
import { eventSpecOf } from './event-columns.ts'

const fields = {
  title: { type: 'string', filter: true },
  team: { type: 'string', filter: true },
  price: 'decimal',
  pin: { type: 'string', writeOnly: true },
  owner_id: 'string',
} as const
const nobody = { read: [], create: [], update: [], delete: [], restore: [], readDeleted: [] }

function specOf(access: Partial<typeof nobody> | Record<string, unknown>) {
  const spec = eventSpecOf(
    resourceFixture('tasks', fields, { events: true, owner: 'owner_id', access: { ...nobody, ...access } as never }),
  )
  const names = (columns: readonly { readonly name: string }[] = []) => columns.map(({ name }) => name).join()
  return [names(spec?.columns), names(spec?.kept)]
}

const values = 'title,team,price,owner_id'

test('an event contains the values of the record; that of a deletion only what read rules compare', () => {
  assert.deepEqual(specOf({ read: ['anyone'] }), [`${values},created_at,updated_at`, ''])
  assert.deepEqual(specOf({ read: ['owner', { where: { team: 'a', price: { gte: '1' } } }] }), [
    'title,team,_folded_team,price,_decimal_price,owner_id,created_at,updated_at',
    'team,_folded_team,price,_decimal_price,owner_id',
  ])
  assert.deepEqual(
    specOf({ readDeleted: [{ where: { deleted_at: { gt: '2026' } } }], update: ['owner'] })[1],
    'deleted_at',
  )
})

test('a rule that is a function may compare everything but writeOnly fields', () => {
  const all = 'title,_folded_title,team,_folded_team,price,_decimal_price,owner_id,created_at,updated_at'
  assert.deepEqual(specOf({ read: [() => true] }), [all, `${all},deleted_at`])
})

test('without events there is nothing; whoever reads them finds each column of the table', () => {
  const resource = resourceFixture('tasks', fields)
  assert.equal(eventSpecOf(resource), undefined)
  assert.equal(snapshotColumns(resource).length, 5 + 3 + 3)
})
