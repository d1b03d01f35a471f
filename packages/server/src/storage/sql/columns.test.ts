import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnSql, subjectSql, tableSql } from './columns.ts'

test('a name that a job keeps in the database ends no identifier', () => {
  const name = 'a" from secrets --'
  assert.equal(columnSql('t', name).sql, 't."a"" from secrets --"')
  assert.equal(tableSql(name).sql, '"a"" from secrets --"')
  assert.equal(subjectSql(name).sql, '"a"" from secrets --" t')
})
