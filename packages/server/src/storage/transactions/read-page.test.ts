import assert from 'node:assert/strict'
import { test } from 'node:test'
import { always } from 'resourced-contract/model/predicate'
import type { ReadPage } from '../../plan/plan.ts'
import { Memory } from './memory.ts'
import { context, explained, openStore, resource } from './query-plan.fixture.ts'
import { answerRead, plainRead, readerOf } from './read-page.ts'

test('a page that was read elsewhere is remembered at the state that it was read at', (t) => {
  const store = openStore()
  t.after(() => store.close())
  const plan: ReadPage = {
    ...{ kind: 'read-page', resource: resource('goods'), parent: undefined, filter: always, permitted: always },
    ...{ search: undefined, deleted: undefined, sort: [], fields: undefined, conditions: {}, key: '/goods?page=900' },
    page: { style: 'page', page: 900, perPage: 20 },
  }
  const memory = new Memory()
  for (let time = 0; time < 2; time++) {
    const { outcome, state } = store.run(readerOf(context)(plainRead(plan)))
    assert.equal(state, 1)
    memory.keepAnswer(plan, state, outcome)
  }
  const { result, statements } = explained(store, answerRead(context, memory, plan, 'all'))
  assert.ok(result?.kind === 'page' && result.count === 20)
  assert.equal(statements.length, 1, 'the clock is read, and no page')
  store.database.exec("update resourced_clocks set revision = 2 where collection = 'goods'")
  memory.changed()
  assert.ok(explained(store, answerRead(context, memory, plan, 'all')).statements.length > 1)
})
