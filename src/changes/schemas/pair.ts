/** Two schemas that take the same place in two interfaces. */
import type { Difference } from '../finding.ts'
import type { Schemas } from './shape.ts'

/** Whose values a schema describes. `error`: an answer that is an error; `code`: the code in it. */
export type Way = 'request' | 'response' | 'error' | 'code'

/** What is told of a difference in a schema; who meets it is added later. */
export type SchemaDifference = Omit<Difference, 'resources' | 'operations' | 'direction'>

/** Two schemas that take the same place. */
export interface Pair {
  readonly old: Schemas
  readonly new: Schemas
  readonly way: Way
  /** The way to it in words of the interface: `currencies[].code`. */
  readonly field: string
  /** The parameter or header field that it belongs to. */
  readonly within?: string
  /** The body of a list (`list`), and the array in it: what they hold are records, whose fields count from there. */
  readonly envelope?: 'list' | 'array'
}

/** What comparing one pair gives. */
export interface Compared {
  readonly differences: readonly SchemaDifference[]
  readonly inside: readonly Pair[]
}

/** Where a pair is, in both documents. */
export function placesOf({ old, new: now }: Pick<Pair, 'old' | 'new'>): SchemaDifference['places'] {
  const [was, is] = [old[0]?.pointer, now[0]?.pointer]
  return [
    ...(was === undefined ? [] : [{ in: 'old', of: 'openapi', pointer: was } as const]),
    ...(is === undefined ? [] : [{ in: 'new', of: 'openapi', pointer: is } as const]),
  ]
}

const longestWay = 200

/** The way to a field inside of another; of a very long one the end. */
export function fieldIn(field: string, name: string): string {
  const way = field === '' ? name : `${field}.${name}`
  return way.length > longestWay ? `…${way.slice(-longestWay)}` : way
}
