import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { sqlContext } from '../sql/context.ts'
import { costsOf, explained } from '../transactions/query-plan.fixture.ts'
import { eraseAnswers } from '../transactions/rows/kept-answers.ts'
import { Connection } from './connection.ts'
import { sqlite } from './dialect.ts'
import { migrate } from './migrate.ts'

test('kept answers of a record are found by indexes, and erased by some megabytes at a time (HIS-4)', (context) => {
  const catalog = completeCatalog({ name: 'library', resources: { books: { fields: {}, history: true } } })
  const connection = new Connection(':memory:')
  context.after(() => connection.close())
  migrate(connection.database, catalog, { apply: 'additive', now: 0 })
  const sql = sqlContext({ catalog, dialect: sqlite })
  connection.database.exec(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 50)
    insert into resourced_answers (scope, record, place, body)
      select 'key' || i, iif(i > 40, 'other', 'book'), 0, printf('%.*c', 200000, 'x') from n`)
  const bodies = () => connection.row('select count(*) as count from resourced_answers where place >= 0')['count']
  const left: unknown[] = []
  for (let more = true; more; ) {
    const { result, statements } = explained(connection, eraseAnswers(sql, ['book', 'page']))
    assert.deepEqual(costsOf(statements), { scans: [], walks: [], sorts: [] })
    more = result
    left.push(bodies())
  }
  assert.deepEqual(left, [40, 30, 20, 10])
  const large = `insert into resourced_answers (scope, record, place, body) values ('large', 'book', 0, printf('%.*c', 9000000, 'x'))`
  connection.database.exec(large)
  assert.equal(connection.run(eraseAnswers(sql, ['book'])), false)
  assert.equal(bodies(), 10)
})
