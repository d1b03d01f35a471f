/**
 * Odd claims, and conditions that compare every type of field with them, with a second implementation of what they
 * select: by value.
 */

import type { BusinessRule, Condition, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { reference } from 'resourced-contract/model/type'
import { Type } from '../../packages/server/src/index.ts'

const { Optional, Decimal, String: Text, Integer, Number: Real, Boolean: Flag } = Type

const operators = ['gt', 'gte', 'lt', 'lte'] as const
/** The comparisons of business rules. */
export const codes = ['EQ', 'GT', 'GTE', 'LT', 'LTE', 'IN', 'NOT'] as const

/** A rule for each comparison of a field with one of the changed record: its code is in the response if it is false. */
const rulesFor = (field: string, of: string): BusinessRule[] =>
  codes.map((code) => {
    const value = { record: of }
    const name = code.toLowerCase()
    const comparison = name === 'eq' ? value : name === 'in' ? { in: [value] } : { [name]: value }
    const where = { [field]: comparison } as Condition
    return {
      on: 'create',
      code: `${field}_${of}_${code}`.toUpperCase(),
      message: 'No.',
      unless: { some: 'things', where },
    }
  })

const everyone = { create: 'anyone', update: 'anyone', delete: 'anyone' } as const
/** What a caller reads is what the condition in the claims selects. */
export const declaration: InterfaceDeclaration = {
  name: 'claims',
  resources: {
    things: {
      fields: {
        name: Optional(Text({ filter: true })),
        word: Optional(Text()),
        stage: Optional(Type.Enum(['b', 'c'])),
        day: Optional(Text({ format: 'date' })),
        at: Optional(Text({ format: 'date-time' })),
        count: Optional(Integer({ filter: true })),
        level: Optional(Real({ filter: true })),
        price: Optional(Decimal({ precision: 38, scale: 4 })),
        flag: Optional(Flag()),
        up_id: Optional(reference('things')),
      },
      access: { ...everyone, read: ['role:admin', ({ claims }) => claims['where'] as Condition] },
    },
    probes: {
      fields: { ratio: Optional(Real()), whole: Optional(Integer()) },
      access: everyone,
      rules: [...rulesFor('count', 'ratio'), ...rulesFor('level', 'whole'), ...rulesFor('level', 'ratio')],
    },
  },
}

/** The claims. */
export const values = [
  ...[0, -0, 1, 2, 1.5, -0.5, 5e-324, 1e300, -1e300, 2 ** 53, 2 ** 63, -(2 ** 63), 9007199254740991],
  ...[Number.NaN, Infinity, -Infinity, true, null, undefined, {}, [], [1.5, 2], ['b', 'a\0'], [1, Infinity]],
  ...['', '\0', 'a\0', 'b\0c', 'b\ud800', '\udfff', 'b', 'B', '\uffff', '🚀', '1.5', '1.50', '1e2', '0.00001'],
  ...[`1${'0'.repeat(120)}`, `0.${'0'.repeat(150)}1`, '2026-01-01T00:00:00Z', '2026-01-01', '2026-13-01'],
]

/** The records, without ids. */
export const records = [
  {},
  { name: '', word: '', count: 0, level: 0, price: '0', flag: false },
  { name: 'a', word: 'a', count: 1, level: 1.5, price: '1.5', flag: true, day: '2026-01-01' },
  { name: 'b', word: 'b', stage: 'b', count: 2, level: -0.5, price: '-0.5', at: '2026-01-01T01:00:00+01:00' },
  { name: 'b\u0001', word: 'B', stage: 'c', count: -1, level: 1e300, price: `1${'0'.repeat(33)}`, day: '2027-01-01' },
  { name: '\ufffd', word: 'bc', count: 9007199254740991, level: 5e-324, price: '0.0001', at: '2026-01-01T00:00:00.1Z' },
  { name: '🚀', word: '\uffff', count: -9007199254740991, level: -1e300, price: `-1${'0'.repeat(33)}` },
]

type Value = string | number | boolean | null | undefined
/** The fields whose comparisons are judged. */
export const types = {
  name: 'text',
  word: 'text',
  stage: 'text',
  day: 'text',
  count: 'number',
  level: 'number',
  price: 'decimal',
  flag: 'boolean',
} as const
export type Judged = keyof typeof types

/** A second implementation of comparisons: the order of a field's value and another one; `undefined`: unknown. */
function orderOf(field: Judged, actual: Value, wanted: unknown): number | undefined {
  if (actual === null || actual === undefined) return undefined
  const type = types[field]
  const isNumber = typeof wanted === 'number' && Number.isFinite(wanted)
  if (type === 'number') return isNumber ? sign(Number(actual) - wanted) : undefined
  if (type === 'boolean') return typeof wanted === 'boolean' ? Number(actual) - Number(wanted) : undefined
  if (type === 'decimal') {
    if (!isNumber && !(typeof wanted === 'string' && /^-?\d+(\.\d+)?$/.test(wanted))) return undefined
    return (
      Number(scaled(String(actual)) - scaled(String(wanted))) &&
      sign(scaled(String(actual)) > scaled(String(wanted)) ? 1 : -1)
    )
  }
  if (typeof wanted !== 'string') return undefined
  const [left, right] = [[...String(actual)], [...wanted]].map((text) =>
    text.map((each) => each.codePointAt(0) as number),
  )
  for (const [index, code] of (left as number[]).entries()) {
    const other = right?.[index]
    if (code !== other) return other === undefined || code > other ? 1 : -1
  }
  return sign((left as number[]).length - (right as number[]).length)
}

/** A decimal as an integer: the exact value of its digits. */
function scaled(text: string): bigint {
  const [, minus, whole = '', fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(text) ?? []
  return BigInt(`${minus}${whole}${fraction}`) * 10n ** BigInt(400 + Number(power) - fraction.length)
}

const sign = (order: number) => (order > 0 ? 1 : order < 0 ? -1 : 0)
const negated = (result: boolean | undefined) => (result === undefined ? undefined : !result)
/** The claim that conditions name. */
export const v = { caller: 'claims.v' } as const

/** A condition with a claim. */
export interface Form {
  readonly of: (field: string) => Condition
  /** The result for a record; `undefined`: unknown. */
  readonly result: (field: Judged, actual: Value, wanted: unknown) => boolean | undefined
}

const equals = (field: Judged, actual: Value, wanted: unknown) => {
  const order = orderOf(field, actual, wanted)
  return order === undefined ? undefined : order === 0
}
const compares = (operator: (typeof operators)[number]) => (field: Judged, actual: Value, wanted: unknown) => {
  const order = orderOf(field, actual, wanted)
  if (order === undefined) return undefined
  return operator.startsWith('g')
    ? order > 0 || (operator === 'gte' && order === 0)
    : order < 0 || (operator === 'lte' && order === 0)
}
const among = (others: readonly unknown[]) => (field: Judged, actual: Value, wanted: unknown) => {
  const results = [wanted, ...others].flat().map((each) => equals(field, actual, each))
  return results.includes(true) ? true : results.includes(undefined) ? undefined : false
}
const constantOf = (field: string) => records[3]?.[field as 'name'] ?? (field === 'flag' ? true : '2026-01-01')

const plain: readonly Form[] = [
  { of: (field) => ({ [field]: v }), result: equals },
  { of: (field) => ({ [field]: { in: [v] } }), result: among([]) },
  {
    of: (field) => ({ [field]: { in: [v, constantOf(field)] } }),
    result: (field, actual, wanted) => among([constantOf(field)])(field, actual, wanted),
  },
  {
    of: (field) => ({ [field]: { not: v } }),
    result: (field, actual, wanted) => {
      // The exception: `null` differs from every value that is there.
      const isThere = equals(field, records[1]?.[field as 'name'] ?? constantOf(field), wanted) !== undefined
      return isThere && (actual === null || actual === undefined) ? true : negated(equals(field, actual, wanted))
    },
  },
  ...operators.map(
    (operator): Form => ({ of: (field) => ({ [field]: { [operator]: v } }), result: compares(operator) }),
  ),
]
/** Every operator, and its negation. */
export const forms: readonly Form[] = [
  ...plain,
  ...plain.map(
    ({ of, result }): Form => ({
      of: (field) => ({ not: of(field) }),
      result: (...about) => negated(result(...about)),
    }),
  ),
]
