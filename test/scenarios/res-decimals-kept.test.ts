/** RES: decimals in sorted lists, in files, in older versions, and after changes of precision and scale. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import fc from 'fast-check'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { defineInterface, Type } from '../../packages/server/src/index.ts'
import { Columns } from '../../packages/server/src/jobs/column-map.ts'
import { importRecords } from '../../packages/server/src/jobs/import.ts'
import { readRecords } from '../../packages/server/src/jobs/read-records.ts'
import { MigrationRefused } from '../../packages/server/src/storage/migration/migration-step.ts'
import { type Trial, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const
const { Decimal, Optional } = Type

function things(fields: InterfaceDeclaration['resources'][string]['fields'], more = {}): InterfaceDeclaration {
  return defineInterface({ name: 'things', resources: { things: { fields, access: anyone } }, ...more })
}

/** Units of the last of 18 digits after the point: of all sizes, and many near each other. */
const units = fc.oneof(
  fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }),
  fc.bigInt({ min: -30n, max: 30n }),
  fc.bigInt({ min: -3_000n, max: 3_000n }).map((each) => each * 10n ** 16n),
  fc
    .tuple(fc.integer({ min: 0, max: 37 }), fc.bigInt({ min: -9n, max: 9n }))
    .map(([power, digit]) => digit * 10n ** BigInt(power)),
)

function written(value: bigint): string {
  const digits = String(value < 0n ? -value : value).padStart(19, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -18)}.${digits.slice(-18)}`
}

it('RES-11: the database orders and compares decimals of 38 digits as exact arithmetic does', async (context) => {
  const amount = Optional(Decimal({ precision: 38, scale: 18, filter: true, sort: true }))
  const { send } = await trialFor(context, things({ amount }))
  const values = fc.sample(units, 90)
  for (const value of values) {
    const { status, json } = await send({ path: '/v1/things', body: { amount: written(value) } })
    assert.deepEqual([status, json.amount], [201, written(value)])
  }
  const ascending = values.toSorted((left, right) => (left < right ? -1 : left > right ? 1 : 0))
  const amountsOf = async (query: string) => {
    const { json, text } = await send({ path: `/v1/things?limit=100&${query}` })
    assert.ok(json.data, text)
    return json.data.map(({ amount }: { amount: string }) => amount)
  }
  assert.deepEqual(await amountsOf('sort=amount'), ascending.map(written))
  assert.deepEqual(await amountsOf('sort=-amount'), ascending.toReversed().map(written))
  const operators: Readonly<Record<string, (value: bigint, bound: bigint) => boolean>> = {
    '': (value, bound) => value === bound,
    '[gt]': (value, bound) => value > bound,
    '[gte]': (value, bound) => value >= bound,
    '[lt]': (value, bound) => value < bound,
    '[lte]': (value, bound) => value <= bound,
    '[not]': (value, bound) => value !== bound,
  }
  for (const bound of [...fc.sample(units, 12), ...values.slice(0, 12)]) {
    for (const [operator, holds] of Object.entries(operators)) {
      const expected = ascending.filter((value) => holds(value, bound)).map(written)
      const text = written(bound).replace(/\.?0+$/, '') || '0'
      assert.deepEqual(await amountsOf(`sort=amount&amount${operator}=${text}`), expected, `${operator} ${text}`)
    }
  }
})

async function exported({ app, send }: Trial, body: object): Promise<string> {
  const answer = await send({ path: '/v1/exports', body: { collection: 'things', sort: ['price'], ...body } })
  assert.equal(answer.status, 202, answer.text)
  await app.runner.idle()
  const { json } = await send({ path: answer.json.status_url })
  assert.equal(json.status, 'succeeded', JSON.stringify(json))
  return (await send({ path: json.result.content_url })).text
}

const priced = {
  name: Optional(Type.String()),
  price: Optional(Decimal({ precision: 20, scale: 2, filter: true, sort: true })),
}

it('RES-11: exports have the digits, without quotes in CSV, and a filter compares numbers', async (context) => {
  const trial = await trialFor(context, things(priced))
  for (const price of ['-5', '12.5', '9.99', null, '123456789012345678.9']) await trial.make('things', { price })
  const prices = ['-5.00', '9.99', '12.50', '123456789012345678.90', null]
  const read = (text: string) => JSON.parse(text).price
  assert.deepEqual((await exported(trial, { format: 'ndjson' })).trim().split('\n').map(read), prices)
  const json = JSON.parse(await exported(trial, { format: 'json', filter: { price: { gt: 10, lte: '12.50' } } }))
  assert.deepEqual(
    json.map(({ price }: { price: string }) => price),
    ['12.50'],
  )
  const lines = (await exported(trial, { format: 'csv', fields: ['price'] })).trim().split(/\r?\n/)
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(',')[1]),
    prices.map((each) => each ?? ''),
  )
  const refused = await trial.send({ path: '/v1/exports', body: { collection: 'things', filter: { price: 'x' } } })
  assert.equal(refused.status, 400)
})

async function imported(trial: Trial, text: string, format: 'csv' | 'json' | 'ndjson') {
  const resource = trial.app.catalog.resources.get('things')!
  async function* bytes() {
    yield Buffer.from(text)
  }
  const problems: string[] = []
  const records = readRecords(bytes(), format, new Columns(resource), { mostBytes: 1_000_000 })
  const caller = { id: 'importer', roles: [], claims: {} }
  const onProblem = ({ issues }: { issues: readonly { code: string; pointer?: string }[] }) =>
    void problems.push(...issues.map(({ code, pointer }) => `${code} ${pointer}`))
  const { storage } = trial.app
  const result = await importRecords({
    storage,
    resource,
    records,
    caller,
    skipInvalid: true,
    onProblem,
    onProgress() {},
  })
  return { imported: result.imported, problems }
}

it('RES-11: imports read decimals by their digits, from CSV and JSON, and refuse other text', async (context) => {
  const trial = await trialFor(context, things(priced))
  const csv = 'name,price\na,12.5\nb,-5\nc,\nd,123456789012345678.9\ne,1.234\nf,"1,5"\ng, 7 \n'
  assert.deepEqual(await imported(trial, csv, 'csv'), {
    imported: 5,
    problems: ['TOO_PRECISE /price', 'INVALID_FORMAT /price'],
  })
  const ndjson = '{"price":0.1}\n{"price":"0.2"}\n{"price":12345678901234567.89}\n{"price":true}\n'
  assert.deepEqual(await imported(trial, ndjson, 'ndjson'), {
    imported: 2,
    problems: ['NUMBER_NOT_EXACT /price', 'INVALID_TYPE /price'],
  })
  const { json } = await trial.send({ path: '/v1/things?sort=price&limit=50' })
  assert.deepEqual(
    json.data.map(({ price }: { price: string | null }) => price),
    ['-5.00', '0.10', '0.20', '7.00', '12.50', '123456789012345678.90', null],
  )
})

/** The second declaration on the database of the first, with its records. */
async function changed(
  context: TestContext,
  before: InterfaceDeclaration,
  after: InterfaceDeclaration,
  values: readonly unknown[],
) {
  const first = await trialFor(context, before)
  for (const size of values) await first.make('things', { size })
  const second = await trialFor(context, after, { database: first.database })
  const { json } = await second.send({ path: '/v1/things?limit=100&sort=created_at' })
  return { ...second, sizes: json.data.map(({ size }: { size: unknown }) => size) }
}

const money = (precision = 12, scale = 2) => Optional(Decimal({ precision, scale, filter: true, sort: true }))

const changes: readonly (readonly [string, before: unknown, after: unknown, values: unknown[], sizes: unknown[]])[] = [
  ['integers become decimals', Type.Integer(), money(), [7, -12, null], ['7.00', '-12.00', null]],
  ['numbers become decimals', Type.Number(), money(), [7.5, 19.99, -0.05], ['7.50', '19.99', '-0.05']],
  ['texts become decimals', Type.String(), money(), ['7.5', '19.99'], ['7.50', '19.99']],
  ['decimals become numbers', money(), Type.Number(), ['7.5', '19.99', null], [7.5, 19.99, null]],
  ['decimals become integers', money(), Type.Integer(), ['7', '-12'], [7, -12]],
  ['decimals become texts', money(), Type.String(), ['7', '19.99'], ['7.00', '19.99']],
  ['decimals get more digits behind the point', money(), money(12, 4), ['7', '19.99'], ['7.0000', '19.9900']],
  ['decimals get fewer digits, all zeros', money(), money(11, 1), ['7', '19.9'], ['7.0', '19.9']],
  ['decimals get more digits before the point', money(), money(14), ['7', '19.99'], ['7.00', '19.99']],
]

for (const [name, before, after, values, sizes] of changes) {
  it(`RES-11: ${name} at start, exactly`, async (context) => {
    const optional = (field: unknown) => ({ size: Optional(field as ReturnType<typeof Type.Integer>) })
    const { sizes: found, send } = await changed(context, things(optional(before)), things(optional(after)), values)
    assert.deepEqual(found, sizes)
    if (!name.includes('become decimals')) return
    const sorted = await send({ path: '/v1/things?sort=size&size[gt]=-100' })
    assert.deepEqual(
      sorted.json.data.map(({ size }: { size: string }) => size),
      sizes.filter((each) => each !== null).toSorted((left, right) => Number(left) - Number(right)),
    )
  })
}

it('RES-11: a change of precision or scale that would lose digits stops the start, and reports the number of values', async (context) => {
  for (const [before, after, values] of [
    [Optional(Type.Number()), money(), [7.5, 19.999, 1e300]],
    [money(), money(12, 1), ['7.5', '19.99', '0.01']],
    [money(), Optional(Type.Integer()), ['7', '7.5', '0.01']],
    [money(30, 10), Optional(Type.Number()), ['7', '12345678901234567890', '0.12345', '1234567890.0123456789']],
  ] as const) {
    const work = changed(context, things({ size: before }), things({ size: after as never }), values)
    await assert.rejects(work, (error: Error) => {
      assert.ok(
        error instanceof MigrationRefused || error.cause instanceof MigrationRefused || /loses/.test(error.message),
        error.message,
      )
      assert.match(String(error.message), /loses 2 values/)
      return true
    })
  }
})

const versions = { versions: { v1: {}, v2: {} } }

it('VER-2: an older version can have a decimal under another name, as a number, or as a constant', async (context) => {
  const declared = things(
    { price: money(), total: money(), fresh: Optional(Decimal({ precision: 4, scale: 1 })) },
    {
      ...versions,
      changes: [
        {
          ...{ version: 'v2', resource: 'things', add: ['fresh'], rename: { cost: 'price' } },
          remove: { tax: { schema: Decimal({ precision: 4, scale: 2, filter: true }), value: 19 } },
          convert: {
            total: {
              schema: Optional(Type.Number({ filter: true })),
              older: (value: string) => Number(value),
              newer: (value: number) => value,
            },
          },
        },
      ],
    },
  )
  const { send } = await trialFor(context, declared)
  const created = await send({ path: '/v1/things', body: { cost: 19.9, total: 7.5, tax: '19' } })
  assert.equal(created.status, 201, created.text)
  const { cost, total, tax } = created.json
  assert.deepEqual([cost, total, tax], ['19.90', 7.5, '19.00'])
  const newer = (await send({ path: `/v2/things/${created.json.id}` })).json
  assert.deepEqual([newer.price, newer.total, newer.fresh, 'tax' in newer], ['19.90', '7.50', null, false])
  for (const [query, count] of [
    ['cost=19.900', 1], ['cost[gt]=19.89', 1], ['total=7.5', 1], ['total[lt]=7.5', 0], ['tax=19.0', 1], ['tax[gt]=19', 0], ['sort=-cost', 1],
  ] as const /* biome-ignore format: one row reads best */) {
    const { json, text } = await send({ path: `/v1/things?${query}` })
    assert.equal(json.pagination?.total_count, count, `${query} ${text}`)
  }
  const refused = await send({ path: '/v1/things', body: { cost: '1.999', tax: 20 } })
  assert.deepEqual(
    refused.json.errors.map(({ code, pointer }: { code: string; pointer: string }) => `${code} ${pointer}`).sort(),
    ['TOO_PRECISE /cost'],
  )
  const patched = await send({ method: 'PATCH', path: `/v1/things/${created.json.id}`, body: { total: 0.1 } })
  assert.equal(patched.json.total, 0.1)
  assert.equal((await send({ path: `/v2/things/${created.json.id}` })).json.total, '0.10')
})

it('VER-2: a decimal with another precision and scale in each version is filtered and shown by those of the version', async (context) => {
  const declared = things(
    { cents: Optional(Decimal({ precision: 14, scale: 0, filter: true, sort: true })) },
    {
      ...versions,
      changes: [
        {
          ...{ version: 'v2', resource: 'things' },
          convert: {
            cents: {
              schema: money(),
              older: (value: string) => `${value.slice(0, -2) || '0'}.${value.slice(-2).padStart(2, '0')}`,
              newer: (value: string) => value.replace('.', '').replace(/^0+(?=\d)/, ''),
            },
          },
        },
      ],
    },
  )
  const { send } = await trialFor(context, declared)
  const { status, json } = await send({ path: '/v1/things', body: { cents: '19.90' } })
  assert.deepEqual([status, json.cents], [201, '19.90'])
  assert.equal((await send({ path: `/v2/things/${json.id}` })).json.cents, '1990')
  for (const [path, count] of [
    ['/v1/things?cents=19.9', 1], ['/v1/things?cents[lt]=19.91', 1], ['/v1/things?cents[gt]=19.9', 0], ['/v2/things?cents=1990', 1],
  ] as const /* biome-ignore format: one row reads best */)
    assert.equal((await send({ path })).json.pagination.total_count, count, path)
})
