/** A declaration as the checks look at it: what can be read of it, whatever else is wrong. */
import { type FieldShape, isRecord, type Schema, shapeOf } from '../field.ts'
import { at } from '../place.ts'
import type { FieldType } from '../resource.ts'
import { own } from './problem.ts'

/** A field, as far as it can be read. */
export interface FieldView {
  readonly name: string
  readonly path: string
  readonly declared: Schema
  readonly shape: FieldShape
  readonly writeOnly: boolean
}

/** A resource, as far as it can be read. */
export interface ResourceView {
  readonly name: string
  readonly path: string
  readonly declared: Readonly<Record<string, unknown>>
  readonly fields: ReadonlyMap<string, FieldView>
  readonly owner: unknown
  /** The access declared, by action; empty where there is none. */
  readonly access: Readonly<Record<string, unknown>>
}

/** All resources by name: those that are objects. */
export type ResourceViews = ReadonlyMap<string, ResourceView>

/** Looks at every resource of a declaration. */
export function viewsOf(declaration: Readonly<Record<string, unknown>>): ResourceViews {
  const resources = own(declaration, 'resources')
  if (!isRecord(resources)) return new Map()
  const views = Object.entries(resources).flatMap(([name, declared]) =>
    isRecord(declared) ? [viewOf(name, declared, at('resources', name))] : [],
  )
  return new Map(views.map((view) => [view.name, view]))
}

function viewOf(name: string, declared: Record<string, unknown>, path: string): ResourceView {
  const fields = own(declared, 'fields')
  const access = own(declared, 'access')
  const views = Object.entries(isRecord(fields) ? fields : {}).map(([field, written]): FieldView => {
    const schema = isRecord(written) ? written : {}
    const place = at(at(path, 'fields'), field)
    return { name: field, path: place, declared: schema, shape: shapeOf(schema), writeOnly: schema.writeOnly === true }
  })
  return {
    name,
    path,
    declared,
    fields: new Map(views.map((view) => [view.name, view])),
    owner: own(declared, 'owner'),
    access: isRecord(access) ? access : {},
  }
}

/** Whether values of a type can be compared with each other: those that a column of their own holds. */
export function isComparable(type: FieldType): boolean {
  return type === 'string' || type === 'integer' || type === 'number' || type === 'decimal' || type === 'boolean'
}
