/**
 * Members of objects that requests may filter by (WHR-4): their names, `attributes.color.name`, their schemas and their
 * values. Names of fields and of such members have no dots.
 */
import { isObject } from './plain-copy.ts'

type Schema = Readonly<Record<string, unknown>>

/** A declared path into an object. */
export interface MemberPath {
  /** The path as it is declared, `/color/name`. */
  readonly pointer: string
  /** `attributes.color.name`. */
  readonly name: string
  /** The schema of the member; `undefined`: the schema of the field does not have the path. */
  readonly schema: Schema | undefined
}

/** The paths that a declared field lists; none if `filter` is no list. */
export function memberPaths(field: string, declared: Schema): MemberPath[] {
  const { filter } = declared
  if (!Array.isArray(filter)) return []
  const pointers = [...new Set(filter)].filter((each) => typeof each === 'string' && each.startsWith('/')) as string[]
  return pointers.map((pointer) => {
    const steps = pointer.slice(1).split('/')
    return { pointer, name: [field, ...steps].join('.'), schema: schemaAt(declared, steps) }
  })
}

function schemaAt(root: Schema, steps: readonly string[]): Schema | undefined {
  return steps.reduce<Schema | undefined>(
    (schema, step) => dereferenced(root, ownValue(schema?.['properties'], step)),
    dereferenced(root, root),
  )
}

/** The most references that lead from one to the next: they may form a circle. */
const mostReferences = 10

function dereferenced(root: Schema, found: unknown): Schema | undefined {
  let schema = found
  for (let count = 0; count < mostReferences; count++) {
    if (!isObject(schema)) return undefined
    const { $ref } = schema
    if (typeof $ref !== 'string') return schema
    if (!$ref.startsWith('#/')) return undefined
    schema = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((part, step) => ownValue(part, step.replaceAll('~1', '/').replaceAll('~0', '~')), root)
  }
  return undefined
}

function ownValue(object: unknown, key: string): unknown {
  return isObject(object) && Object.hasOwn(object, key) ? object[key] : undefined
}

/** The JSON Pointer of a field or of a member. */
export function pointerOfName(name: string): string {
  return `/${name.replaceAll('.', '/')}`
}

/** The field that a name belongs to: the field itself, or the object of a member. */
export function fieldOfName(name: string): string {
  const end = name.indexOf('.')
  return end === -1 ? name : name.slice(0, end)
}

/** The value of a field, or of a member that the record need not have apart; `undefined`: there is none. */
export function valueOfName(record: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(record, name)) return record[name]
  return name.split('.').reduce<unknown>(ownValue, record)
}
