/** Statements that run many times with different values: their texts are built once, with slots in place of values. */
import { Sql } from 'sql-template-tag'
import type { Statement } from '../transaction.ts'
import type { Bound } from './engine.ts'

/** A placeholder for a value, and where the value comes from. */
class Slot {
  readonly take: (about: never) => unknown
  constructor(take: (about: never) => unknown) {
    this.take = take
  }
}

/** A placeholder whose value is taken from `about` when the statement runs. */
export function slot<About>(take: (about: About) => unknown): Bound {
  return new Slot(take) as unknown as Bound
}

/** A piece of SQL with slots in place of the values, which differ between runs. */
export function slotted<About>(example: Sql, of: (about: About) => Sql): Sql {
  const values = example.values.map((_, index) => slot((about: About) => of(about).values[index]))
  return new Sql(example.strings, values)
}

/** A statement with its slots filled. */
export function filled<About>({ sql, text, values }: Statement, about: About): Statement {
  const given: unknown[] = []
  for (const value of values) given.push(value instanceof Slot ? value.take(about as never) : value)
  return { sql, text, values: given as Statement['values'] }
}
