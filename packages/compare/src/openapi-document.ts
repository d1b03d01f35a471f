/** An OpenAPI document as it was parsed: its parts, how references are followed, and how much a comparison may cost. */
import { escapeStep } from 'resourced-contract/model/place'
import { isObject } from 'resourced-contract/model/plain-copy'

/** A document that cannot be compared: its message has the mistake, its place, and the remedy. */
export class DocumentError extends Error {
  /** @param pointer JSON Pointer to the mistake */
  constructor(pointer: string, message: string) {
    super(`${pointer === '' ? 'The document' : pointer} ${message}`.replaceAll(/\p{C}/gu, '\ufffd'))
    this.name = 'DocumentError'
  }
}

export type Json = { readonly [key: string]: unknown }

/** A value of a document, with the JSON Pointer to it. */
export interface Part {
  readonly value: unknown
  readonly pointer: string
}

export interface Document {
  readonly root: Part
  /** 3.0 has `nullable`, and ignores keywords beside a `$ref`. */
  readonly dialect: '3.0' | '3.1'
}

// Documents that people or programs write for an interface stay far below.
const mostLevels = 200
const mostReferences = 100
const mostValues = 5_000_000

/**
 * Checks that a value is a document that can be compared.
 *
 * @throws DocumentError for anything but OpenAPI 3.0 and 3.1, for references to other documents, and beyond the bounds
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
  const root = { value, pointer: '' }
  refuseOtherDocuments(root)
  return { root, dialect: minor === '0' ? '3.0' : '3.1' }
}

/** Everything that follows is recursive, so the depth must be bounded first. */
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
    // Aliases of YAML can form a cycle, or expand a few lines to millions.
    if (values > mostValues) throw new DocumentError('', `has more than ${mostValues} objects and arrays.`)
    level = next
  }
}

// Below these keys are values, not parts of the document.
const notParts = ['example', 'examples', 'default', 'enum', 'const']

/** Refuses references to other documents everywhere: a comparison of half an interface would look like a whole one. */
function refuseOtherDocuments(root: Part): void {
  const open: Part[] = [root]
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    const reference = referenceOf(part)
    if (reference !== undefined && !reference.startsWith('#')) refuseReference(part.pointer, reference)
    open.push(...items(part).filter(({ value }) => typeof value === 'object'))
    for (const [name, inside] of members(part)) {
      if (typeof inside.value === 'object' && !notParts.includes(name) && !name.startsWith('x-')) open.push(inside)
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

/** A member of an object; `undefined` where there is no such member, or no object. */
export function child(part: Part | undefined, key: string): Part | undefined {
  if (part === undefined || !isObject(part.value) || !Object.hasOwn(part.value, key)) return undefined
  return { value: part.value[key], pointer: `${part.pointer}/${escapeStep(key)}` }
}

/** The members of an object; none of anything else. */
export function members(part: Part | undefined): [name: string, part: Part][] {
  if (part === undefined || !isObject(part.value)) return []
  return Object.keys(part.value).map((name) => [name, child(part, name) as Part])
}

/** The items of an array; none of anything else. */
export function items(part: Part | undefined): Part[] {
  if (part === undefined || !Array.isArray(part.value)) return []
  return part.value.map((value: unknown, index) => ({ value, pointer: `${part.pointer}/${index}` }))
}

export function referenceOf({ value }: Part): string | undefined {
  return isObject(value) && typeof value['$ref'] === 'string' ? value['$ref'] : undefined
}

/**
 * The part at the end of a chain of references; the part itself if it is no reference.
 *
 * @throws DocumentError if a reference leads out of the document, to nothing, or in a cycle
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

export function target(document: Document, from: string, reference: string): Part {
  if (!reference.startsWith('#')) return refuseReference(from, reference)
  const problem = `refers to ${cut(reference)}, which is not in the document. Refer by JSON Pointer (#/…).`
  let pointer = reference.slice(1)
  try {
    pointer = decodeURIComponent(pointer)
  } catch {
    throw new DocumentError(from, problem)
  }
  if (pointer !== '' && !pointer.startsWith('/')) throw new DocumentError(from, problem)
  let value: unknown = document.root.value
  for (const step of pointer.split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
      throw new DocumentError(from, problem)
    value = (value as Record<string, unknown>)[key]
  }
  return { value, pointer }
}

/**
 * Counts the steps of a comparison.
 *
 * @throws DocumentError when there were too many
 */
export type Spend = (steps: number) => void

// More than the largest published interfaces take; a few seconds at most.
const mostSteps = 10_000_000

/** Starts counting. Documents made to keep a machine busy end in an error. */
export function stepBudget(): Spend {
  let left = mostSteps
  return (steps) => {
    left -= steps
    if (left >= 0) return
    throw new DocumentError('', 'is too intricate to be compared. Compare it in parts, such as path by path.')
  }
}
