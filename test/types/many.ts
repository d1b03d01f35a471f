/** The types of the calls for many records, from a declaration and from what `resourced types` prints alike. */
import { expectTypeOf } from 'expect-type'
import { type App, defineInterface, Type } from 'resourced'
import { createClient } from '../../packages/client/src/index.ts'

const shop = defineInterface({
  name: 'shop',
  resources: {
    items: {
      fields: {
        sku: Type.String({ unique: true }),
        slot: Type.Optional(Type.Integer({ unique: true })),
        secret: Type.Optional(Type.String({ unique: true, writeOnly: true })),
        title: Type.String(),
      },
    },
    notes: { fields: { text: Type.String() } },
  },
})

declare const app: App
const { items, notes } = app.as<typeof shop>({ id: 'ann', roles: [] })

expectTypeOf((await items.createMany([{ sku: 'a', title: 'A' }]))[0]?.slot).toEqualTypeOf<number | null | undefined>()
expectTypeOf((await items.updateMany([{ id: '1', slot: null }]))[0]?.sku).toEqualTypeOf<string | undefined>()
expectTypeOf((await items.upsert({ sku: 'a' }, { title: 'A' })).title).toEqualTypeOf<string>()
items.upsert({ slot: 3 }, { sku: 'a', title: 'A' }, { ifNoneMatch: '*' })
items.upsertMany('slot', [{ sku: 'a', title: 'A', slot: 3 }])

// @ts-expect-error: a record needs its title.
items.createMany([{ sku: 'a' }])
// @ts-expect-error: a change names its record.
items.updateMany([{ title: 'A' }])
// @ts-expect-error: the values of this field are not unique.
items.upsert({ title: 'A' }, { sku: 'a', title: 'A' })
// @ts-expect-error: a secret stands in no address.
items.upsert({ secret: 'A' }, { sku: 'a', title: 'A' })
// @ts-expect-error: the value is a number.
items.upsert({ slot: '3' }, { sku: 'a', title: 'A' })
// @ts-expect-error: only the unique value may be left out.
items.upsert({ sku: 'a' }, { slot: 3 })
// @ts-expect-error: no field is unique.
notes.upsert({ text: 'A' }, { text: 'A' })
// @ts-expect-error: no field is unique.
notes.upsertMany('text', [])

/** What `resourced types` prints. */
type Printed = {
  readonly items: {
    readonly record: { id: string; sku: string; title: string }
    readonly create: { sku: string; title: string }
    readonly replace: { id?: string; sku: string; title: string }
    readonly patch: { id?: string; sku?: string; title?: string }
    readonly filter: object
    readonly sort: never
    readonly field: 'id' | 'sku' | 'title'
    readonly nested: never
    readonly unique: 'sku'
  }
}

const printed = createClient<Printed>({ url: '' })
expectTypeOf((await printed.items.upsert({ sku: 'a' }, { title: 'A' })).title).toEqualTypeOf<string>()
// @ts-expect-error: the values of this field are not unique.
printed.items.upsert({ title: 'a' }, { sku: 'a', title: 'A' })

// Where nothing is known, every name may be one.
const untyped = createClient({ url: '' })
untyped['items']?.upsert({ sku: 'a' }, { title: 'A' })
untyped['items']?.upsertMany('sku', [{ sku: 'a' }])
untyped['items']?.updateMany([{ id: 'a', title: 'A' }])
