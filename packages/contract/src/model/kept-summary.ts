/** Summaries and sums that are kept with every change (SUM-3, RES-17): as they are declared, and complete. */

import { mostDigits } from './decimal.ts'
import { shapeOf } from './field.ts'
import { isObject } from './plain-copy.ts'
import { nameRelations, type RelationSource } from './relations.ts'

/** Figures that are kept with every change of a record (SUM-3). */
export interface SummaryDeclaration {
  /** The groups, as `group` of a request names them: at most three; none: one row for all records. */
  readonly group: readonly string[]
  /** Fields that are added up: integers and decimals. */
  readonly sum?: readonly string[]
}

/** The same, complete. Groups have the names that requests have. */
export interface KeptSummary {
  readonly name: string
  readonly groups: readonly string[]
  readonly sums: readonly string[]
}

/** A sum of the records of a collection that another one keeps (`sumOf`). */
export interface Total {
  /** The collection that keeps it, and the field that holds it. */
  readonly collection: string
  readonly field: string
  /** The fields of this collection: the reference, and what is added up. */
  readonly reference: string
  readonly amount: string
}

type Members = Readonly<Record<string, unknown>>

/**
 * Gives sums without a type that of what they add up, and decimals all the digits that there are. What is declared
 * wrongly stays as it is.
 *
 * @param declaration a copy by `plainCopy`, which is changed
 */
export function formSums<T>(declaration: T): T {
  const fieldsOf = Object.entries(membersOf(isObject(declaration) ? declaration['resources'] : undefined)).map(
    ([name, resource]) => [name, Object.entries(membersOf(membersOf(resource)['fields']))] as const,
  )
  for (const [name, fields] of fieldsOf) {
    for (const [, declared] of fields) {
      const field = membersOf(declared)
      if (typeof field['sumOf'] !== 'string' || field['type'] !== undefined) continue
      const [relation = '', amount = ''] = field['sumOf'].split('.')
      const sources = fieldsOf.map(sourceOf)
      const { collection } = nameRelations(sourceOf([name, fields]), sources).relations.get(relation) ?? {}
      const added = fieldsOf.find(([each]) => each === collection)?.[1].find(([each]) => each === amount)?.[1]
      const { type, decimal } = shapeOf(membersOf(added))
      if (type === 'integer') Object.assign(field, { type })
      if (type === 'decimal') Object.assign(field, { type, precision: mostDigits, scale: decimal?.scale })
    }
  }
  return declaration
}

function membersOf(value: unknown): Members {
  return isObject(value) ? value : {}
}

function sourceOf([name, fields]: readonly [string, readonly (readonly [string, unknown])[]]): RelationSource {
  const references = fields.flatMap(([field, declared]) => {
    const { reference, as, inverse, writeOnly } = membersOf(declared)
    const isOne = typeof reference === 'string' && writeOnly !== true
    return isOne ? [{ field, collection: reference, as: textOf(as), inverse: textOf(inverse) }] : []
  })
  return { name, fields: new Set(fields.map(([field]) => field)), references }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
