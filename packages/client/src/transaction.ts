/**
 * Several changes as one request, of which all are made or none. Each call within a transaction returns what its result
 * will be: later calls may take its values before they exist.
 */
import { byName, type CreateOptions, idOf, type NestedBody, type Target } from './collection.ts'
import { type ConditionOptions, conditionFor } from './conflicts.ts'
import { exchange, segment, setEtag } from './exchange.ts'
import type { CollectionTypes, UntypedCollection, UntypedInterface } from './interface-types.ts'
import type { Send } from './send.ts'

declare const value: unique symbol
declare const record: unique symbol

/** A value of a record that does not exist yet. */
export interface Reference<Value> {
  readonly $ref: string
  readonly [value]?: Value
}

/** A record that a transaction will create or change. Its members are references. */
export type Later<Data> = { readonly [Name in keyof Data]-?: Reference<Exclude<Data[Name], undefined>> } & {
  readonly [record]: Data
}

/** A body whose members may be references. */
export type Referring<Body> = { [Name in keyof Body]: Body[Name] | Reference<Body[Name]> }

type LaterTarget<Types extends CollectionTypes> = Target<Types> | Later<Types['record']>
type Condition = Pick<ConditionOptions, 'ifMatch'>

/** The changes of a collection within a transaction. Nothing is sent before the function of the transaction returns. */
export interface TransactionCollection<Types extends CollectionTypes = UntypedCollection, All = UntypedInterface> {
  create(record: Referring<Types['create']>): Later<Types['record']>
  /** Changes the given fields (JSON Merge Patch): `null` removes a value. */
  update(target: LaterTarget<Types>, changes: Referring<Types['patch']>, options?: Condition): Later<Types['record']>
  /** Replaces the whole record. */
  replace(target: LaterTarget<Types>, record: Referring<Types['replace']>, options?: Condition): Later<Types['record']>
  delete(target: LaterTarget<Types>, options?: Condition): void
  restore(target: LaterTarget<Types>): Later<Types['record']>
  /** The collections within a record. */
  within(target: LaterTarget<Types>): {
    readonly [Name in Types['nested']]: {
      create(record: Referring<NestedBody<TypesIn<All, Name>>>): Later<TypesIn<All, Name>['record']>
    }
  }
}

type TypesIn<All, Name extends string> = All[Name & keyof All] extends CollectionTypes
  ? All[Name & keyof All]
  : UntypedCollection

/** The collections of an interface within a transaction. */
export type Transaction<All = UntypedInterface> = {
  readonly [Name in keyof All]: All[Name] extends CollectionTypes ? TransactionCollection<All[Name], All> : never
}

/** What a transaction gives: the records in place of what they were before, and everything else as it is. */
export type Made<Value> = Value extends { readonly [record]: infer Data }
  ? Data
  : Value extends object
    ? { readonly [Name in keyof Value]: Made<Value[Name]> }
    : Value

/** Runs a transaction. */
export type RunTransaction<All> = <Value>(
  work: (transaction: Transaction<All>) => Value,
  options?: CreateOptions,
) => Promise<Made<Value>>

interface Operation {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly as: string
  /** The record that the change was made from. */
  readonly before?: object | undefined
  readonly ifMatch?: string | undefined
}

/** The transactions of a client. */
export function transactionsOf(send: Send): RunTransaction<UntypedInterface> {
  return async (work, { idempotencyKey, ...options } = {}) => {
    const recorder = new Recorder()
    const given = work(byName((name) => recorder.collection(segment(name))))
    const operations = await Promise.all(
      recorder.operations.map(async ({ before, ifMatch, ...operation }) => ({
        ...operation,
        if_match: await conditionFor(send, operation.path, before, { ...options, ifMatch }),
      })),
    )
    const headers = { 'idempotency-key': idempotencyKey }
    const { body } = await exchange(send, 'POST', '/transactions', { ...options, headers, body: { operations } })
    const results = body?.['results'] as readonly { readonly body?: object; readonly etag?: string }[]
    for (const { body: record, etag } of results) if (record && etag) setEtag(record, etag)
    return recorder.made(given, (index) => results[index]?.body) as never
  }
}

/** Notes the changes of a transaction. */
class Recorder {
  readonly operations: Operation[] = []
  /** What was returned, by the index of its operation. */
  readonly #later = new WeakMap<object, number>()
  readonly #references = new WeakSet<object>()

  collection(path: string): TransactionCollection {
    return {
      create: (record) => this.#note({ method: 'POST', path, body: record }),
      update: (target, changes, options) => this.#change('PATCH', path, target, options, changes),
      replace: (target, record, options) => this.#change('PUT', path, target, options, record),
      delete: (target, options) => void this.#change('DELETE', path, target, options),
      restore: (target) => this.#note({ method: 'POST', path: `${this.#pathOf(path, target)}/restore` }),
      within: (target) =>
        byName((name) => {
          const { create } = this.collection(this.#pathOf(path, target) + segment(name))
          return { create }
        }) as never,
    }
  }

  /** A value with its records in place of what was returned for them. */
  made(given: unknown, resultAt: (index: number) => unknown): unknown {
    if (typeof given !== 'object' || given === null) return given
    const index = this.#later.get(given)
    if (index !== undefined) return resultAt(index)
    if (Array.isArray(given)) return given.map((each) => this.made(each, resultAt))
    return Object.fromEntries(Object.entries(given).map(([name, each]) => [name, this.made(each, resultAt)]))
  }

  #change(method: string, path: string, target: string | object, options: Condition = {}, body?: unknown): never {
    const isRecord = typeof target !== 'string' && !this.#later.has(target)
    const before = isRecord && Object.keys(target).length > 1 ? target : undefined
    return this.#note({ method, path: this.#pathOf(path, target), body, before, ifMatch: options.ifMatch })
  }

  #pathOf(path: string, target: string | object): string {
    const index = typeof target === 'string' ? undefined : this.#later.get(target)
    return index === undefined ? path + segment(idOf(target)) : `${path}/{${nameOf(index)}.id}`
  }

  #note({ body, ...operation }: Omit<Operation, 'as'>): never {
    const index = this.operations.length
    this.operations.push({ ...operation, as: nameOf(index), ...(body !== undefined && { body: this.#literal(body) }) })
    const later = byName((member) => {
      const reference = { $ref: `${nameOf(index)}.${member}` }
      this.#references.add(reference)
      return reference
    })
    this.#later.set(later, index)
    return later as never
  }

  /** A body in which only references look like references. */
  #literal(given: unknown): unknown {
    if (typeof given !== 'object' || given === null || this.#references.has(given)) return given
    if (Array.isArray(given)) return given.map((each) => this.#literal(each))
    const members = Object.entries(given)
    const made = Object.fromEntries(members.map(([name, each]) => [name, this.#literal(each)]))
    return members.length === 1 && ('$ref' in made || '$value' in made) ? { $value: given } : made
  }
}

function nameOf(index: number): string {
  return `r${index}`
}
