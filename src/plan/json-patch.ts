/** JSON Patch (RFC 6902): operations on a record, one after the other, all of them or none (MET-4). */
import { deepestNesting } from '../model/json/read-json.ts'
import type { Issue } from '../spec/faults.ts'
import { type Obstacle, type Operation, readOperations, stepsOf } from './json-patch-form.ts'
import { isObject } from './merge-patch.ts'

/** What came of a patch. `conflict`: a `test` failed; `invalid`: everything else that stands against it. */
export type Patched =
  | { readonly kind: 'patched'; readonly value: unknown }
  | { readonly kind: 'invalid' | 'conflict'; readonly issues: readonly Issue[] }

/** The most bytes of JSON text that the `copy` operations of a patch may add together: as much as a body (LIM-3). */
export const mostCopied = 1_048_576

/**
 * Applies a JSON Patch. Neither argument is changed. The value is at most as large as both together and `mostCopied`.
 *
 * @param target a JSON value
 * @param patch read by `model/json/read-json.ts`: it bounds depth and size, and refuses keys that could reach a prototype
 * @returns everything that is not well-formed at once, or the first operation that cannot be applied, with pointers into
 *   the patch
 *
 * @example
 * jsonPatch({ name: 'Tea' }, [{ op: 'replace', path: '/name', value: 'Oil' }]) // { kind: 'patched', value: { name: 'Oil' } }
 */
export function jsonPatch(target: unknown, patch: unknown): Patched {
  const issues: Issue[] = []
  const operations = readOperations(patch, issues)
  if (issues.length > 0) return { kind: 'invalid', issues }
  // The first step of every pointer is the empty text: under it, the whole value has a parent like any other.
  const root = { '': structuredClone(target) }
  const copies = { bytes: 0 }
  for (const [index, operation] of operations.entries()) {
    const obstacle = apply(root, operation, copies)
    if (obstacle === undefined) continue
    const { code, place, message } = obstacle
    const issue = { code, message: `Operation ${index} (${operation.op}): ${message}.`, pointer: `/${index}${place}` }
    return { kind: code === 'CONFLICT' ? 'conflict' : 'invalid', issues: [issue] }
  }
  if (fits(root[''], deepestNesting)) return { kind: 'patched', value: root[''] }
  const message = `The patch would nest the record deeper than ${deepestNesting} objects and arrays.`
  return { kind: 'invalid', issues: [{ code: 'TOO_DEEP', message, pointer: '' }] }
}

type Root = { '': unknown }

/** Applies an operation in place. The root is half changed where something stands against it. */
function apply(root: Root, operation: Operation, copies: { bytes: number }): Obstacle | undefined {
  const { op, path } = operation
  switch (op) {
    case 'add':
      return put(root, path, structuredClone(operation.value))
    case 'remove':
      return take(root, path) ? undefined : missing(root, 'path', path)
    case 'replace': {
      const [parent, step] = parentOf(root, path)
      if (member(parent, step) === undefined) return missing(root, 'path', path)
      // What has a member is an object or an array, and a step that an array has a member for is an index.
      const container = parent as Record<string, unknown>
      container[step] = structuredClone(operation.value)
      return undefined
    }
    case 'move': {
      const value = valueAt(root, operation.from)
      return take(root, operation.from) ? put(root, path, value) : missing(root, 'from', operation.from)
    }
    case 'copy': {
      const value = valueAt(root, operation.from)
      if (value === undefined) return missing(root, 'from', operation.from)
      if (!fits(value, deepestNesting)) return { code: 'TOO_DEEP', place: '/from', message: 'it is nested too deeply' }
      const text = JSON.stringify(value)
      copies.bytes += Buffer.byteLength(text)
      if (copies.bytes <= mostCopied) return put(root, path, JSON.parse(text))
      return { code: 'TOO_LARGE', place: '', message: `all copies together may have ${mostCopied} bytes` }
    }
    case 'test':
      // What is not there equals nothing: another outcome than expected, not another mistake.
      if (sameJson(valueAt(root, path), operation.value)) return undefined
      return { code: 'CONFLICT', place: '', message: `the value at ${JSON.stringify(path)} is not the one expected` }
  }
}

/** Adds a value as section 4.1 says: into an object, or before an item of an array. */
function put(root: Root, path: string, value: unknown): Obstacle | undefined {
  const [parent, step] = parentOf(root, path)
  if (Array.isArray(parent)) {
    const index = step === '-' ? parent.length : indexOf(step)
    if (index === undefined || index > parent.length) return missing(root, 'path', path)
    parent.splice(index, 0, value)
  } else if (isObject(parent)) parent[step] = value
  else return missing(root, 'path', path)
  return undefined
}

/** Takes a value out; `false` where there is none. */
function take(root: Root, path: string): boolean {
  const [parent, step] = parentOf(root, path)
  if (member(parent, step) === undefined) return false
  if (Array.isArray(parent)) parent.splice(Number(step), 1)
  else delete (parent as Record<string, unknown>)[step]
  return true
}

function parentOf(root: Root, pointer: string): [parent: unknown, step: string] {
  const steps = stepsOf(pointer)
  const step = steps.pop() as string
  return [steps.reduce<unknown>(member, root), step]
}

function valueAt(root: Root, pointer: string): unknown {
  return stepsOf(pointer).reduce<unknown>(member, root)
}

/** An own member of an object or an item of an array; `undefined`, which no JSON value is, where there is none. */
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

/** Says at which step a pointer leads nowhere. */
function missing(root: Root, place: 'path' | 'from', pointer: string): Obstacle {
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
  throw new TypeError('Every step of the pointer leads somewhere.')
}

/** Equality of section 4.6: numbers by value, objects in any order of members. As deep as the shallower of the two. */
function sameJson(left: unknown, right: unknown): boolean {
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, at) => sameJson(item, right[at]))
  }
  if (!isObject(left) || !isObject(right)) return left === right
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  return names.every((name) => Object.hasOwn(right, name) && sameJson(left[name], right[name]))
}

/** Whether a value has at most so many containers within each other, the outermost counted. */
function fits(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  return levels > 0 && Object.values(value).every((each) => fits(each, levels - 1))
}
