/** What is wrong in a declaration: where, what, and what to write instead. */

/** One thing wrong. */
export interface Problem {
  /** The place in the declaration, as people would write it: `resources.tasks.fields.project_id.onDelete`. Empty: the whole. */
  readonly path: string
  /** What is wrong, to be read after the path. */
  readonly message: string
  /** What to write instead, a sentence. */
  readonly remedy: string
}

/** Adds a problem to those found. */
export type Report = (path: string, message: string, remedy: string) => void

/** A declaration that cannot be served, with everything wrong in it. */
export class DeclarationError extends Error {
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[], file?: string) {
    super(formatProblems(problems, file))
    this.name = 'DeclarationError'
    this.problems = problems
  }
}

/**
 * The problems as a terminal shows them: numbered, each with its place, what is wrong, and what to write instead.
 *
 * @param file the file they are in, for the heading
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

/** The message about a value that is not what it must be, or not there. */
export function mustBe(what: string, value: unknown): string {
  return value === undefined ? `is missing: it must be ${what}` : `must be ${what}, and is ${show(value)}`
}

/** A value in a message: short, quoted where it is a text. */
export function show(value: unknown): string {
  if (typeof value === 'function') return 'a function'
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'number') return String(value)
  const text = JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' || typeof each === 'symbol' || typeof each === 'function' ? String(each) : each,
  )
  if (text === undefined) return 'nothing'
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
