/**
 * JSON Patch (RFC 6902): checks the form of a patch, and applies its operations in order, all of them or none (MET-4).
 */
import { countMembers, deepestNesting } from 'resourced-contract/model/json/read-json'
import { limitDefaults } from 'resourced-contract/model/limits'
import { isObject } from 'resourced-contract/model/plain-copy'
import type { Catalog } from 'resourced-contract/model/resource'
import { type Issue, issue } from 'resourced-contract/spec/faults'

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
    const kind = problem.code === 'CONFLICT' ? 'conflict' : 'invalid'
    return { kind, issues: [within(`${index} (${operation.op})`, index, problem)] }
  }
  const { value } = result
  if (fits(value, deepestNesting)) return { kind: 'patched', value }
  return { kind: 'invalid', issues: [issue('patchTooDeep', { pointer: '', most: deepestNesting })] }
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
function apply(result: Result, operation: Operation): Issue | undefined {
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
      if (!fits(value, deepestNesting)) return issue('copyTooDeep', { pointer: '/from' })
      const { copied, maxMembers } = result
      const text = JSON.stringify(value)
      copied.members += countMembers(text)
      copied.bytes += Buffer.byteLength(text)
      if (copied.bytes > mostCopied || copied.members > maxMembers)
        return issue('copies', { pointer: '', bytes: mostCopied, members: maxMembers })
      // The copy has containers of its own: a later operation may change one of the two.
      return put(result, path, JSON.parse(text))
    }
    case 'test':
      // A missing value equals no value: the test fails, and the patch is not malformed.
      if (sameJson(valueAt(root, path), operation.value)) return undefined
      return issue('test', { pointer: '', path })
  }
}

/** Adds a value as section 4.1 says: into an object, or before an item of an array. */
function put(result: Result, path: string, value: unknown): Issue | undefined {
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

/** The issue of a pointer that leads nowhere: names its first step without a value. */
function missing(root: Result['root'], place: 'path' | 'from', pointer: string): Issue {
  let value: unknown = root
  const passed: string[] = []
  for (const step of pointer.split('/')) {
    const next = member(value, stepsOf(step)[0] as string)
    if (next !== undefined) {
      value = next
      passed.push(step)
      continue
    }
    return issue('nowhere', { pointer: `/${place}`, at: passed.join('/'), step })
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

/** An issue within an operation as one within the patch. */
function within(operation: string, index: number, { params, pointer, ...issue }: Issue): Issue {
  return { ...issue, pointer: `/${index}${pointer}`, params: { ...params, operation } }
}

const operationNames = ['add', 'remove', 'replace', 'move', 'copy', 'test']

/**
 * Checks the form of a patch, independent of its target (sections 3 and 4).
 *
 * @param issues receives every mistake, with pointers into the patch; the result is valid only if there is none
 */
function readOperations(patch: unknown, mostOperations: number, issues: Issue[]): Operation[] {
  if (!Array.isArray(patch)) {
    issues.push(issue('operations', { pointer: '' }))
    return []
  }
  if (patch.length > mostOperations) {
    issues.push(issue('maxItems', { pointer: '', limit: mostOperations }))
    return []
  }
  for (const [index, operation] of patch.entries()) {
    for (const each of problemsOf(operation)) issues.push(within(String(index), index, each))
  }
  return patch
}

// Members that an operation does not define are ignored (section 4).
function problemsOf(operation: unknown): Issue[] {
  if (!isObject(operation)) return [issue('object', { pointer: '' })]
  const { op, path, from } = operation
  const found: Issue[] = []
  const allowed = operationNames
  if (op === undefined) found.push(issue('requiredOf', { pointer: '/op', allowed }))
  else if (typeof op !== 'string' || !allowed.includes(op)) found.push(issue('enum', { pointer: '/op', allowed }))
  found.push(...pointerFaults('path', path))
  if (op === 'move' || op === 'copy') found.push(...pointerFaults('from', from))
  if ((op === 'add' || op === 'replace' || op === 'test') && !Object.hasOwn(operation, 'value')) {
    found.push(issue('required', { pointer: '/value' }))
  }
  if (op === 'remove' && path === '') found.push(issue('removesRecord', { pointer: '/path' }))
  if (op === 'move' && typeof path === 'string' && path.startsWith(`${from}/`)) {
    found.push(issue('intoItself', { pointer: '/path' }))
  }
  return found
}

function pointerFaults(member: 'path' | 'from', sent: unknown): Issue[] {
  const place = { pointer: `/${member}` }
  if (sent === undefined) return [issue('required', place)]
  if (typeof sent !== 'string') return [issue('type', { ...place, types: ['string'] })]
  if (sent.length > longestPointer) return [issue('maxLength', { ...place, limit: longestPointer })]
  if ((sent !== '' && !sent.startsWith('/')) || /~(?![01])/.test(sent)) return [issue('pointer', place)]
  return stepsOf(sent).includes('__proto__') ? [issue('UNSAFE_KEY', place)] : []
}

/** The reference tokens of a JSON Pointer (RFC 6901 section 4). The first is always the empty text. */
function stepsOf(pointer: string): string[] {
  return pointer.split('/').map(unescapeStep)
}

function unescapeStep(step: string): string {
  return step.replaceAll('~1', '/').replaceAll('~0', '~')
}
