/**
 * MET-2: the response to a creation, and to most updates, is made from the values that were sent to the database. It
 * equals a later read.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { defineInterface, reference, Type } from '../../packages/server/src/index.ts'
import { oddNumbers } from '../../packages/server/src/storage/sql/numbers.fixture.ts'
import { trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone' } as const
const { Optional } = Type

const plain = {
  text: Optional(Type.String({ search: true, filter: true })),
  real: Optional(Type.Number({ sort: true })),
  whole: Optional(Type.Integer()),
  flag: Optional(Type.Boolean()),
  price: Optional(Type.Decimal({ precision: 12, scale: 2 })),
  moment: Optional(Type.String({ format: 'date-time', sort: true })),
  state: Type.Enum(['open', 'do"ne'], { default: 'do"ne' }),
  secret: Optional(Type.String({ writeOnly: true })),
  old: Optional(Type.Integer()),
}

const declared = defineInterface({
  name: 'mixture',
  resources: {
    parents: { fields: { name: Type.String({ default: 'none' }) }, access: anyone },
    mixtures: {
      fields: {
        ...plain,
        list: Optional(Type.Array(Type.Unknown())),
        open: Optional(Type.Object({})),
        parent_id: Optional(reference('parents', { onDelete: 'restrict' })),
      },
      access: anyone,
    },
    plains: { fields: plain, access: anyone },
  },
  versions: { v1: {}, v2: {} },
  versionCarriers: ['path'],
  changes: [
    { version: 'v2', resource: 'mixtures', rename: { words: 'text' } },
    { version: 'v2', resource: 'mixtures', add: ['list'] },
    { version: 'v2', resource: 'plains', rename: { words: 'text' } },
    { version: 'v2', resource: 'mixtures', remove: { rank: { schema: Type.Integer(), value: 3 } } },
  ],
})

// A NUL character and lone surrogates cannot be stored and are refused.
const text = fc.string({ unit: 'grapheme', maxLength: 12 }).map((each) => each.toWellFormed().replaceAll('\0', ''))
const controls = Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(code || 0x7f)).join('')
const odd = ['', controls, '"\\/', '\u2028\u2029\ufeff\u00a0', '\ud83d\ude00', '</script>', "'; --", '%s $1 ?']
const anyText = fc.oneof(text, fc.constantFrom(...odd))
const number = fc.oneof(
  fc.constantFrom(...oddNumbers().filter((each) => !Number.isInteger(each) || Number.isSafeInteger(each))),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((each) => !Number.isInteger(each)),
)
const whole = fc.maxSafeInteger()
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, anyText, number, fc.boolean(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(anyText, tie('value'), { maxKeys: 4, noNullPrototype: true }),
}))
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const mixture = fc.record({
  text: maybe(fc.option(anyText)),
  real: maybe(number),
  whole: maybe(whole),
  flag: maybe(fc.boolean()),
  price: maybe(fc.constantFrom('19.9', 7, '-0.05')),
  moment: maybe(fc.constantFrom('2026-11-23T03:04:05Z', '2026-11-23T03:04:05.1+05:45')),
  state: maybe(fc.constantFrom('open', 'do"ne')),
  list: maybe(json.list),
  open: maybe(json.object),
  secret: maybe(anyText),
  old: maybe(fc.constant(-0)),
})

it('MET-2: a created record is answered as it is read, to the byte, in every version', async (context) => {
  const { send, make } = await trialFor(context, declared)
  const { id: parent_id } = await make('parents', {})
  await fc.assert(
    fc.asyncProperty(mixture, fc.boolean(), async (values, hasParent) => {
      const body = { ...values, ...(hasParent ? { parent_id } : {}) }
      const { text: words, list: _, ...older } = body
      for (const [version, sent] of [
        ['v2', body],
        ['v1', { ...older, words, rank: 5 }],
      ] as const) {
        const created = await send({ path: `/${version}/mixtures`, body: sent })
        assert.equal(created.status, 201, `${JSON.stringify(sent)} ${created.text}`)
        const read = await send({ path: String(created.headers.location) })
        assert.equal(created.text, read.text)
        assert.equal(created.headers.etag, read.headers.etag)
        assert.equal('secret' in created.json, false)
      }
    }),
    { numRuns: 150, seed: 18 },
  )
})

it('MET-4: an updated record is answered as it is read, to the byte, in every version', async (context) => {
  const { send } = await trialFor(context, declared)
  await fc.assert(
    fc.asyncProperty(mixture, mixture, async (before, after) => {
      const { id } = (await send({ path: '/v2/mixtures', body: before })).json
      const { list: _, open: _open, ...scalars } = before
      const { id: plainId } = (await send({ path: '/v2/plains', body: scalars })).json
      const { list, open, ...changes } = after
      const { text: words, ...older } = changes
      for (const [path, body] of [
        [`/v2/plains/${plainId}`, changes],
        [`/v1/plains/${plainId}`, { ...older, words, whole: 1 }],
        [`/v2/mixtures/${id}`, changes],
        [`/v2/mixtures/${id}`, { ...changes, list, open }],
      ] as const) {
        const updated = await send({ method: 'PATCH', path, body })
        assert.equal(updated.status, 200, `${JSON.stringify(body)} ${updated.text}`)
        const read = await send({ path })
        assert.equal(updated.text, read.text)
        assert.equal(updated.headers.etag, read.headers.etag)
        assert.equal(updated.headers['last-modified'], read.headers['last-modified'])
      }
    }),
    { numRuns: 60, seed: 18 },
  )
})

it('MET-3: an equal object with its members in another order stays as it is, and is answered so', async (context) => {
  const { send, make } = await trialFor(context, declared)
  const { id } = await make('mixtures', { open: { a: 1, b: 2 } })
  const path = `/v2/mixtures/${id}`
  const updated = await send({ method: 'PUT', path, body: { open: { b: 2, a: 1 }, whole: 5 } })
  assert.equal(updated.status, 200, updated.text)
  assert.equal(updated.text, (await send({ path })).text)
})
