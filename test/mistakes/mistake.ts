/** A mistake that people make in declarations, made in the declaration of the documentation. For tests. */

/** One mistake. */
export interface Mistake {
  readonly name: string
  /** Where it is made (`resources/tasks/within`), or several places with what is written there; `undefined` removes. */
  readonly at: string | Readonly<Record<string, unknown>>
  readonly write?: unknown
  /** Where it is reported. */
  readonly path: string
  readonly message?: RegExp
  readonly remedy?: RegExp
}

/** The places that most mistakes are made at. */
export const fields = 'resources/tasks/fields'
export const shown = 'resources.tasks.fields'
export const tasks = 'resources/tasks'
