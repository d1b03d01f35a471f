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
