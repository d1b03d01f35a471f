/** Errors as plain data: a copy that another thread gets of an error has lost its class. */
import { Fault } from 'resourced-contract/spec/faults'
import { StorageFault } from '../storage.ts'

/** An error as plain data. Classes that no branch depends on become those of JavaScript. */
export type PlainError =
  | { readonly of: 'storage'; readonly kind: StorageFault['kind']; readonly message: string; readonly cause: unknown }
  | {
      readonly of: 'fault'
      readonly code: Fault['code']
      readonly details: Fault['details']
      readonly cause: unknown
    }
  | { readonly of: 'other'; readonly error: unknown }

/** An error as plain data. Any thrown value is accepted. */
export function plainError(error: unknown): PlainError {
  if (error instanceof StorageFault) {
    const { kind, message, cause } = error
    return { of: 'storage', kind, message, cause: cloneable(cause) }
  }
  if (error instanceof Fault) {
    const { code, details, cause } = error
    return { of: 'fault', code, details, cause: cloneable(cause) }
  }
  return { of: 'other', error: cloneable(error) }
}

/** The error that was made plain. */
export function errorOf(plain: PlainError): unknown {
  if (plain.of === 'storage') return new StorageFault(plain.kind, plain.message, plain.cause)
  return plain.of === 'fault' ? new Fault(plain.code, plain.details, plain.cause) : plain.error
}

/** A thrown value that can be sent; else its text. An error keeps its message and its stack. */
function cloneable(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value instanceof Error ? Object.assign(new Error(value.message), { stack: value.stack }) : String(value)
  }
}
