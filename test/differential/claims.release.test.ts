/**
 * AUT-6: odd claims, types and operators: both engines select the same records, which are those that a comparison by
 * value selects. Business rules compare fields of two types in the same way.
 */
import './same-ids.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuthenticateOption } from '../../packages/server/src/policy/own-credentials.ts'
import { whyNoDatabase } from '../postgres/database.ts'
import type { Form, Judged } from './claims.ts'
import type { Answered, Twins } from './twins.ts'

const { openTwins } = await import('./twins.ts')
const { codes, declaration, forms, records, types, v, values } = await import('./claims.ts')

let claims: Readonly<Record<string, unknown>> = {}
const authenticate: AuthenticateOption = ({ headers }) =>
  headers['x-claims'] === undefined ? undefined : { id: 'ann', roles: [], claims }

let number = 0

/** What both engines answer, which must be the same. */
async function ask(
  twins: Twins,
  method: string,
  target: string,
  { body, as }: { body?: string; as?: object },
): Promise<Answered> {
  claims = { ...as }
  const headers = { ...(body !== undefined && { 'content-type': 'application/json' }), ...(as && { 'x-claims': '1' }) }
  const sent = { number: ++number, at: Date.UTC(2026, 0, 1) + number, as: 'root', method, target, headers } as const
  const [sqlite, postgres] = await twins.ask({ ...sent, ...(body !== undefined && { body }) })
  assert.deepEqual(postgres, sqlite, `${method} ${target} ${body} as ${show(as)}`)
  assert.deepEqual(sqlite.failures, [])
  return sqlite
}

const show = (value: unknown) =>
  JSON.stringify(value, (_, each: unknown) => (typeof each === 'number' ? String(each) : each))

test('the same claims select the same records on both engines, by value', { timeout: 1_200_000 }, async (context) => {
  assert.equal(whyNoDatabase, undefined)
  const twins = await openTwins(declaration, authenticate)
  context.after(() => twins.close())
  const ids: string[] = []
  for (const body of records) {
    const { status, body: text } = await ask(twins, 'POST', '/v1/things', { body: JSON.stringify(body) })
    assert.equal(status, 201, text)
    ids.push(JSON.parse(text).id)
  }
  const seen = { selected: 0, unknown: 0 }
  for (const field of Object.keys(types) as Judged[]) {
    for (const { of, result } of forms) {
      const where = of(field)
      if (field === 'flag' && /[gl]te?"/.test(JSON.stringify(where))) continue
      for (const wanted of values) {
        const expected = records.flatMap((record, index) => {
          const found = result(field, record[field as 'name'], wanted)
          if (found === undefined) seen.unknown++
          return found === true ? [ids[index]] : []
        })
        seen.selected += expected.length
        const { status, body } = await ask(twins, 'GET', '/v1/things', { as: { where, v: wanted } })
        const found = status === 403 ? [] : JSON.parse(body).data.map(({ id }: { id: string }) => id)
        assert.deepEqual(found, expected, `${show(where)} with ${typeof wanted} ${show(wanted)}: ${status}`)
      }
    }
  }
  assert.ok(seen.selected > 1_000 && seen.unknown > 1_000, show(seen))
  // What depends on the clock and on ids is compared between the engines alone; so are parts of texts.
  for (const field of ['id', 'up_id', 'at', 'created_at']) {
    for (const { of } of forms) {
      for (const wanted of [...values, ids[2]]) {
        await ask(twins, 'GET', '/v1/things', { as: { where: of(field), v: wanted } })
      }
    }
  }
  for (const operator of ['contains', 'startsWith']) {
    for (const wanted of values) {
      const where = { name: { [operator]: v } }
      await ask(twins, 'GET', '/v1/things', { as: { where, v: wanted } })
      await ask(twins, 'GET', '/v1/things', { as: { where: { not: where }, v: wanted } })
    }
  }
})

test('a business rule compares an integer with a number by value', { timeout: 1_200_000 }, async (context) => {
  assert.equal(whyNoDatabase, undefined)
  const twins = await openTwins(declaration, authenticate)
  context.after(() => twins.close())
  for (const body of records) await ask(twins, 'POST', '/v1/things', { body: JSON.stringify(body) })
  const pairs = [['count', 'ratio'], ['level', 'whole'], ['level', 'ratio']] as const // biome-ignore format: one row
  for (const ratio of [...values.filter((value) => typeof value === 'number' && Number.isFinite(value)), null]) {
    const whole = Number.isSafeInteger(ratio) ? ratio : null
    const { body, status } = await ask(twins, 'POST', '/v1/probes', {
      body: `{"ratio":${text(ratio)},"whole":${text(whole)}}`,
    })
    const refused = status === 201 ? [] : JSON.parse(body).errors.map(({ code }: { code: string }) => code)
    const expected = pairs.flatMap(([field, of]) =>
      codes.flatMap((code) => {
        const wanted = of === 'ratio' ? ratio : whole
        const form = forms[['EQ', 'IN', '', 'NOT', 'GT', 'GTE', 'LT', 'LTE'].indexOf(code)] as Form
        const isFound = records.some((record) => form.result(field, record[field], wanted) === true)
        return isFound ? [] : [`${field}_${of}_${code}`.toUpperCase()]
      }),
    )
    assert.deepEqual(refused, expected, `${ratio}: ${body}`)
  }
})

/** JSON of a number: as an integer a large one would claim digits that it does not have. */
function text(value: unknown): string {
  return typeof value === 'number' && !Number.isSafeInteger(value) && Number.isInteger(value)
    ? value.toExponential()
    : String(value)
}
