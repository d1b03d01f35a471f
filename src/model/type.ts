/** The types of declarations in TypeScript: TypeBox's, and `Decimal`. */
import { type TUnsafe, Type } from 'typebox'
import type { FieldDeclaration } from './declaration.ts'

export * from 'typebox'

/** The options of a decimal field. Bounds are texts of digits, or numbers. */
export interface DecimalOptions extends FieldDeclaration {
  /** The most digits, 1 to 38. */
  readonly precision: number
  /** The number of digits after the decimal point. */
  readonly scale: number
  readonly minimum?: string | number
  readonly maximum?: string | number
  readonly exclusiveMinimum?: string | number
  readonly exclusiveMaximum?: string | number
  readonly multipleOf?: string | number
  readonly enum?: readonly (string | number)[]
}

/** The result of `Decimal`; `Static` makes it a string. */
export type TDecimal = TUnsafe<string> & { readonly '~kind': 'Decimal' }

/**
 * A number of decimal digits that is stored and compared exactly, such as an amount of money. Its values are texts of
 * digits: `"19.90"`. Clients may send a number too.
 *
 * @example
 * Type.Decimal({ precision: 12, scale: 2, minimum: 0, filter: true, sort: true })
 */
export function Decimal(options: DecimalOptions): TDecimal {
  return Type.Unsafe<string>({ ...options, type: 'decimal' }) as TDecimal
}
