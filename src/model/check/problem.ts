/**
 * Problems of a declaration: where, what, and what to write instead. Also the checks that every part of a declaration needs.
 */
import { isRecord } from '../field.ts'
import { nearest, oneOf, suggest } from '../nearest.ts'
import { at } from '../place.ts'

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

/** A key's own value: what an object only inherits (`constructor`) is not declared. */
export function own(record: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

/** Whether a value is an object; reports it where it is something else. */
export function expectRecord(
  report: Report,
  path: string,
  value: unknown,
  example: string,
): value is Record<string, unknown> {
  if (isRecord(value)) return true
  report(path, mustBe('an object', value), `Write ${example}.`)
  return false
}

/** Reports every key that is not known, with the one that was probably meant. */
export function checkKeys(
  report: Report,
  path: string,
  record: Readonly<Record<string, unknown>>,
  known: readonly string[],
  hints: Readonly<Record<string, string>> = {},
): void {
  for (const key of Object.keys(record)) {
    if (!known.includes(key))
      report(at(path, key), 'is not a known key', (own(hints, key) as string) ?? suggest(key, known))
  }
}

/** Reports a value that is none of those allowed. Absent is fine. */
export function checkChoice(
  report: Report,
  path: string,
  value: unknown,
  choices: readonly string[],
  hints: Readonly<Record<string, string>> = {},
): void {
  if (value === undefined || (typeof value === 'string' && choices.includes(value))) return
  const hint = typeof value === 'string' ? (hints[value] ?? nearest(value, choices)) : undefined
  const quoted = choices.map((choice) => `"${choice}"`)
  const remedy = hint === undefined ? `Write ${oneOf(quoted)}.` : `Did you mean "${hint}"?`
  report(path, mustBe(`${oneOf(quoted)}`, value), remedy)
}

/** Reports a value that is neither true nor false. Absent is fine. */
export function checkFlag(report: Report, path: string, value: unknown): void {
  if (value === undefined || typeof value === 'boolean') return
  report(path, mustBe('true or false', value), 'Write true or false, without quotes.')
}

/** Reports a text that is empty or none at all. Absent is fine. */
export function checkText(report: Report, path: string, value: unknown): void {
  if (value === undefined || (typeof value === 'string' && value.trim() !== '')) return
  report(path, mustBe('a text', value), 'Write a few words for people, or leave it out.')
}

/** Reports a title that is no text of one line. Absent is fine. */
export function checkTitle(report: Report, path: string, value: unknown): void {
  if (typeof value === 'string' && /[\r\n]/.test(value)) {
    report(path, 'must be one line', 'Keep the title short and write the rest as `description`.')
  } else checkText(report, path, value)
}

/** Reports what is not a whole number between bounds. Absent is fine. */
export function checkWhole(report: Report, path: string, value: unknown, least: number, most: number): void {
  if (value === undefined || (Number.isInteger(value) && (value as number) >= least && (value as number) <= most))
    return
  report(path, mustBe(`a whole number from ${least} to ${most}`, value), `Write a number such as ${least}.`)
}
