/** An OpenAPI document as it was parsed, and how its references are followed. */
import { escapeStep } from '../../model/place.ts'

/** A document that cannot be compared: its message says what is wrong, where, and what to do. */
export class DocumentError extends Error {
  /** JSON Pointer to what is wrong. */
  readonly pointer: string

  constructor(pointer: string, message: string) {
    super(`${pointer === '' ? 'The document' : pointer} ${message}`.replaceAll(/\p{C}/gu, '\ufffd'))
    this.name = 'DocumentError'
    this.pointer = pointer
  }
}

/** A JSON object of a document. */
export type Json = { readonly [key: string]: unknown }

/** A value of a document, with the JSON Pointer to it. */
export interface Part {
  readonly value: unknown
  readonly pointer: string
}

/** A document that was looked over. */
export interface Document {
  readonly root: Json
  /** 3.0 has `nullable`, and passes over what stands beside a `$ref`. */
  readonly dialect: '3.0' | '3.1'
}

// Documents that people or programs write for an interface stay far below.
const mostLevels = 200
const mostReferences = 100
const mostValues = 5_000_000

/**
 * Looks a value over before it is compared.
 *
 * @throws DocumentError where it is no OpenAPI 3.0 or 3.1 document, or nested beyond measure
 */
export function documentOf(value: unknown): Document {
  if (!isObject(value)) throw new DocumentError('', 'must be an object.')
  const { openapi, swagger, paths } = value
  if (swagger !== undefined) {
    throw new DocumentError('/swagger', 'says that this is Swagger 2. Convert it to OpenAPI 3 first.')
  }
  const [, minor] = (typeof openapi === 'string' && /^3\.([01])(?:\.|$)/.exec(openapi)) || []
  if (minor === undefined) {
    throw new DocumentError('/openapi', 'must name a version 3.0 or 3.1 of OpenAPI. Others cannot be compared.')
  }
  if (paths !== undefined && !isObject(paths)) throw new DocumentError('/paths', 'must be an object.')
  refuseDepth(value)
  refuseElsewhere(value)
  return { root: value, dialect: minor === '0' ? '3.0' : '3.1' }
}

/** Whatever follows walks recursively: what is too deep for the stack must not get there. */
function refuseDepth(root: Json): void {
  let level: object[] = [root]
  let values = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostLevels) {
      const remedy = 'Name schemas in components, and refer to them.'
      throw new DocumentError('', `is nested deeper than ${mostLevels} levels. ${remedy}`)
    }
    const next: object[] = []
    for (const each of level) {
      for (const value of Object.values(each)) if (typeof value === 'object' && value !== null) next.push(value)
    }
    values += next.length
    // Aliases of YAML can make a circle, or a few lines that stand for millions.
    if (values > mostValues) throw new DocumentError('', `has more than ${mostValues} objects and arrays.`)
    level = next
  }
}

// What stands below these are values, and no parts of the document.
const notParts = ['example', 'examples', 'default', 'enum', 'const']

/** A reference to elsewhere is refused wherever it stands: half of an interface compared would look like all of it. */
function refuseElsewhere(root: Json): void {
  const open: Part[] = [{ value: root, pointer: '' }]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const reference = referenceOf(part)
    if (reference !== undefined && !reference.startsWith('#')) refuseReference(part.pointer, reference)
    for (const each of Array.isArray(part.value) ? items(part) : members(part)) {
      const [name, inside] = Array.isArray(each) ? each : ['', each]
      if (typeof inside.value !== 'object' || notParts.includes(name) || name.startsWith('x-')) continue
      open.push(inside)
    }
  }
}

function refuseReference(from: string, reference: string): never {
  const remedy = 'Bundle the document into one file first (`redocly bundle`).'
  throw new DocumentError(from, `refers to another document, ${cut(reference)}, which is not read. ${remedy}`)
}

function cut(reference: string): string {
  return reference.length > 80 ? `${reference.slice(0, 80)}…` : reference
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member of an object; `undefined` where it is none, or does not have it. */
export function child({ value, pointer }: Part, key: string): Part | undefined {
  if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
  return { value: value[key], pointer: `${pointer}/${escapeStep(key)}` }
}

/** The members of an object; none where it is not one. */
export function members(part: Part | undefined): [name: string, part: Part][] {
  if (part === undefined || !isObject(part.value)) return []
  return Object.keys(part.value).map((name) => [name, child(part, name) as Part])
}

/** The items of an array; none where it is not one. */
export function items(part: Part | undefined): Part[] {
  if (part === undefined || !Array.isArray(part.value)) return []
  return part.value.map((value: unknown, index) => ({ value, pointer: `${part.pointer}/${index}` }))
}

/** The `$ref` of a value, where it is a reference. */
export function referenceOf({ value }: Part): string | undefined {
  return isObject(value) && typeof value['$ref'] === 'string' ? value['$ref'] : undefined
}

/**
 * The part that references lead to; the part itself where it is none.
 *
 * @throws DocumentError where one leads out of the document, to nothing, or round in a circle
 */
export function follow(document: Document, part: Part): Part {
  let at = part
  for (let steps = 0; ; steps++) {
    const reference = referenceOf(at)
    if (reference === undefined) return at
    if (steps > mostReferences) {
      throw new DocumentError(part.pointer, `refers to itself, or through more than ${mostReferences} others.`)
    }
    at = target(document, at.pointer, reference)
  }
}

/** The part that one reference leads to. */
export function target(document: Document, from: string, reference: string): Part {
  if (!reference.startsWith('#')) return refuseReference(from, reference)
  const nowhere = (): never => {
    throw new DocumentError(
      from,
      `refers to ${cut(reference)}, which is not in the document. Refer by JSON Pointer (#/…).`,
    )
  }
  let pointer = reference.slice(1)
  try {
    pointer = decodeURIComponent(pointer)
  } catch {
    return nowhere()
  }
  if (pointer !== '' && !pointer.startsWith('/')) return nowhere()
  let value: unknown = document.root
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return nowhere()
    value = (value as Record<string, unknown>)[key]
  }
  return { value, pointer }
}

/** The name of a component that a pointer leads to: `Task` for `/components/schemas/Task`. */
export function componentName(pointer: string): string | undefined {
  return /^\/components\/[^/]+\/([^/]+)$/.exec(pointer)?.[1]
}
