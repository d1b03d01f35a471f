/** The questions that every part of a declaration is asked. Each reports what is wrong and says whether all is well. */
import { isRecord } from '../field-shape.ts'
import { nearest, oneOf, suggest } from '../nearest.ts'
import { at } from '../place.ts'
import { mustBe, type Report } from './problem.ts'

export { isRecord }

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
