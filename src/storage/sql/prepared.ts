/** Statements that are run again and again with other values: their texts are put together once. */
import { Sql } from 'sql-template-tag'
import type { Statement } from '../transaction.ts'
import type { Bound } from './engine.ts'

/** A statement whose values are known. */
export type Ready = Pick<Statement, 'sql' | 'text' | 'values'>

/** A place in a statement, and where its value comes from. */
class Slot {
  readonly take: (about: never) => unknown
  constructor(take: (about: never) => unknown) {
    this.take = take
  }
}

/** A value that is not known yet: taken from what the statement is about when it is run. */
export function slot<About>(take: (about: About) => unknown): Bound {
  return new Slot(take) as unknown as Bound
}

/** A piece of SQL of which only the values differ from run to run, with slots in place of them. */
export function slotted<About>(example: Sql, of: (about: About) => Sql): Sql {
  const values = example.values.map((_, index) => slot((about: About) => of(about).values[index]))
  return new Sql(example.strings, values)
}

/** A statement with slots, to be run about one thing after the other. */
export function prepared<About>({ sql, text, values }: Sql): (about: About) => Ready {
  return (about) => ({
    sql,
    text,
    values: values.map((value) => (value instanceof Slot ? value.take(about as never) : value)) as Statement['values'],
  })
}

/** Keeps at most so many values under keys that callers shape. */
export function keptBy<Key extends WeakKey, Value>(
  most: number,
): (key: Key, shape: string, make: () => Value) => Value {
  const all = new WeakMap<Key, Map<string, Value>>()
  return (key, shape, make) => {
    const known = all.get(key) ?? new Map<string, Value>()
    const found = known.get(shape)
    if (found !== undefined) return found
    if (known.size >= most) known.clear()
    const made = make()
    all.set(key, known.set(shape, made))
    return made
  }
}
