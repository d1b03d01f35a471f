/**
 * Random declarations of three collections that refer to each other, with random access rules and records; and what a
 * caller can find in them, by a model that sees nothing but the records and fields that the caller may read (WHR-3).
 */
import type { AccessRule, Condition, InterfaceDeclaration } from 'resourced-contract/model/declaration'

/** Gives random numbers, the same for the same seed. */
export type Random = (below: number) => number

export const callers = ['ann', 'bob', 'eve'] as const
export type Caller = (typeof callers)[number]

/** The references: of `shops` to themselves, of `goods` to shops, and of `marks` to goods and shops. */
export const references: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  shops: { parent_id: 'shops' },
  goods: { shop_id: 'shops' },
  marks: { good_id: 'goods', seller_id: 'shops' },
}
export const collections = Object.keys(references)

const fields = ['name', 'size', 'is_open'] as const

export type Row = Readonly<Record<string, unknown>> & { readonly id: string }
export type Rows = ReadonlyMap<string, readonly Row[]>

/** The rules of one collection. */
interface Rules {
  readonly read: readonly AccessRule[]
  readonly fields: Readonly<Record<string, readonly AccessRule[]>>
}

export interface Library {
  readonly declaration: InterfaceDeclaration
  readonly rules: Readonly<Record<string, Rules>>
}

const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)] as T

export const names = ['a', 'b', 'c', 'd'] as const

/** A rule; rules of goods and marks may follow a reference, so that no rules lead in a circle. */
function rule(random: Random, collection: string): AccessRule {
  const to = Object.entries(references[collection] ?? {}).filter(([, target]) => target !== collection)
  const choices: AccessRule[] = [
    'anyone',
    'owner',
    'role:editor',
    { where: { size: { gte: random(4) } } },
    { where: { or: [{ is_open: true }, { name: { in: ['a', pick(random, names)] } }] } },
    ...to.map(([through]): AccessRule => ({ through, action: 'read' })),
    ...(collection === 'shops' ? [{ some: 'grants', where: { shop_id: { record: 'id' }, to: { caller: 'id' } } }] : []),
  ]
  return random(12) === 0 ? 'nobody' : pick(random, choices)
}

function rules(random: Random, collection: string): Rules {
  const some = () => Array.from({ length: 1 + random(2) }, () => rule(random, collection))
  const restricted = [...fields, ...Object.keys(references[collection] ?? {})].filter(() => random(4) === 0)
  return { read: some(), fields: Object.fromEntries(restricted.map((name) => [name, some()])) }
}

export function library(random: Random): Library {
  const all = Object.fromEntries(collections.map((name) => [name, rules(random, name)]))
  const anyone = { create: 'anyone', update: 'anyone', delete: 'anyone' } as const
  const resources = Object.entries(all).map(([name, { read, fields: restricted }]) => {
    const to = Object.entries(references[name] ?? {}).map(([field, target]) => [
      field,
      {
        ...{ reference: target, optional: true, onDelete: 'clear', requires: 'none' },
        ...(field === 'parent_id' && { inverse: 'children' }),
      },
    ])
    return [
      name,
      {
        fields: {
          name: { type: 'string', filter: true, sort: true, optional: true },
          size: { type: 'integer', filter: true, sort: true, optional: true },
          is_open: { type: 'boolean', optional: true },
          owner_id: { type: 'string', readOnly: true, filter: true },
          ...Object.fromEntries(to),
        },
        owner: 'owner_id',
        access: {
          ...anyone,
          read,
          fields: Object.fromEntries(Object.entries(restricted).map(([field, own]) => [field, { read: own }])),
        },
      },
    ]
  })
  const grants = {
    fields: { shop_id: { reference: 'shops', requires: 'none' }, to: { type: 'string' } },
    access: { create: 'anyone' },
  }
  const declaration = { name: 'library', resources: { ...Object.fromEntries(resources), grants } }
  return { declaration: declaration as unknown as InterfaceDeclaration, rules: all }
}

/** A relation: its name, where it leads, and the field that makes it. */
export interface Way {
  readonly name: string
  readonly to: 'one' | 'many'
  readonly target: string
  readonly field: string
}

export function waysOf(collection: string): Way[] {
  const own = Object.entries(references[collection] ?? {}).map(
    ([field, target]): Way => ({ name: field.replace(/_id$/, ''), to: 'one', target, field }),
  )
  const back = Object.entries(references).flatMap(([other, to]) =>
    Object.entries(to).flatMap(([field, target]): Way[] =>
      target === collection
        ? [{ name: field === 'parent_id' ? 'children' : other, to: 'many', target: other, field }]
        : [],
    ),
  )
  return [...own, ...back]
}

/** A random condition that follows so many relations. */
export function condition(random: Random, collection: string, steps: number, depth: number): Condition {
  const inner = () => condition(random, collection, steps, depth - 1)
  const choice = random(10)
  if (depth > 0 && choice === 0) return { and: [inner(), inner()] }
  if (depth > 0 && choice === 1) return { or: [inner(), inner()] }
  if (depth > 0 && choice === 2) return { not: inner() }
  if (steps > 0 && choice < 8) {
    const { name, to, target } = pick(random, waysOf(collection))
    const related = () => (random(8) === 0 ? {} : condition(random, target, steps - 1, 1))
    if (to === 'one') return { [name]: related() }
    return { [name]: { [pick(random, ['some', 'none', 'every'])]: related() } }
  }
  return pick(random, [
    () => ({ name: pick(random, names) }),
    () => ({ name: { not: pick(random, names) } }),
    () => ({ name: { in: [pick(random, names), pick(random, names)] } }),
    () => ({ size: { gte: random(4) } }),
    () => ({ size: { lt: random(4) } }),
    () => ({ size: { null: random(2) === 0 } }),
    () => ({ is_open: random(2) === 0 }),
    () => ({ owner_id: { caller: 'id' } }),
  ])() as Condition
}

type Truth = boolean | undefined

/** What one caller sees. */
export class View {
  readonly #caller: Caller
  readonly #rules: Library['rules']
  readonly #rows: Rows
  readonly #seen = new Map<string, readonly Row[]>()

  constructor({ rules }: Library, rows: Rows, caller: Caller) {
    this.#rules = rules
    this.#rows = rows
    this.#caller = caller
  }

  /** The records that the caller may read, without the values that they may not read. */
  records(collection: string): readonly Row[] {
    const known = this.#seen.get(collection)
    if (known !== undefined) return known
    const { read, fields: restricted } = this.#rules[collection] as Rules
    const seen = (this.#rows.get(collection) ?? []).flatMap((row): Row[] => {
      if (!this.#permits(collection, read, row)) return []
      const hidden = Object.entries(restricted).filter(([, own]) => !this.#permits(collection, own, row))
      return [{ ...row, ...Object.fromEntries(hidden.map(([name]) => [name, null])) }]
    })
    this.#seen.set(collection, seen)
    return seen
  }

  #permits(collection: string, all: readonly AccessRule[], row: Row): boolean {
    return all.some((each) => {
      if (each === 'anyone' || each === 'nobody') return each === 'anyone'
      if (each === 'owner') return row['owner_id'] === this.#caller
      if (each === 'role:editor') return this.#caller === 'eve'
      if (typeof each !== 'object') throw new Error(`unknown rule: ${String(each)}`)
      if ('where' in each && !('some' in each)) return this.#holds(collection, each.where as Condition, row) === true
      if ('some' in each) {
        return (this.#rows.get('grants') ?? []).some(
          (grant) => grant['shop_id'] === row.id && grant['to'] === this.#caller,
        )
      }
      if (!('through' in each)) throw new Error('unknown rule')
      const target = references[collection]?.[each.through] as string
      const parent = this.#rows.get(target)?.find(({ id }) => id === row[each.through])
      return parent !== undefined && this.#permits(target, (this.#rules[target] as Rules).read, parent)
    })
  }

  /** Whether rules can permit nothing to the caller, whatever the records are. */
  #permitNothing(collection: string, all: readonly AccessRule[]): boolean {
    return all.every((each) => {
      if (each === 'nobody') return true
      if (each === 'role:editor') return this.#caller !== 'eve'
      if (typeof each !== 'object' || !('through' in each)) return false
      return this.#readsNothing(references[collection]?.[each.through] as string)
    })
  }

  #readsNothing(collection: string): boolean {
    return this.#permitNothing(collection, (this.#rules[collection] as Rules).read)
  }

  #isHidden(collection: string, field: string): boolean {
    const own = this.#rules[collection]?.fields[field]
    return own !== undefined && this.#permitNothing(collection, own)
  }

  /** Whether a list is refused: it names what the caller reads in no record. */
  refuses(collection: string, asked: Condition): boolean {
    return this.#readsNothing(collection) || this.#names(collection, asked)
  }

  #names(collection: string, asked: Condition): boolean {
    return Object.entries(asked).some(([word, value]) => {
      if (word === 'and' || word === 'or') return (value as Condition[]).some((each) => this.#names(collection, each))
      if (word === 'not') return this.#names(collection, value as Condition)
      const way = waysOf(collection).find(({ name }) => name === word)
      if (way === undefined) return this.#isHidden(collection, word)
      const source = way.to === 'one' ? collection : way.target
      const inner = way.to === 'one' ? [value as Condition] : Object.values(value as Record<string, Condition>)
      if (this.#readsNothing(way.target) || this.#isHidden(source, way.field)) return true
      return inner.some((each) => this.#names(way.target, each))
    })
  }

  /** The records for which a condition is true, in their order. */
  find(collection: string, asked: Condition): Row[] {
    return this.records(collection).filter((row) => this.#holds(collection, asked, row) === true)
  }

  /** The value by which a record is sorted. */
  sortValue(collection: string, path: readonly string[], row: Row | undefined): unknown {
    const [first = '', ...others] = path
    if (row === undefined || others.length === 0) return row?.[first] ?? null
    const { target, field } = waysOf(collection).find(({ name }) => name === first) as Way
    return this.sortValue(
      target,
      others,
      this.records(target).find(({ id }) => id === row[field]),
    )
  }

  #holds(collection: string, asked: Condition, row: Row): Truth {
    return every(Object.entries(asked).map(([word, value]) => this.#member(collection, word, value, row)))
  }

  #member(collection: string, word: string, value: unknown, row: Row): Truth {
    const each = (list: unknown) => (list as Condition[]).map((one) => this.#holds(collection, one, row))
    if (word === 'and') return every(each(value))
    if (word === 'or') return opposite(every(each(value).map(opposite)))
    if (word === 'not') return opposite(this.#holds(collection, value as Condition, row))
    const way = waysOf(collection).find(({ name }) => name === word)
    if (way === undefined) return this.#compares(row[word] ?? null, value)
    const { to, target, field } = way
    const isTrue = (inner: Condition) => (other: Row) => this.#holds(target, inner, other) === true
    if (to === 'one') {
      return this.records(target)
        .filter(({ id }) => id === row[field])
        .some(isTrue(value as Condition))
    }
    const [[quantifier, inner] = ['', {}]] = Object.entries(value as Record<string, Condition>)
    const related = this.records(target).filter((other) => other[field] === row.id)
    if (quantifier === 'every') return related.every(isTrue(inner))
    return related.some(isTrue(inner)) === (quantifier === 'some')
  }

  #compares(own: unknown, value: unknown): Truth {
    if (typeof value !== 'object' || value === null) return own === null ? undefined : own === value
    const [[operator, operand] = ['', undefined]] = Object.entries(value)
    if (operator === 'caller') return own === null ? undefined : own === this.#caller
    if (operator === 'null') return (own === null) === operand
    if (operator === 'not') return own !== operand
    if (own === null) return undefined
    if (operator === 'in') return (operand as unknown[]).includes(own)
    return operator === 'gte' ? Number(own) >= Number(operand) : Number(own) < Number(operand)
  }
}

function every(values: readonly Truth[]): Truth {
  return values.includes(false) ? false : values.includes(undefined) ? undefined : true
}

function opposite(value: Truth): Truth {
  return value === undefined ? undefined : !value
}
