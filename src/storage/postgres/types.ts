/** PostgreSQL's values as every engine gives them (`Row`): numbers, texts and bytes, nothing else. */
import pg from 'pg'

const number = (text: string) => Number(text)

// By the numbers that PostgreSQL's own catalog has for its types. Integers of ours are all within 2^53.
const parsers = new Map<number, (text: string) => unknown>([
  [16, (text) => (text === 't' ? 1 : 0)], // boolean
  [17, (text) => pg.types.getTypeParser(17, 'text')(text)], // bytea
  [20, number], // bigint
  [21, number], // smallint
  [23, number], // integer
  [26, number], // oid
  [700, number], // real
  [701, number], // double precision
  [1700, number], // numeric: what a sum of bigint is
])

const asText = (text: string) => text

/** For `types` of a `pg` client, pool or query. What is not listed, JSON and moments among it, stays the text that it is. */
export const rowTypes: pg.CustomTypesConfig = {
  getTypeParser: ((type: number) => parsers.get(type) ?? asText) as pg.CustomTypesConfig['getTypeParser'],
}
