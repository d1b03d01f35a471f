/** Two sets of schemas, place by place: a queue of pairs, each looked at once, however many operations lead to it. */
import type { Budget } from '../budget.ts'
import { compareUnions } from './compare-unions.ts'
import type { Pair, SchemaDifference, Way } from './pair.ts'
import type { Reader } from './union.ts'

/** All pairs of two documents. Add those of operations, run, and ask what each leads to. */
export interface SchemaComparison {
  /** The number of the pair. */
  add(pair: Pair): number
  run(): void
  /** The numbers of the pairs, and theirs, in which something differs. */
  different(pairs: readonly number[]): number[]
  differences(pair: number): readonly SchemaDifference[]
  way(pair: number): Way
}

/** Begins to compare the schemas of two documents. */
export function schemaComparison(older: Reader, newer: Reader, budget: Budget): SchemaComparison {
  const numbers = new Map<string, number>()
  const pairs: Pair[] = []
  const done: { readonly differences: readonly SchemaDifference[]; readonly inside: readonly number[] }[] = []

  function add(pair: Pair): number {
    const key = `${pair.way} ${older.key(pair.old)} ${newer.key(pair.new)}`
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, pairs.length)
    return pairs.push(pair) - 1
  }

  return {
    add,
    run() {
      // The array grows while it is walked: breadth first, so that every field is named by the shortest way to it.
      for (const pair of pairs) {
        budget.spend(1)
        const { differences, inside } = compareUnions(older, newer, pair, budget)
        done.push({ differences, inside: inside.map(add) })
      }
    },
    different(from) {
      const met = new Set(from)
      // A set hands out what is added to it while it is walked.
      for (const number of met) {
        budget.spend(1)
        for (const each of done[number]?.inside ?? []) met.add(each)
      }
      return [...met].filter((number) => (done[number]?.differences.length ?? 0) > 0)
    },
    differences: (number) => done[number]?.differences ?? [],
    way: (number) => (pairs[number] as Pair).way,
  }
}
