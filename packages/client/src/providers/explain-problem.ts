/** Problems as the frameworks show them: a message for people, and errors by the fields of a form. */
import { type ProblemEntry, ProblemError } from '../index.ts'

/** A problem, in parts. */
export interface Explanation {
  readonly status: number
  readonly code: string
  /** For people: everything that is wrong. */
  readonly message: string
  /** By the path of the field, such as `['address', 'city']`: what is wrong with it. */
  readonly fields: readonly (readonly [path: readonly string[], message: string])[]
}

/** Makes methods reject with the errors of a framework. Other errors, such as that of an `AbortSignal`, stay. */
export function withErrors<Methods extends object>(
  methods: Methods,
  FrameworkError: new (explanation: Explanation, cause: ProblemError) => Error,
): Methods {
  const wrapped = Object.entries(methods).map(([name, method]) => [
    name,
    async (...params: readonly unknown[]) => {
      try {
        return await method(...params)
      } catch (error) {
        throw error instanceof ProblemError ? new FrameworkError(explain(error), error) : error
      }
    },
  ])
  return Object.fromEntries(wrapped)
}

function explain(error: ProblemError): Explanation {
  const { status, code, detail, errors } = error
  // What is wrong with a header is the matter of the client. For people, `detail` says more about it.
  const messages = new Set(errors.filter(({ header }) => header === undefined).map((entry) => entry.message))
  const fields = new Map<string, readonly [readonly string[], string]>()
  for (const entry of errors) {
    const path = pathOf(entry)
    const before = fields.get(path.join('/'))?.[1]
    if (path.length > 0) fields.set(path.join('/'), [path, before ? `${before} ${entry.message}` : entry.message])
  }
  return { status, code, message: [...messages].join(' ') || detail, fields: [...fields.values()] }
}

function pathOf({ pointer = '' }: ProblemEntry): readonly string[] {
  const segments = pointer.split('/').slice(1)
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}
