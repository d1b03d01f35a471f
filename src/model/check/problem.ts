/** Problems of a declaration: where, what is wrong, and what to write instead. */

/** One mistake. */
export interface Problem {
  /** The place in the declaration: `resources.tasks.fields.project_id.onDelete`; empty: the whole declaration. */
  readonly path: string
  /** What is wrong; continues the path. */
  readonly message: string
  /** What to write instead, a sentence. */
  readonly remedy: string
}

/** Adds a problem. */
export type Report = (path: string, message: string, remedy: string) => void

/** A declaration that cannot be served, with all of its mistakes. */
export class DeclarationError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[], file?: string) {
    super(formatProblems(problems, file))
    this.name = 'DeclarationError'
    this.problems = problems
  }
}

/**
 * The problems as text for a terminal: numbered, each with its place, what is wrong, and what to write instead.
 *
 * @param file of the declaration, for the heading
 */
export function formatProblems(problems: readonly Problem[], file?: string): string {
  const number = problems.length === 1 ? 'One thing is' : `${problems.length} things are`
  const indent = ' '.repeat(String(problems.length).length + 4)
  const blocks = problems.map(({ path, message, remedy }, index) => {
    const label = `${index + 1}.`.padStart(indent.length - 1)
    return `${label} ${path === '' ? 'the declaration' : path}\n${indent}${message}\n${indent}→ ${remedy}`
  })
  return [`${number} wrong in ${file ?? 'the declaration'}:`, ...blocks].join('\n\n')
}

/** The message about a value that is missing or is not what it must be. */
export function mustBe(what: string, value: unknown): string {
  return value === undefined ? `is missing: it must be ${what}` : `must be ${what}, and is ${show(value)}`
}

/** A value for a message: shortened; texts are quoted. */
export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'number') return String(value)
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' || typeof each === 'symbol' || typeof each === 'function' ? String(each) : each,
  )
  if (text === undefined) return 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
