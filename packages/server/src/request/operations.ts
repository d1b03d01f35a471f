/**
 * The operations of a transaction (BLK-4): what each of them addresses, and what it takes from earlier results. The
 * ids of new records are chosen here, so that every address is known before the transaction begins.
 */

import { isObject } from 'resourced-contract/model/plain-copy'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { Fault, fault, type Issue, issue, movedTo } from 'resourced-contract/spec/faults'
import { transactionLimits } from 'resourced-contract/spec/limits'
import { uuidv7 } from 'uuidv7'
import { type Conditions, readConditions } from '../http/preconditions.ts'
import { readItems, readText, unsettableMembers } from './parameters.ts'
import { type Reference, referenceOf, replaceReferences } from './references.ts'
import { findTarget, methodsOf, type Target } from './target.ts'

type OperationTarget = Extract<Target, { readonly kind: 'collection' | 'record' | 'restore' }>

/** An operation as it was read. */
export interface Operation {
  readonly method: string
  /** The path, with the ids of earlier results. */
  readonly path: string
  readonly target: OperationTarget
  /** The id of the record that it creates or changes. */
  readonly id: string
  /** The body, with references; `undefined`: it has none. */
  readonly body: unknown
  readonly conditions: Conditions
  /** The name of its result. */
  readonly as: string | undefined
}

/** An operation whose address may still name earlier results. */
type Addressing = Omit<Operation, 'id'>

/** What an operation may be, by the kind of its address. */
const allowed: Readonly<Record<OperationTarget['kind'], readonly string[]>> = {
  collection: ['POST', 'PATCH'],
  record: ['PUT', 'PATCH', 'DELETE'],
  restore: ['POST'],
}

const members = ['method', 'path', 'body', 'if_match', 'as']

/**
 * Reads the body of a transaction.
 *
 * @param catalog of the version
 * @throws Fault OPERATION_NOT_ALLOWED, VALIDATION_FAILED
 */
export function readOperations(catalog: Catalog, body: unknown): readonly Operation[] {
  const issues: Issue[] = []
  const read = listOf(body, issues).map((each, index) => readOperation(catalog, each, `/operations/${index}`, issues))
  const names = namesOf(read, issues)
  const operations: Operation[] = []
  for (const [index, operation] of read.entries()) {
    if (operation === undefined) continue
    const place = `/operations/${index}`
    const addressed = addressOf(operation, { index, names, operations, place, issues })
    operations[index] = addressed
    checkReferences(addressed, { index, names, operations, place, issues })
  }
  if (issues.length === 0) return operations
  const isForbidden = issues.every(({ code }) => code === 'OPERATION_NOT_ALLOWED')
  throw fault(isForbidden ? 'OPERATION_NOT_ALLOWED' : 'VALIDATION_FAILED', { errors: issues })
}

function listOf(body: unknown, issues: Issue[]): readonly unknown[] {
  if (!isObject(body)) {
    issues.push(issue('object', { pointer: '' }))
    return []
  }
  issues.push(...unsettableMembers(body, ['operations']))
  const { operations } = body
  const pointer = '/operations'
  const bounds = { least: 1, most: transactionLimits.operations } as const
  if (operations !== undefined) return readItems(operations, pointer, bounds, issues) ?? []
  issues.push(issue('required', { pointer }))
  return []
}

/** Reads one operation; `undefined`: it is none, and the issues say why. */
function readOperation(catalog: Catalog, given: unknown, place: string, issues: Issue[]): Addressing | undefined {
  const before = issues.length
  if (!isObject(given)) {
    issues.push(issue('object', { pointer: place }))
    return undefined
  }
  issues.push(...unsettableMembers(given, members, place))
  const { body } = given
  const method = readText(given['method'], `${place}/method`, issues) ?? ''
  const path = readText(given['path'], `${place}/path`, issues) ?? ''
  const target = targetOf(catalog, method, path)
  if (issues.length > before) return undefined
  if (target === undefined) {
    issues.push(issue('operation', { pointer: place, method, path }))
    return undefined
  }
  const hasBody = target.kind !== 'restore' && method !== 'DELETE'
  if (hasBody && body === undefined) issues.push(issue('required', { pointer: `${place}/body` }))
  // An object there is a change by filter.
  const isArray = Array.isArray(body)
  if (target.kind === 'collection' && method === 'PATCH' && body !== undefined && !isArray) {
    issues.push(issue('type', { pointer: `${place}/body`, types: ['array'] }))
  }
  if (!hasBody && body !== undefined) issues.push(issue('bodiless', { pointer: `${place}/body` }))
  const conditions = readCondition(given, target, place, issues)
  const as = given['as'] === undefined ? undefined : readName(given, place, issues)
  return issues.length > before ? undefined : { method, path, target, body, conditions, as }
}

function targetOf(catalog: Catalog, method: string, path: string): OperationTarget | undefined {
  if (!path.startsWith('/') || /[?#]/.test(path)) return undefined
  const found = findTarget(catalog, path, false)
  if (found.kind !== 'found') return undefined
  const { target } = found
  if (target.kind !== 'collection' && target.kind !== 'record' && target.kind !== 'restore') return undefined
  const isDeclared = target.resource.made === 'by-clients'
  return isDeclared && allowed[target.kind].includes(method) && methodsOf(target).includes(method) ? target : undefined
}

function readCondition(
  given: Record<string, unknown>,
  { kind }: OperationTarget,
  place: string,
  issues: Issue[],
): Conditions {
  if (given['if_match'] === undefined) return {}
  const pointer = `${place}/if_match`
  if (kind === 'collection') issues.push(issue('uncondition', { pointer }))
  const text = readText(given['if_match'], pointer, issues)
  if (kind === 'collection' || text === undefined) return {}
  try {
    return readConditions({ 'if-match': text })
  } catch (error) {
    const [wrong] = error instanceof Fault ? (error.details.errors ?? []) : []
    if (wrong === undefined) throw error
    issues.push({ ...movedTo({ pointer }, wrong), header: undefined })
    return {}
  }
}

const nameForm = new RegExp(`^[A-Za-z][A-Za-z0-9_]{0,${transactionLimits.name - 1}}$`)

function readName(given: Record<string, unknown>, place: string, issues: Issue[]): string {
  const pointer = `${place}/as`
  const name = readText(given['as'], pointer, issues)
  if (name !== undefined && !nameForm.test(name)) {
    issues.push(issue('operationName', { pointer, most: transactionLimits.name }))
  }
  return name ?? ''
}

/** The operations by their names. */
function namesOf(read: readonly (Addressing | undefined)[], issues: Issue[]): ReadonlyMap<string, number> {
  const names = new Map<string, number>()
  for (const [index, operation] of read.entries()) {
    if (operation?.as === undefined) continue
    const first = names.get(operation.as)
    if (first === undefined) names.set(operation.as, index)
    else issues.push(issue('repeats', { pointer: `/operations/${index}/as`, first: `/operations/${first}/as` }))
  }
  return names
}

/** What references of an operation may name. */
interface Scope {
  readonly index: number
  readonly names: ReadonlyMap<string, number>
  /** The earlier operations; those that were refused are missing. */
  readonly operations: readonly (Operation | undefined)[]
  readonly place: string
  readonly issues: Issue[]
}

/** The operation with the ids of earlier results in its address, and the id of its record. */
function addressOf(operation: Addressing, scope: Scope): Operation {
  const { target } = operation
  let { path } = operation
  const idOf = (id: string): string => {
    const reference = /^\{[^{}]+\}$/.test(id) ? referenceOf(id.slice(1, -1)) : undefined
    if (reference === undefined || !scope.names.has(reference.name)) return id
    const known = earlier(scope, { ...reference, pointer: '/path', depth: 0 })
    if (known !== undefined && (reference.member !== 'id' || !isShown(known, 'id'))) {
      const params = { name: reference.text, wanted: `{${reference.name}.id}` }
      scope.issues.push(issue('pathResult', { pointer: `${scope.place}/path`, ...params }))
    }
    if (known !== undefined) path = path.replace(`{${reference.text}}`, encodeURIComponent(known.id))
    return known?.id ?? id
  }
  if (target.kind !== 'collection') {
    const id = idOf(target.id)
    return { ...operation, target: { ...target, id }, path, id }
  }
  const parent = target.parent && { ...target.parent, id: idOf(target.parent.id) }
  return { ...operation, target: { ...target, ...(parent && { parent }) }, path, id: uuidv7() }
}

/** The operation that a reference with a known name means; `undefined`: it is no earlier one, or was refused. */
function earlier({ index, names, operations, place, issues }: Scope, reference: Reference): Operation | undefined {
  const { name, text, pointer } = reference
  const at = names.get(name) as number
  if (at < index) return operations[at]
  issues.push(issue('laterResult', { pointer: `${place}${pointer}`, name: text }))
  return undefined
}

/** Finds mistakes in the references of a body. */
function checkReferences({ body }: Operation, scope: Scope): void {
  replaceReferences(body, (reference) => {
    if (!scope.names.has(reference.name)) return undefined
    const { member, text } = reference
    const pointer = `/body${reference.pointer}`
    const known = earlier(scope, { ...reference, pointer })
    if (known !== undefined && !isShown(known, member)) {
      const { name: resource } = known.target.resource
      scope.issues.push(issue('noResult', { pointer: `${scope.place}${pointer}`, name: text, resource }))
    }
    return null
  })
}

/** Whether the result of an operation has a member, for callers who may read everything. */
function isShown({ method, target: { kind, resource }, body }: Operation, member: string): boolean {
  if (kind === 'collection' && Array.isArray(body)) return false
  if (member === 'id') return true
  return method !== 'DELETE' && (isField(resource, member) || member === 'created_at' || member === 'updated_at')
}

function isField({ field }: Resource, name: string): boolean {
  return field.get(name)?.writeOnly === false
}
