/**
 * AUT-13: every caller, every form of rule, every way to see a value, against a model written by hand. Each answer is
 * searched for the bytes of values that its caller may not see.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  callers,
  type Employee,
  type Office,
  openOffice,
  type Restricted,
  restricted,
  seesAlways,
  seesNever,
  shown,
} from './field-access/office.ts'

type Seen = Readonly<Record<string, unknown>>

function check(
  office: Office,
  as: (typeof callers)[number],
  record: Seen,
  names: readonly string[] = restricted,
): void {
  const employee = office.employees.find(({ id }) => id === record['id'])
  assert.ok(employee !== undefined)
  for (const field of restricted) {
    if (!names.includes(field)) continue
    assert.deepEqual(
      record[field],
      shown(as, field, employee, office.ledByBob),
      `${as} sees ${field} of ${employee.name}`,
    )
  }
}

async function exported(office: Office, as: (typeof callers)[number], format: string, version = 'v2'): Promise<string> {
  const made = await office.ask({ path: `/${version}/exports`, body: { collection: 'employees', format }, as })
  assert.equal(made.status, 202, made.text)
  for (let time = 0; time < 600; time++) {
    await office.app.runner.idle()
    const file = await office.ask({ path: `/${version}/exports/${made.json.job_id}/content`, as })
    if (file.status === 200) return file.text
    assert.equal(file.status, 202, file.text)
    await sleep(10)
  }
  throw new Error('The export does not end.')
}

describe('fields that not every caller may read', () => {
  it('AUT-13: in records, lists, older versions, exports and responses to changes', async (context) => {
    const office = await openOffice(context)
    for (const as of callers) {
      for (const { id } of office.employees) {
        const path = `/v2/employees/${id}`
        const read = await office.ask({ path, as })
        check(office, as, read.json)
        // From memory.
        check(office, as, (await office.ask({ path, as })).json)
        check(office, as, (await office.ask({ path: `${path}?fields=salary,note`, as })).json, ['salary', 'note'])
        const tag = String(read.headers['etag'])
        assert.equal((await office.ask({ path, as, headers: { 'if-none-match': tag } })).status, 304)
        const older = await office.ask({ path: `/v1/employees/${id}`, as })
        check(office, as, { ...older.json, salary: older.json.pay, note: older.json.remark })
        // What is sent back changes nothing.
        const same = await office.ask({ path, as, method: 'PUT', body: read.json })
        assert.deepEqual([same.status, same.headers['etag']], [200, tag], same.text)
        check(office, as, same.json)
        const sameOlder = await office.ask({ path: `/v1/employees/${id}`, as, method: 'PUT', body: older.json })
        assert.equal(sameOlder.status, 200, sameOlder.text)
        const renamed = await office.ask({ path, as, method: 'PATCH', body: { name: `By ${as}` } })
        check(office, as, renamed.json)
        const patch = [{ op: 'replace', path: '/name', value: `Again by ${as}` }]
        const type = { 'content-type': 'application/json-patch+json' }
        check(office, as, (await office.ask({ path, as, method: 'PATCH', body: patch, headers: type })).json)
      }
      for (const query of [
        '',
        '?per_page=5',
        '?offset=2&limit=3',
        '?sort=name',
        '?sort=-name&limit=2',
        '?q=person',
        '?include_deleted=true',
      ]) {
        const { json, text } = await office.ask({ path: `/v2/employees${query}`, as })
        assert.ok(Array.isArray(json.data), text)
        for (const record of json.data) check(office, as, record)
      }
      const asked = await office.ask({ path: '/v2/employees', method: 'QUERY', body: { limit: 50 }, as })
      assert.equal(asked.status, 200, asked.text)
      for (const record of asked.json.data) check(office, as, record)
      for (const record of JSON.parse(await exported(office, as, 'json'))) check(office, as, record)
      for (const line of (await exported(office, as, 'ndjson')).trim().split('\n')) check(office, as, JSON.parse(line))
      assert.equal((await exported(office, as, 'csv')).trim().split('\r\n').length, office.employees.length + 1)
      await exported(office, as, 'json', 'v1')
      for (const { id } of office.employees.slice(0, 2)) {
        const path = `/v2/employees/${id}`
        assert.equal(
          (await office.ask({ path, as, method: 'DELETE', headers: { prefer: 'return=representation' } })).status,
          200,
        )
        const back = await office.ask({ path: `${path}/restore`, as, method: 'POST' })
        assert.equal(back.status, 200, back.text)
        check(office, as, back.json)
      }
    }
  })

  it('AUT-13: filters see null in place of what the caller may not read', async (context) => {
    const office = await openOffice(context)
    const { employees, ledByBob } = office
    const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id).sort()
    const values: Readonly<Record<string, readonly (string | number)[]>> = {
      salary: [7_310_001, 7_310_008],
      note: ['note1n marvel', 'note6n marvel'],
      rating: [0.641_017, 0.641_077, 0.641_027],
      badge: ['badge3b'],
      grade: ['junior'],
    }
    const operators: Readonly<Record<string, (seen: never, value: never) => boolean>> = {
      '': (seen, value) => seen === value,
      '[in]': (seen, value) => seen === value,
      '[not]': (seen, value) => seen !== value,
      '[gt]': (seen, value) => seen !== null && seen > value,
      '[lte]': (seen, value) => seen !== null && seen <= value,
    }
    let asked = 0
    for (const as of callers) {
      for (const [field, all] of Object.entries(values) as [Restricted, readonly (string | number)[]][]) {
        const seenOf = (employee: Employee) => shown(as, field, employee, ledByBob)
        const expect = async (query: string, matches: (employee: Employee) => boolean) => {
          asked++
          const answer = await office.ask({ path: `/v2/employees?limit=50&${query}`, as })
          if (seesNever(as, field)) {
            assert.equal(answer.status, 403, answer.text)
            assert.equal(answer.json.errors[0].parameter, field)
            return
          }
          assert.equal(answer.status, 200, answer.text)
          const expected = employees.filter(matches)
          assert.deepEqual(ids(answer.json.data), ids(expected), `${as} ${query}`)
          assert.equal(answer.json.pagination.total_count, expected.length)
        }
        for (const value of all) {
          for (const [operator, holds] of Object.entries(operators)) {
            if (field === 'grade' && (operator === '[gt]' || operator === '[lte]')) continue
            await expect(`${field}${operator}=${value}`, (each) => holds(seenOf(each) as never, value as never))
          }
        }
        await expect(`${field}[null]=true`, (each) => seenOf(each) === null)
        await expect(`${field}[null]=false`, (each) => seenOf(each) !== null)
        if (field === 'note' || field === 'badge') {
          await expect(`${field}[contains]=E1`, (each) => String(seenOf(each) ?? '').includes('e1'))
          await expect(`${field}[starts_with]=note`, (each) => String(seenOf(each) ?? '').startsWith('note'))
        }
      }
      const found = await office.ask({ path: '/v2/employees?q=marvel&limit=50', as })
      assert.deepEqual(ids(found.json.data), ids(employees.filter((each) => each.is_public)))
      const older = await office.ask({ path: '/v1/employees?q=marvel&limit=50', as })
      assert.deepEqual(ids(older.json.data), ids(found.json.data))
      for (const field of ['salary', 'note', 'rating', 'grade'] as const) {
        const sorted = await office.ask({ path: `/v2/employees?sort=-${field}&limit=2`, as })
        assert.equal(sorted.status, seesAlways(as, field) ? 200 : 403, sorted.text)
      }
    }
    assert.ok(asked > 150, `${asked} filters`)
  })
})
