/** How much longer the compiler takes for a large declaration than for its TypeBox schemas alone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile } from './compile.ts'

const collections = Array.from({ length: 100 }, (_, index) => `things${index}`)

/** Ten fields, the last one a reference. */
function fieldsOf(index: number): string {
  return `{
    name: Type.String({ maxLength: 120, search: true, sort: true }),
    text${index}: Type.Optional(Type.String({ maxLength: 10_000, search: true })),
    status: Type.Enum(['open', 'doing', 'done'], { default: 'open', transitions: { open: ['doing', 'done'] } }),
    due_on: Type.Optional(Type.String({ format: 'date', filter: true, sort: true })),
    size: Type.Integer({ minimum: 0, default: 0, filter: true }),
    price: Type.Optional(Type.Number({ filter: true })),
    done: Type.Boolean({ default: false }),
    labels: Type.Optional(Type.Array(Type.String(), { maxItems: 20 })),
    owner_id: Type.String({ readOnly: true }),
    parent_id: ${index === 0 ? 'Type.String()' : `reference('things${index - 1}', { onDelete: 'cascade' })`},
  }`
}

const schemas = `import * as Type from 'typebox'
const reference = (collection: string, options: object) => Type.String({ reference: collection, ...options })
${collections.map((name, index) => `export const ${name} = ${fieldsOf(index)}`).join('\n')}
`

const declaration = `import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { InterfaceTypes } from 'resourced-client'
import * as Type from 'resourced-contract/model/type'
import { reference } from 'resourced-contract/model/type'
const api = defineInterface({
  name: 'large',
  resources: {
    ${collections.map((name, index) => `${name}: ${resourceOf(index)},`).join('\n')}
  },
})
export const declared: InterfaceDeclaration = api
export const types: InterfaceTypes = undefined as never as NonNullable<(typeof api)['~types']>
`

function resourceOf(index: number): string {
  return `{
    fields: ${fieldsOf(index)},
    owner: 'owner_id',
    ${index === 0 ? '' : `within: 'parent_id',`}
    unique: [['parent_id', 'name']],
    access: {
      read: ['role:admin', 'owner', { where: { status: 'open', size: { gt: 3 } } }],
      create: 'anyone',
      update: ${index === 0 ? `'owner'` : `{ through: 'parent_id', action: 'update' }`},
      delete: (caller) => ({ owner_id: caller.id }),
    },
    rules: [
      { on: 'update', check: ({ next }) => ((next?.size ?? 0) > 9 ? { code: 'LARGE', message: 'Large.' } : undefined) },
      {
        on: 'delete', code: 'IN_USE', message: 'In use.',
        unless: { none: 'things${(index + 1) % 100}', where: { parent_id: { record: 'id' }, status: { in: ['open'] } } },
      },
    ],
  }`
}

const calls = `${declaration}
import { createClient } from 'resourced-client'
const client = createClient<typeof api>({ url: '' })
export const { data } = await client.things50.list({
  include: ['parent', 'things51.parent'],
  where: { parent: { status: 'open', size: { gt: 3 } }, things51: { some: { done: true } } },
  'parent.size[gt]': 3,
  sort: '-parent.name',
})
export const rows = await client.things50.summary({ group: ['status', 'due_on:month'], sum: 'size' })
`

/** What the compiler takes for the schemas alone, in seconds of the processor that the bound of 3 seconds was set on. */
const schemasThere = 0.46

/** The figures of one run. */
async function measure(source: string) {
  const output = await compile(source, '--extendedDiagnostics')
  assert.doesNotMatch(output, /error TS/)
  const figure = (name: string) => Number(new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(output)?.[1])
  // The last line of `times`: minutes and seconds of the compiler, of its own and of the system.
  const [, ...parts] = /(\d+)m([\d.]+)s (\d+)m([\d.]+)s\s*$/.exec(output) ?? []
  const [minutes = 0, own = 0, systemMinutes = 0, system = 0] = parts.map(Number)
  const processor = 60 * (minutes + systemMinutes) + own + system
  return { processor, total: figure('Total time'), instantiations: figure('Instantiations') }
}

test('a declaration of 100 collections takes at most 3 seconds more than its schemas', async (context) => {
  const alone = await measure(schemas)
  const declared = await measure(declaration)
  const shown = ({ processor, total, instantiations }: typeof alone) =>
    `${processor.toFixed(2)} s of the processor, ${total} s in all, ${instantiations} instantiations`
  context.diagnostic(`the schemas alone: ${shown(alone)}`)
  context.diagnostic(`the declaration: ${shown(declared)}`)
  assert.ok(declared.instantiations > 100_000, 'the declaration was checked')
  // The same for every machine; what follows is not, so it is measured by what the schemas take on this one.
  assert.ok(declared.instantiations < 900_000, shown(declared))
  const slowness = Math.max(1, alone.processor / schemasThere)
  // On a busy machine the same run can take half as long again, so a second one may decide.
  const isQuick = ({ processor }: typeof alone) => processor - alone.processor < 3 * slowness
  const decisive = isQuick(declared) ? declared : await measure(declaration)
  assert.ok(isQuick(decisive), `${shown(decisive)}, instead of ${shown(alone)}`)
})

test('calls with related records add little to a declaration of 100 collections', async (context) => {
  const declared = await measure(declaration)
  const called = await measure(calls)
  const added = called.instantiations - declared.instantiations
  context.diagnostic(`${added} instantiations`)
  assert.ok(added > 1_000 && added < 100_000, `${added} instantiations`)
})
