/** The result of one check of `resourced doctor`. */

/** How bad it is: a warning may lose data or fail later, a problem fails or loses data now. */
export type Severity = 'ok' | 'warning' | 'problem'

/** What a check found. */
export interface Diagnosis {
  /** What was checked, one or two words. */
  readonly check: string
  readonly severity: Severity
  /** What was found, a sentence. */
  readonly finding: string
  /** What to do, a sentence; `undefined`: nothing. */
  readonly remedy?: string | undefined
}

/** A check that found nothing wrong. */
export function ok(check: string, finding: string): Diagnosis {
  return { check, severity: 'ok', finding }
}

/** A check that found something that can fail or lose data later. */
export function warning(check: string, finding: string, remedy: string): Diagnosis {
  return { check, severity: 'warning', finding, remedy }
}

/** A check that found something that fails or loses data now. */
export function problem(check: string, finding: string, remedy?: string): Diagnosis {
  return { check, severity: 'problem', finding, remedy }
}
