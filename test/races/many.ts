/**
 * Requests that change many records beside others that change one: whatever happened at the same time, some order of
 * the requests explains every response and the records afterwards. A model carries requests out one after the other.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { randomFrom, seedOfRun } from '../durability/random.ts'
import { type Received, type Sent, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

const shelf: InterfaceDeclaration = {
  name: 'shelf',
  resources: {
    items: {
      fields: {
        sku: { type: 'string', unique: true },
        slot: { type: 'integer', unique: true, optional: true },
        title: { type: 'string', default: '' },
      },
      access: { ...anyone, readDeleted: 'anyone' },
    },
  },
}

/** A record, live or deleted. */
interface Item {
  readonly id: string
  readonly sku: string
  readonly slot: number | null
  readonly title: string
  readonly isDeleted: boolean
}

type State = ReadonlyMap<string, Item>

/** A request, and what the model makes of it. */
interface Operation {
  readonly sent: Sent
  /** @returns the status, and the records afterwards; those that are new have the ids of the response */
  run(state: State, ids: readonly string[]): { readonly status: number; readonly state: State }
}

type Change = Partial<Pick<Item, 'sku' | 'slot' | 'title'>>

const live = (state: State) => [...state.values()].filter(({ isDeleted }) => !isDeleted)

/** Whether no two live records share a value. */
function isValid(state: State): boolean {
  const skus = live(state).map(({ sku }) => sku)
  const slots = live(state).flatMap(({ slot }) => slot ?? [])
  return new Set(skus).size === skus.length && new Set(slots).size === slots.length
}

function ended(before: State, status: number, after: State) {
  return isValid(after) ? { status, state: after } : { status: 409, state: before }
}

function withAll(state: State, items: readonly Item[]): State {
  const next = new Map(state)
  for (const item of items) next.set(item.id, item)
  return next
}

const made = (body: Change, id = ''): Item => {
  return { id, sku: '', title: '', slot: null, ...body, isDeleted: false }
}

function creation(bodies: readonly Change[]): Operation {
  return {
    sent: { method: 'POST', path: '/v1/items', body: bodies },
    run: (state, ids) =>
      ended(
        state,
        201,
        withAll(
          state,
          bodies.map((body, place) => made(body, ids[place] ?? `new ${place}`)),
        ),
      ),
  }
}

function upserts(bodies: readonly Change[], isOne: boolean): Operation {
  const path = isOne ? `/v1/items?sku=${bodies[0]?.sku}` : '/v1/items?key=sku'
  return {
    sent: { method: 'PUT', path, body: isOne ? bodies[0] : bodies },
    run(state, ids) {
      if (new Set(bodies.map(({ sku }) => sku)).size < bodies.length) return { status: 409, state }
      const holders = bodies.map(({ sku }) => live(state).find((item) => item.sku === sku))
      const items = bodies.map((body, place) => made(body, holders[place]?.id ?? ids[place] ?? `new ${place}`))
      return ended(state, holders.every((holder) => holder === undefined) ? 201 : 200, withAll(state, items))
    },
  }
}

function changes(list: readonly (Change & { readonly id: string })[], isOne: boolean): Operation {
  const [{ id, ...body }] = list as [Change & { readonly id: string }]
  return {
    sent: isOne
      ? { method: 'PATCH', path: `/v1/items/${id}`, body }
      : { method: 'PATCH', path: '/v1/items', body: list },
    run(state) {
      const items = list.map((change) => ({ ...state.get(change.id), ...change }) as Item)
      if (items.some(({ isDeleted }) => isDeleted !== false)) return { status: 404, state }
      return ended(state, 200, withAll(state, items))
    },
  }
}

function deletion(id: string): Operation {
  return {
    sent: { method: 'DELETE', path: `/v1/items/${id}` },
    run(state) {
      const item = state.get(id)
      if (item === undefined || item.isDeleted) return { status: 404, state }
      return { status: 204, state: withAll(state, [{ ...item, isDeleted: true }]) }
    },
  }
}

function restoration(id: string): Operation {
  return {
    sent: { method: 'POST', path: `/v1/items/${id}/restore` },
    run(state) {
      const item = state.get(id)
      if (item === undefined) return { status: 404, state }
      if (!item.isDeleted) return { status: 409, state }
      return ended(state, 200, withAll(state, [{ ...item, isDeleted: false }]))
    },
  }
}

type Random = ReturnType<typeof randomFrom>

/** An operation on few values, so that most of them meet. */
function operationOf(random: Random, state: State): Operation {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const ids = [...state.keys()]
  const body = (): Change => ({
    sku: pick(['a', 'b', 'c', 'd', 'e']),
    ...(random() < 0.4 && { slot: pick([1, 2, 3]) }),
    title: String(Math.floor(random() * 1_000)),
  })
  const several = () => Array.from({ length: 1 + Math.floor(random() * 3) }, body)
  const some = () => [...new Set([pick(ids), pick(ids), pick(ids)])]
  const change = (id: string) => ({ ...(random() < 0.6 ? body() : { title: 'x' }), id })
  const kinds: (() => Operation)[] = [
    () => creation(several()),
    () => upserts([body()], true),
    () => upserts(several(), false),
    () => changes(some().map(change), false),
    () => changes([change(pick(ids))], true),
    () => deletion(pick(ids)),
    () => restoration(pick(ids)),
  ]
  // At first there are no records to change.
  return (ids.length === 0 ? pick(kinds.slice(0, 3)) : pick(kinds))()
}

/** The orders of some things. */
function ordersOf<T>(things: readonly T[]): T[][] {
  if (things.length < 2) return [[...things]]
  return things.flatMap((first, place) => ordersOf(things.toSpliced(place, 1)).map((rest) => [first, ...rest]))
}

function idsIn({ json }: Received): string[] {
  return [json?.data ?? json].flat().flatMap((each) => each?.id ?? [])
}

/** Runs rounds of requests at the same time, and looks for the order that explains each. */
export async function raceMany(context: TestContext, rounds: number): Promise<void> {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  const random = randomFrom(seed)
  const { send } = await trialFor(context, shelf)
  const read = async (): Promise<State> => {
    const pages = ['/v1/items?per_page=100', '/v1/items?include_deleted=true&per_page=50&sort=-updated_at']
    const answers = await Promise.all(pages.map((path) => send({ path })))
    const data = answers.flatMap(({ json }) => json.data)
    return new Map(
      data.map(({ id, sku, slot, title, deleted_at }: Item & { readonly deleted_at?: string }) => {
        return [id, { id, sku, slot, title, isDeleted: (deleted_at ?? null) !== null }]
      }),
    )
  }
  const met = new Map<number, number>()
  let state = await read()
  for (let round = 0; round < rounds; round++) {
    // What is not on the first page is left alone.
    const recent: State = new Map([...state].slice(0, 8))
    const operations = Array.from({ length: 3 }, () => operationOf(random, recent))
    const answers = await Promise.all(operations.map(({ sent }) => send(sent)))
    const after = await read()
    for (const { status } of answers) met.set(status, (met.get(status) ?? 0) + 1)
    // A request that was refused for others has done nothing.
    const done = operations.map((operation, place) => ({ operation, answer: answers[place] as Received }))
    const counted = done.filter(({ answer }) => answer.status !== 503)
    const explains = (order: typeof counted) => {
      let current = state
      for (const { operation, answer } of order) {
        const expected = operation.run(current, idsIn(answer))
        if (expected.status !== answer.status) return false
        current = expected.state
      }
      return [...after].every(([id, item]) => isSame(current.get(id), item))
    }
    const story = done.map(({ operation, answer }) => ({ ...operation.sent, status: answer.status, text: answer.text }))
    const told = JSON.stringify({ round, before: [...recent.values()], story, after: [...after.values()].slice(0, 10) })
    assert.ok(ordersOf(counted).some(explains), `SEED=${seed} no order explains: ${told}`)
    state = after
  }
  context.diagnostic(JSON.stringify(Object.fromEntries([...met].sort())))
  for (const status of [200, 201, 204, 404, 409]) assert.ok(met.has(status), `no request was answered with ${status}`)
  assert.ok((met.get(503) ?? 0) <= rounds / 50, 'few requests give up')
}

function isSame(left: Item | undefined, right: Item): boolean {
  return (
    left !== undefined &&
    left.sku === right.sku &&
    left.slot === right.slot &&
    left.title === right.title &&
    left.isDeleted === right.isDeleted
  )
}
