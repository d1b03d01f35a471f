/** What clients of a random history do: on few records and few values, so that most of it meets. */
import { pick, type Random } from '../durability/random.ts'
import type { Act, Change } from './requests.ts'
import type { Collection, Values } from './state.ts'

/** What all clients know of the records by the responses so far. */
export interface Known {
  readonly items: string[]
  readonly boxes: string[]
  /** The newest tag of each record that a response has shown. */
  readonly tags: Map<string, string>
  /** How many new records were asked for: each has another title. */
  made: number
}

/** How often each act is picked. */
export type Weights = Readonly<Partial<Record<Act['kind'], number>>>

export const usualWeights: Weights = {
  ...{ create: 3, 'create-many': 2, upsert: 2, 'upsert-many': 2, merge: 4, replace: 1, 'merge-many': 2 },
  ...{ 'merge-matching': 2, delete: 3, 'delete-many': 1, 'delete-matching': 1, restore: 3, transaction: 3 },
  ...{ read: 2, list: 1, summary: 1, 'purge-begins': 0.3 },
}

/** A random act. */
export function actOf(random: Random, known: Known, weights: Weights): Act {
  const all = Object.entries(weights) as [Act['kind'], number][]
  let at = random() * all.reduce((sum, [, weight]) => sum + weight, 0)
  const kind = all.find(([, weight]) => (at -= weight) < 0)?.[0] ?? 'list'
  if (kind === 'list') return { kind, collection: pick(random, ['boxes', 'items']) }
  if (kind === 'read') return { kind, ...someRecord(random, known) }
  if (kind === 'summary' || kind === 'purge-begins' || kind === 'purge-ended') return { kind }
  if (kind !== 'transaction') return changeOf(random, known, kind)
  const kinds = [
    'create',
    'create',
    'create-many',
    'merge',
    'merge',
    'merge-many',
    'replace',
    'delete',
    'restore',
  ] as const
  const changes = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
    const change = changeOf(random, known, pick(random, kinds))
    return change.kind === 'delete' ? { ...change, isJob: false } : change
  })
  return { kind, changes }
}

function someRecord(random: Random, known: Known): { readonly collection: Collection; readonly id: string } {
  const collection = random() < 0.3 || known.items.length === 0 ? 'boxes' : 'items'
  return { collection, id: pick(random, known[collection]) }
}

function changeOf(random: Random, known: Known, kind: Change['kind']): Change {
  const { items, boxes, tags } = known
  const chance = (most: number) => random() < most
  const tagged = <T extends { readonly id: string }>(of: T) => {
    const tag = tags.get(of.id)
    return { ...of, ...(tag !== undefined && chance(0.4) && { ifMatch: tag }) }
  }
  const title = () => `title ${++known.made}`
  const sku = () => pick(random, ['a', 'b', 'c', 'd', 'e'])
  const item = (): Values => ({
    ...{ sku: sku(), title: title() },
    ...(chance(0.3) && { slot: pick(random, [1, 2, 3]) }),
    ...(chance(0.5) && { kind: pick(random, ['x', 'y']) }),
    ...(chance(0.7) && { amount: Math.floor(random() * 5) }),
    ...(chance(0.6) && { box_id: pick(random, boxes) }),
  })
  const part = (): Values =>
    pick(random, [
      () => ({ title: title() }),
      () => ({ amount: Math.floor(random() * 5) }),
      () => ({ box_id: pick(random, [null, ...boxes]) }),
      () => ({ box_id: pick(random, boxes), amount: 1 + Math.floor(random() * 5) }),
      () => ({ sku: sku() }),
      () => ({ slot: pick(random, [null, 1, 2, 3]) }),
      () => ({ kind: pick(random, ['x', 'y']) }),
    ])()
  const several = <T>(make: () => T) => Array.from({ length: 1 + Math.floor(random() * 3) }, make)
  const ids = () => [...new Set(several(() => pick(random, items)))]
  if (items.length === 0 && !['create', 'create-many', 'upsert', 'upsert-many'].includes(kind))
    return changeOf(random, known, 'create')
  switch (kind) {
    case 'create':
      if (chance(0.15)) return { kind, collection: 'boxes', body: { name: title() } }
      return { kind, collection: 'items', body: item() }
    case 'create-many':
      return { kind, bodies: several(item) }
    case 'upsert': {
      // New records have the same tag, which nobody may know to be theirs.
      const changed = [...tags.values()].filter((tag) => !tag.startsWith('"1-'))
      const ifMatch = chance(0.2) ? pick(random, [...changed, '"none"']) : undefined
      return { kind, body: item(), ...(ifMatch !== undefined ? { ifMatch } : chance(0.15) && { ifNoneMatch: true }) }
    }
    case 'upsert-many':
      return { kind, bodies: several(item) }
    case 'merge':
    case 'replace': {
      const { id, collection } = someRecord(random, known)
      if (collection === 'boxes') return tagged({ kind, collection, id, body: { name: title() } })
      return tagged({ kind, collection, id, body: kind === 'merge' ? part() : item() })
    }
    case 'merge-many':
      return { kind, bodies: ids().map((id) => ({ id, ...part() })) }
    case 'merge-matching': {
      const body = pick(random, [
        { amount: Math.floor(random() * 5) },
        { kind: pick(random, ['x', 'y']) },
        { box_id: pick(random, [null, ...boxes]) },
      ])
      return { kind, which: { kind: pick(random, ['x', 'y']) }, body, isJob: chance(0.4) }
    }
    case 'delete': {
      const { collection, id } = someRecord(random, known)
      return tagged({ kind, collection, id, ...(collection === 'boxes' && chance(0.3) && { isJob: true }) })
    }
    case 'delete-many':
      return { kind, ids: ids() }
    case 'delete-matching':
      return { kind, which: { kind: pick(random, ['x', 'y']) }, isJob: chance(0.4) }
    case 'restore':
      return { kind, ...someRecord(random, known) }
  }
}
