import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { always } from 'resourced-contract/model/predicate'
import type { Question } from '../../../plan/decide.ts'
import { postgres } from '../../postgres/dialect.ts'
import { sqlContext } from '../../sql/context.ts'
import { sqlite } from '../../sqlite/dialect.ts'
import type { Statement } from '../../transaction.ts'
import { ask, resourceOf } from './other-records.ts'

const catalog = completeCatalog({
  name: 'seats',
  resources: { seats: { fields: { flag: { type: 'boolean' } }, unique: [['flag']] } },
})
const taken: Question = { kind: 'taken', fields: ['flag'], keys: [true], except: 'this' }
const rule: Question = { kind: 'rule', collection: 'seats', where: always } as Question

// Not every Node.js that is supported binds booleans to statements of SQLite, and columns are integers on both engines.
for (const [name, dialect] of Object.entries({ sqlite, postgres })) {
  for (const questions of [[taken], [taken, rule]]) {
    const kinds = questions.map(({ kind }) => kind).join(' and ')
    test(`DEL-11: unique values are bound as the engine stores them: ${kinds} on ${name}`, () => {
      const context = sqlContext({ catalog, dialect })
      const asked = ask(context, resourceOf(catalog, 'seats'), questions).next().value as Statement
      assert.deepEqual(asked.values, [1, 'this'])
    })
  }
}
