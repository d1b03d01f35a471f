/** The types that a declaration carries, compared by the compiler with those that its requests and responses have. */
import { expectTypeOf } from 'expect-type'
import { type App, defineInterface, type EventContext, type Infer, reference, Type } from 'resourced'
import type { InterfaceTypes, TypesOf } from '../../packages/client/src/interface-types.ts'

const api = defineInterface({
  name: 'studio',
  resources: {
    projects: {
      fields: { name: Type.String({ sort: true, search: true }), owner_id: Type.String({ readOnly: true }) },
      owner: 'owner_id',
    },
    tasks: {
      fields: {
        title: Type.String({ search: true, sort: true }),
        status: Type.Enum(['open', 'done'], { default: 'open', transitions: { open: ['done'] } }),
        project_id: reference('projects', { onDelete: 'cascade', immutable: true }),
        due_on: Type.Optional(Type.String({ format: 'date', filter: true, sort: true })),
        price: Type.Decimal({ precision: 12, scale: 2, default: '0', filter: true }),
        labels: Type.Optional(Type.Array(Type.String())),
        place: Type.Optional(Type.Object({ city: Type.String(), street: Type.Optional(Type.String()) })),
        number: Type.Integer({ readOnly: true, default: 0 }),
        secret: Type.Optional(Type.String({ writeOnly: true })),
      },
      within: 'project_id',
      events: true,
      on: {
        created: async ({ event, record, client, signal }) => {
          expectTypeOf(record?.status).toEqualTypeOf<'open' | 'done' | undefined>()
          expectTypeOf(record).not.toHaveProperty('secret')
          expectTypeOf(event.kind).toEqualTypeOf<'created' | 'updated' | 'deleted' | 'restored' | 'purged'>()
          expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
          await client['projects']?.update(String(record?.project_id), { name: 'x' })
        },
        deleted: ({ record }) => expectTypeOf(record).toEqualTypeOf<null>() as never,
      },
      prepare: ({ current, next, caller, now }) => {
        expectTypeOf(current?.status).toEqualTypeOf<'open' | 'done' | undefined>()
        expectTypeOf(next.due_on).toEqualTypeOf<string | null>()
        expectTypeOf(next.id).toEqualTypeOf<string>()
        expectTypeOf(caller.roles).toEqualTypeOf<readonly string[]>()
        expectTypeOf(now).toEqualTypeOf<number>()
        return { ...next, number: (current?.number ?? 0) + 1 }
      },
      rules: [
        {
          on: 'update',
          check: ({ current, next, caller }) => {
            expectTypeOf(next?.due_on).toEqualTypeOf<string | null | undefined>()
            expectTypeOf(current?.status).toEqualTypeOf<'open' | 'done' | undefined>()
            expectTypeOf(next?.number).toEqualTypeOf<number | undefined>()
            expectTypeOf(next?.secret).toEqualTypeOf<string | null | undefined>()
            expectTypeOf(caller.id).toEqualTypeOf<string>()
            return undefined
          },
        },
      ],
    },
    // Fields as data have the same types.
    notes: {
      fields: {
        text: { type: 'string', maxLength: 100 },
        kind: { enum: ['idea', 'plan'], default: 'idea' },
        size: { type: 'integer', optional: true, filter: true },
        done: { type: ['boolean', 'null'] },
        cost: { type: 'decimal', precision: 5, scale: 2 },
        parts: { type: 'array', items: { type: 'number' } },
        place: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } }, required: ['x'] },
        task_id: { reference: 'tasks', optional: true },
      },
      within: 'task_id',
      deletion: { variant: 'hard' },
    },
  },
})

expectTypeOf<TypesOf<typeof api>>().toExtend<InterfaceTypes>()

expectTypeOf<Infer<typeof api, 'tasks'>>().toEqualTypeOf<{
  id: string
  created_at: string
  updated_at: string
  deleted_at?: string
  title: string
  status: 'open' | 'done'
  project_id: string
  due_on: string | null
  price: string
  labels: string[] | null
  place: { city: string; street?: string } | null
  number: number
}>()

expectTypeOf<Infer<typeof api, 'tasks', 'create'>>().toEqualTypeOf<{
  title: string
  project_id: string
  status?: 'open' | 'done' | null
  due_on?: string | null
  price?: string | number | null
  labels?: string[] | null
  place?: { city: string; street?: string } | null
  secret?: string | null
}>()

expectTypeOf<Infer<typeof api, 'tasks', 'patch'>>().toEqualTypeOf<{
  id?: string
  created_at?: string
  updated_at?: string
  title?: string
  status?: 'open' | 'done' | null
  project_id?: string
  due_on?: string | null
  price?: string | number | null
  labels?: string[] | null
  place?: { city?: string | null; street?: string | null } | null
  number?: number
  secret?: string | null
}>()

expectTypeOf<
  Infer<typeof api, 'tasks', 'sort'>
>().toEqualTypeOf<`${'' | '-'}${'title' | 'due_on' | 'created_at' | 'updated_at' | 'relevance'}`>()
expectTypeOf<Infer<typeof api, 'projects', 'nested'>>().toEqualTypeOf<'tasks'>()
expectTypeOf<Infer<typeof api, 'tasks', 'nested'>>().toEqualTypeOf<'notes'>()
expectTypeOf<Infer<typeof api, 'notes', 'nested'>>().toBeNever()
expectTypeOf<Infer<typeof api, 'projects', 'field'>>().toEqualTypeOf<
  'id' | 'created_at' | 'updated_at' | 'deleted_at' | 'name' | 'owner_id'
>()

// Only administrators send the owner.
expectTypeOf<Infer<typeof api, 'projects', 'create'>>().toEqualTypeOf<{ name: string; owner_id?: string }>()
// What a read returned can be sent back.
expectTypeOf<Infer<typeof api, 'projects'>>().toExtend<Infer<typeof api, 'projects', 'replace'>>()

expectTypeOf<Infer<typeof api, 'notes'>>().toEqualTypeOf<{
  id: string
  created_at: string
  updated_at: string
  text: string
  kind: 'idea' | 'plan'
  size: number | null
  done: boolean | null
  cost: string
  parts: number[]
  place: { x: number; y?: number }
  task_id: string | null
}>()

type TaskFilter = Infer<typeof api, 'tasks', 'filter'>
expectTypeOf<TaskFilter['status']>().toEqualTypeOf<'open' | 'done' | readonly ('open' | 'done')[] | undefined>()
expectTypeOf<TaskFilter['due_on[lt]']>().toEqualTypeOf<string | readonly string[] | undefined>()
expectTypeOf<TaskFilter['due_on[null]']>().toEqualTypeOf<boolean | undefined>()
expectTypeOf<TaskFilter['price[gte]']>().toEqualTypeOf<string | number | readonly (string | number)[] | undefined>()
expectTypeOf<TaskFilter['created_at[gt]']>().toEqualTypeOf<string | readonly string[] | undefined>()
expectTypeOf<TaskFilter['q']>().toEqualTypeOf<string | undefined>()
// Neither a filter, nor an operator of one, nor a collection that can be searched.
expectTypeOf<TaskFilter>().not.toHaveProperty('title')
expectTypeOf<TaskFilter>().not.toHaveProperty('secret')
expectTypeOf<TaskFilter>().not.toHaveProperty('status[lt]')
expectTypeOf<TaskFilter>().not.toHaveProperty('due_on[contains]')
expectTypeOf<Infer<typeof api, 'notes', 'filter'>>().not.toHaveProperty('q')
expectTypeOf<Infer<typeof api, 'notes', 'filter'>['size[gt]']>().toEqualTypeOf<number | readonly number[] | undefined>()

// The client in process.
declare const app: App
expectTypeOf(app.as({ id: 'ann', roles: [] })).toExtend<ReturnType<EventContext['client']['asServer']>>()
const own = app.as<typeof api>({ id: 'ann', roles: [] })
expectTypeOf((await own.notes.get('')).kind).toEqualTypeOf<'idea' | 'plan'>()
expectTypeOf<Awaited<ReturnType<typeof own.notes.get>>['kind']>().toEqualTypeOf<'idea' | 'plan'>()
// @ts-expect-error: no collection has this name.
own.nots

defineInterface({
  name: 'visits',
  resources: {
    visits: {
      fields: { seconds: Type.Integer({ default: 0 }) },
      // @ts-expect-error: the field is a number.
      prepare: ({ next }) => ({ ...next, seconds: 'many' }),
    },
  },
})

defineInterface({
  name: 'doors',
  resources: { doors: { fields: { name: Type.String() } } },
  authorize: async ({ action, id, caller, signal }) => {
    expectTypeOf(action).toEqualTypeOf<'read' | 'create' | 'update' | 'delete' | 'restore' | 'export' | undefined>()
    expectTypeOf(id).toEqualTypeOf<string | undefined>()
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
    return caller.id === 'ann' ? { code: 'NO', message: 'No.' } : undefined
  },
})

// Values that the server sets (RES-14 to RES-16).
const desk = defineInterface({
  name: 'desk',
  resources: {
    projects: { fields: { name: Type.String() } },
    tickets: {
      fields: {
        title: Type.String(),
        project_id: reference('projects', { immutable: true }),
        number: Type.Sequence({ per: 'project_id', filter: true, sort: true }),
        author: Type.String({ default: { caller: 'id' } }),
        changed_by: Type.String({ set: { onCreate: { caller: 'id' }, onUpdate: { caller: 'id' } } }),
      },
    },
    bills: { fields: { year: { type: 'integer', immutable: true }, number: { sequence: { per: 'year' } } } },
  },
})

type Ticket = Infer<typeof desk, 'tickets'>
expectTypeOf<Pick<Ticket, 'number' | 'author' | 'changed_by'>>().toEqualTypeOf<{
  number: number
  author: string
  changed_by: string
}>()
expectTypeOf<Infer<typeof desk, 'tickets', 'create'>>().toEqualTypeOf<{
  title: string
  project_id: string
  author?: string | null
}>()
expectTypeOf<Infer<typeof desk, 'bills', 'create'>>().toEqualTypeOf<{ year: number }>()
expectTypeOf<Infer<typeof desk, 'bills'>['number']>().toEqualTypeOf<number>()
expectTypeOf<Infer<typeof desk, 'tickets', 'sort'>>().toEqualTypeOf<
  'number' | '-number' | 'created_at' | '-created_at' | 'updated_at' | '-updated_at'
>()

// Arrays, and members of objects, as filters and in conditions (WHR-4).
const shop = defineInterface({
  name: 'shop',
  resources: {
    goods: {
      fields: {
        labels: Type.Array(Type.String(), { filter: true }),
        attributes: Type.Object(
          { size: Type.Integer(), color: Type.Object({ name: Type.Enum(['red', 'blue']) }) },
          { filter: ['/size', '/color/name'] },
        ),
      },
      access: { read: { where: { labels: { hasAny: ['a'] }, attributes: { color: { name: 'red' } } } } },
    },
    crates: {
      fields: {
        sizes: { type: 'array', items: { type: 'number' }, filter: true },
        box: { type: 'object', properties: { open: { type: 'boolean' } }, filter: ['/open'] },
      },
      access: { read: { where: { sizes: { has: 3 }, box: { open: true } } } },
    },
  },
})

type GoodsFilter = Infer<typeof shop, 'goods', 'filter'>
expectTypeOf<GoodsFilter['labels[has]']>().toEqualTypeOf<string | readonly string[] | undefined>()
expectTypeOf<GoodsFilter['labels[has_all]']>().toEqualTypeOf<string | readonly string[] | undefined>()
expectTypeOf<GoodsFilter['labels[null]']>().toEqualTypeOf<boolean | undefined>()
expectTypeOf<GoodsFilter>().not.toHaveProperty('labels')
expectTypeOf<GoodsFilter>().not.toHaveProperty('attributes')
expectTypeOf<GoodsFilter['attributes.size[gte]']>().toEqualTypeOf<number | readonly number[] | undefined>()
type Color = 'red' | 'blue'
expectTypeOf<GoodsFilter['attributes.color.name']>().toEqualTypeOf<Color | readonly Color[] | undefined>()
expectTypeOf<GoodsFilter>().not.toHaveProperty('attributes.color.name[gte]')

type CratesFilter = Infer<typeof shop, 'crates', 'filter'>
expectTypeOf<CratesFilter['sizes[has_any]']>().toEqualTypeOf<number | readonly number[] | undefined>()
expectTypeOf<CratesFilter['box.open']>().toEqualTypeOf<boolean | readonly boolean[] | undefined>()
