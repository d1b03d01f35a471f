/**
 * JSON Patch (RFC 6902): checks the form of a patch, and applies its operations in order, all of them or none (MET-4).
 */
import { countMembers, deepestNesting } from 'resourced-contract/model/json/read-json'
import { limitDefaults } from 'resourced-contract/model/limits'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Issue } from 'resourced-contract/spec/faults'

/** The result of a patch. `conflict`: a `test` failed; `invalid`: anything else is wrong with the patch. */
export type Patched =
  | { readonly kind: 'patched'; readonly value: unknown }
  | { readonly kind: 'invalid' | 'conflict'; readonly issues: readonly Issue[] }

/** The most bytes of JSON text that the `copy` operations of a patch may add together: as much as a body (LIM-3). */
export const mostCopied = 1_048_576

/** The limits of a patch; see `Catalog.limits`. */
export type PatchLimits = Pick<Catalog['limits'], 'patchOperations' | 'bodyMembers'>

/**
 * Applies a JSON Patch. Neither argument is changed. The result shares what the patch leaves as it is with the target,
 * and values with the patch. It is at most as large as both together and `mostCopied`.
 *
 * @param target a JSON value
 * @param patch read by `model/json/read-json.ts`: it bounds depth and size, and refuses keys that could reach a
 *   prototype
 * @returns everything that is not well-formed at once, or the first operation that cannot be applied, with pointers
 *   into the patch
 *
 * @example
 * jsonPatch({ name: 'Tea' }, [{ op: 'replace', path: '/name', value: 'Oil' }])
 * // { kind: 'patched', value: { name: 'Oil' } }
 */
export function jsonPatch(target: unknown, patch: unknown, limits: PatchLimits = limitDefaults): Patched {
  const issues: Issue[] = []
  const operations = readOperations(patch, limits.patchOperations, issues)
  if (issues.length > 0) return { kind: 'invalid', issues }
  const result = new Result(target, limits.bodyMembers)
  for (const [index, operation] of operations.entries()) {
    const problem = apply(result, operation)
    if (problem === undefined) continue
    const { code, place, message } = problem
    const issue = { code, message: `Operation ${index} (${operation.op}): ${message}.`, pointer: `/${index}${place}` }
    return { kind: code === 'CONFLICT' ? 'conflict' : 'invalid', issues: [issue] }
  }
  const { value } = result
  if (fits(value, deepestNesting)) return { kind: 'patched', value }
  const message = `The patch would nest the record deeper than ${deepestNesting} objects and arrays.`
  return { kind: 'invalid', issues: [{ code: 'TOO_DEEP', message, pointer: '' }] }
}

/**
 * The members of the target that the operations of a patch name; `all`: one names the whole target. Operations that are
 * not well-formed name nothing: their patch is never applied.
 */
export function namedByPatch(patch: unknown): ReadonlySet<string> | 'all' {
  const named = new Set<string>()
  for (const operation of Array.isArray(patch) ? patch : []) {
    if (!isObject(operation)) continue
    for (const pointer of [operation['path'], operation['from']]) {
      if (pointer === '') return 'all'
      if (typeof pointer === 'string') named.add(unescapeStep(pointer.split('/', 2)[1] ?? ''))
    }
  }
  return named
}

/** What a patch makes of its target. A container is copied before its first change, so the target stays as it is. */
class Result {
  /** The first step of every pointer is the empty text: so the whole value is a member of a parent too. */
  readonly root: { '': unknown }
  readonly maxMembers: number
  readonly copied = { bytes: 0, members: 0 }
  /** The containers that are part of the result alone. */
  readonly #own = new WeakSet<object>()

  constructor(target: unknown, maxMembers: number) {
    this.root = { '': target }
    this.maxMembers = maxMembers
  }

  get value(): unknown {
    return this.root['']
  }

  /** The container of a value, which may be changed, and the last step. */
  parentOf(pointer: string): [parent: unknown, step: string] {
    const steps = stepsOf(pointer)
    const last = steps.pop() as string
    let parent: unknown = this.root
    for (const step of steps) {
      const next = member(parent, step)
      if (typeof next !== 'object' || next === null) return [undefined, last]
      parent = this.#own.has(next) ? next : this.#copy(parent as Record<string, unknown>, step, next)
    }
    return [parent, last]
  }

  #copy(parent: Record<string, unknown>, step: string, container: object): object {
    const copy = Array.isArray(container) ? container.slice() : { ...container }
    this.#own.add(copy)
    parent[step] = copy
    return copy
  }
}

/** Applies an operation in place. If it fails, the result may be half changed. */
function apply(result: Result, operation: Operation): Problem | undefined {
  const { root } = result
  const { op, path } = operation
  switch (op) {
    case 'add':
      return put(result, path, operation.value)
    case 'remove':
      return take(result, path) ? undefined : missing(root, 'path', path)
    case 'replace': {
      const [parent, step] = result.parentOf(path)
      if (member(parent, step) === undefined) return missing(root, 'path', path)
      // The parent has the member, so it is an object, or an array and the step is an index.
      const container = parent as Record<string, unknown>
      container[step] = operation.value
      return undefined
    }
    case 'move': {
      const value = valueAt(root, operation.from)
      return take(result, operation.from) ? put(result, path, value) : missing(root, 'from', operation.from)
    }
    case 'copy': {
      const value = valueAt(root, operation.from)
      if (value === undefined) return missing(root, 'from', operation.from)
      if (!fits(value, deepestNesting)) return { code: 'TOO_DEEP', place: '/from', message: 'it is nested too deeply' }
      const { copied, maxMembers } = result
      const text = JSON.stringify(value)
      copied.members += countMembers(text)
      copied.bytes += Buffer.byteLength(text)
      const message = `all copies together may have ${mostCopied} bytes and ${maxMembers} members`
      if (copied.bytes > mostCopied || copied.members > maxMembers) return { code: 'TOO_LARGE', place: '', message }
      // The copy has containers of its own: a later operation may change one of the two.
      return put(result, path, JSON.parse(text))
    }
    case 'test':
      // A missing value equals no value: the test fails, and the patch is not malformed.
      if (sameJson(valueAt(root, path), operation.value)) return undefined
      return { code: 'CONFLICT', place: '', message: `the value at ${JSON.stringify(path)} is not the one expected` }
  }
}

/** Adds a value as section 4.1 says: into an object, or before an item of an array. */
function put(result: Result, path: string, value: unknown): Problem | undefined {
  const [parent, step] = result.parentOf(path)
  if (Array.isArray(parent)) {
    const index = step === '-' ? parent.length : indexOf(step)
    if (index === undefined || index > parent.length) return missing(result.root, 'path', path)
    parent.splice(index, 0, value)
  } else if (isObject(parent)) parent[step] = value
  else return missing(result.root, 'path', path)
  return undefined
}

/** Removes a value; `false`: there is none. */
function take(result: Result, path: string): boolean {
  const [parent, step] = result.parentOf(path)
  if (member(parent, step) === undefined) return false
  if (Array.isArray(parent)) parent.splice(Number(step), 1)
  else delete (parent as Record<string, unknown>)[step]
  return true
}

function valueAt(root: Result['root'], pointer: string): unknown {
  return stepsOf(pointer).reduce<unknown>(member, root)
}

/** An own member of an object or an item of an array; `undefined`: there is none. */
function member(container: unknown, step: string): unknown {
  if (Array.isArray(container)) {
    const index = indexOf(step)
    return index === undefined ? undefined : container[index]
  }
  return isObject(container) && Object.hasOwn(container, step) ? container[step] : undefined
}

// RFC 6901 section 4: digits without a leading zero.
function indexOf(step: string): number | undefined {
  return /^(?:0|[1-9]\d{0,15})$/.test(step) ? Number(step) : undefined
}

/** The problem of a pointer that leads nowhere: names its first step without a value. */
function missing(root: Result['root'], place: 'path' | 'from', pointer: string): Problem {
  let value: unknown = root
  const passed: string[] = []
  for (const step of pointer.split('/')) {
    const next = member(value, stepsOf(step)[0] as string)
    if (next !== undefined) {
      value = next
      passed.push(step)
      continue
    }
    const here = passed.length <= 1 ? 'the record' : `the value at ${JSON.stringify(passed.join('/'))}`
    const has = Array.isArray(value)
      ? `is an array of ${value.length} items and has no place`
      : isObject(value)
        ? 'has no'
        : 'is neither an object nor an array: it has no'
    return { code: 'PATH_NOT_FOUND', place: `/${place}`, message: `${here} ${has} ${JSON.stringify(step)}` }
  }
  throw new TypeError('Every step of the pointer has a value.')
}

/** Equality of section 4.6: numbers by value, objects in any order of members. */
function sameJson(left: unknown, right: unknown): boolean {
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, at) => sameJson(item, right[at]))
  }
  if (!isObject(left) || !isObject(right)) return left === right
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  return names.every((name) => Object.hasOwn(right, name) && sameJson(left[name], right[name]))
}

/** Whether a value has at most so many nested containers, the outermost counted. */
function fits(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((each) => fits(each, levels - 1))
}

/** The most characters of a pointer: far more than any record needs, few enough to follow quickly. */
const longestPointer = 10_000

/** An operation of valid form: its pointers can be parsed, and it has every member that it needs. */
type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

/** A mistake in an operation. */
interface Problem {
  readonly code: Issue['code']
  /** A pointer into the operation. */
  readonly place: '' | '/op' | '/path' | '/from' | '/value'
  /** Without a full stop; it follows the number of the operation. */
  readonly message: string
}

const operationNames = ['add', 'remove', 'replace', 'move', 'copy', 'test']

/**
 * Checks the form of a patch, independent of its target (sections 3 and 4).
 *
 * @param issues receives every mistake, with pointers into the patch; the result is valid only if there is none
 */
function readOperations(patch: unknown, mostOperations: number, issues: Issue[]): Operation[] {
  if (!Array.isArray(patch)) {
    issues.push({ code: 'INVALID_TYPE', message: 'A JSON Patch must be an array of operations.', pointer: '' })
    return []
  }
  if (patch.length > mostOperations) {
    const message = `A JSON Patch may have ${mostOperations} operations; this one has ${patch.length}.`
    issues.push({ code: 'TOO_MANY_ITEMS', message, pointer: '' })
    return []
  }
  for (const [index, operation] of patch.entries()) {
    for (const { code, place, message } of problemsOf(operation)) {
      issues.push({ code, message: `Operation ${index}: ${message}.`, pointer: `/${index}${place}` })
    }
  }
  return patch
}

// Members that an operation does not define are ignored (section 4).
function problemsOf(operation: unknown): Problem[] {
  if (!isObject(operation)) return [{ code: 'INVALID_TYPE', place: '', message: 'it must be an object' }]
  const { op, path, from } = operation
  const found: Problem[] = []
  if (typeof op !== 'string' || !operationNames.includes(op)) {
    const code = op === undefined ? 'REQUIRED' : 'NOT_IN_ENUM'
    found.push({ code, place: '/op', message: `op must be one of ${operationNames.join(', ')}` })
  }
  found.push(...pointerFaults('path', path))
  if (op === 'move' || op === 'copy') found.push(...pointerFaults('from', from))
  if ((op === 'add' || op === 'replace' || op === 'test') && !Object.hasOwn(operation, 'value')) {
    found.push({ code: 'REQUIRED', place: '/value', message: 'value is missing' })
  }
  if (op === 'remove' && path === '') {
    found.push({ code: 'INVALID_VALUE', place: '/path', message: 'the record itself is removed by DELETE' })
  }
  if (op === 'move' && typeof path === 'string' && path.startsWith(`${from}/`)) {
    found.push({ code: 'INVALID_VALUE', place: '/path', message: 'nothing can be moved into itself' })
  }
  return found
}

function pointerFaults(member: 'path' | 'from', pointer: unknown): Problem[] {
  const place = `/${member}` as const
  if (pointer === undefined) return [{ code: 'REQUIRED', place, message: `${member} is missing` }]
  if (typeof pointer !== 'string') return [{ code: 'INVALID_TYPE', place, message: `${member} must be a text` }]
  if (pointer.length > longestPointer) {
    return [{ code: 'TOO_LONG', place, message: `${member} may have ${longestPointer} characters` }]
  }
  if ((pointer !== '' && !pointer.startsWith('/')) || /~(?![01])/.test(pointer)) {
    const message = `${member} must be a JSON Pointer: it begins with / and writes ~ as ~0 (RFC 6901)`
    return [{ code: 'INVALID_FORMAT', place, message }]
  }
  if (!stepsOf(pointer).includes('__proto__')) return []
  return [{ code: 'UNSAFE_KEY', place, message: `${member} names __proto__, which is not allowed in any object` }]
}

/** The reference tokens of a JSON Pointer (RFC 6901 section 4). The first is always the empty text. */
function stepsOf(pointer: string): string[] {
  return pointer.split('/').map(unescapeStep)
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
