/** The comparisons of `model/operators.ts` in SQL. */
import type { Comparison } from 'resourced-contract/model/operators'
import sql, { raw, type Sql } from 'sql-template-tag'

/** A comparison with a part of a text in the words of each engine. Both texts are folded. */
export type TextComparison = Readonly<Record<'sqlite' | 'postgres', (text: Sql, part: Sql) => Sql>>

/** Each comparison: its sign and that of its negation, or the words of the engines. */
export const comparisonSql: Readonly<Record<Comparison, readonly [sign: Sql, negated: Sql] | TextComparison>> = {
  eq: [raw('='), raw('<>')],
  gt: [raw('>'), raw('<=')],
  gte: [raw('>='), raw('<')],
  lt: [raw('<'), raw('>=')],
  lte: [raw('<='), raw('>')],
  contains: {
    sqlite: (text, part) => sql`instr(${text}, ${part}) > 0`,
    postgres: (text, part) => sql`strpos(${text}, ${part}) > 0`,
  },
  startsWith: {
    sqlite: (text, part) => sql`substr(${text}, 1, length(${part})) = ${part}`,
    postgres: (text, part) => sql`starts_with(${text}, ${part})`,
  },
}

/** The least text greater than every text with this prefix; `undefined` if there is none. */
export function after(prefix: string): string | undefined {
  const characters = [...prefix]
  while (characters.length > 0) {
    const last = (characters.pop() as string).codePointAt(0) as number
    if (last < 0x10ffff) {
      // Surrogates are not characters: skip them.
      return characters.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
    }
  }
  return undefined
}
