/** Finds patterns that backtrack so long that one value blocks the server. */
import { createRequire } from 'node:module'
import type * as recheck from 'recheck'

// Loading the analysis takes a tenth of a second, and most declarations have only plain patterns.
const load = (): Pick<typeof recheck, 'checkSync'> => createRequire(import.meta.url)('recheck/lib/browser.js')

/**
 * How long the analysis of one pattern may take, in milliseconds. A pattern that takes longer is accepted.
 */
const patience = 2_000

// A sequence of atoms with fixed counts, and one repetition at the end: if anchored, it never backtracks.
const atom = String.raw`(?:[^\\^$.*+?()[\]{}|]|\.|\\[dDwWsS.\-/]|\[\^?(?:[^\]\\]|\\.)+\])(?:\{\d{1,3}\})?`
const plain = new RegExp(`^\\^(?:${atom})*(?:${atom}(?:[*+]|\\{\\d{1,3},\\d{0,4}\\})?)?\\$?$`)

const known = new Map<string, number>()

/** The worst-case time of a pattern, as a power of the text's length; `Infinity`: exponential. */
export function worstPower(pattern: string): number {
  const found = known.get(pattern) ?? analyze(pattern)
  known.set(pattern, found)
  return found
}

function analyze(pattern: string): number {
  if (plain.test(pattern)) return 1
  const diagnostics = load().checkSync(pattern, 'u', { timeout: patience })
  if (diagnostics.status !== 'vulnerable') return 1
  const { complexity } = diagnostics
  return complexity.type === 'exponential' ? Number.POSITIVE_INFINITY : complexity.degree
}

// Character comparisons for one value, and for all values of one body: each a fraction of a second.
const mostForValue = 2e7
const mostForBody = 3e8
const bodyBytes = 1_048_576

/**
 * The longest text that a pattern may be tried on.
 *
 * @param power the result of `worstPower`
 * @param repeated whether one body may have many such texts, such as items of a list
 * @returns `Infinity`: any length; 0: none
 */
export function longestText(power: number, repeated: boolean): number {
  if (power <= 1) return Number.POSITIVE_INFINITY
  if (!Number.isFinite(power)) return 0
  const most = repeated ? (mostForBody / bodyBytes) ** (1 / (power - 1)) : mostForValue ** (1 / power)
  return Math.floor(most)
}
