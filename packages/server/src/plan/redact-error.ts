/** Removes writeOnly values from errors before they are logged: an error may quote the values it is about (SEC-3). */
import type { Resource } from 'resourced-contract/model/resource'

const mask = '***'

/** Every text and number in the writeOnly fields of a record, or of the body of a change: merge patch or JSON Patch. */
export function writeOnlyTexts(resource: Resource, body: unknown): string[] {
  const names = new Set(resource.fields.filter((field) => field.writeOnly).map((field) => field.name))
  if (names.size === 0 || typeof body !== 'object' || body === null) return []
  if (!Array.isArray(body)) {
    return Object.entries(body).flatMap(([name, value]) => (names.has(name) ? textsIn(value) : []))
  }
  return body.flatMap((operation) => {
    const path = String(operation?.path)
    if (path === '') return writeOnlyTexts(resource, operation.value)
    return names.has(path.split('/')[1] ?? '') ? textsIn(operation.value) : []
  })
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Removes secrets from the message, the stack and the causes of what was thrown, and returns the same error. */
export function redactError(thrown: unknown, secrets: readonly string[]): unknown {
  if (secrets.length === 0) return thrown
  const clean = (text: string) => secrets.reduce((rest, secret) => rest.replaceAll(secret, mask), text)
  if (typeof thrown === 'string') return clean(thrown)
  const seen = new Set<unknown>()
  const visit = (error: unknown): unknown => {
    if (typeof error === 'string') return clean(error)
    if (!(error instanceof Error) || seen.has(error)) return error
    seen.add(error)
    // In this order: the stack is made of the message when it is first read.
    const stack = clean(String(error.stack))
    const changed = { message: clean(error.message), stack, cause: visit(error.cause) }
    for (const [name, value] of Object.entries(changed)) {
      if (value !== Reflect.get(error, name)) Object.defineProperty(error, name, { value, configurable: true })
    }
    if (error instanceof AggregateError) error.errors = error.errors.map(visit)
    return error
  }
  try {
    return visit(thrown)
  } catch {
    return new Error('An error that names a writeOnly value cannot be shown.')
  }
}
