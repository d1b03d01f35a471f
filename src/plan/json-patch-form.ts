/** The form of a JSON Patch (RFC 6902 sections 3 and 4): what must hold whatever it is applied to. */
import type { Issue } from '../spec/faults.ts'
import { isObject } from './merge-patch.ts'

/** The most operations in a patch. */
export const mostOperations = 1_000

/** The most characters of a pointer: far more than lead into any record, and each step takes its time. */
const longestPointer = 10_000

/** An operation whose form is right: its pointers can be read, and it has every member that it needs. */
export type Operation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'move' | 'copy'; readonly path: string; readonly from: string }

/** Something that stands against an operation. */
export interface Obstacle {
  readonly code: Issue['code']
  /** A pointer into the operation. */
  readonly place: '' | '/op' | '/path' | '/from' | '/value'
  /** Without full stop; it follows the operation's number. */
  readonly message: string
}

const operationNames = ['add', 'remove', 'replace', 'move', 'copy', 'test']

/**
 * Reads a patch.
 *
 * @param issues receives everything that is wrong, with pointers into the patch; then what is returned is not to be used
 */
export function readOperations(patch: unknown, issues: Issue[]): Operation[] {
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
    for (const { code, place, message } of malformations(operation)) {
      issues.push({ code, message: `Operation ${index}: ${message}.`, pointer: `/${index}${place}` })
    }
  }
  return patch
}

// What is wrong with one operation. Members that it does not define are ignored (section 4).
function malformations(operation: unknown): Obstacle[] {
  if (!isObject(operation)) return [{ code: 'INVALID_TYPE', place: '', message: 'it must be an object' }]
  const { op, path, from } = operation
  const found: Obstacle[] = []
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

function pointerFaults(member: 'path' | 'from', pointer: unknown): Obstacle[] {
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
export function stepsOf(pointer: string): string[] {
  return pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
