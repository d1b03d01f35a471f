/** What is measured, and what came of it, as data. */
import { type Result, type Results, type Spread, spreadOf } from './rounds.ts'
import type { Setup } from './setup.ts'

/** Something that a run measures. */
export interface Measurement {
  /** For `--only`. */
  readonly name: string
  /** Whether a run without `--only` leaves it out. */
  readonly extra?: boolean
  measure(setup: Setup): Promise<readonly Finding[]>
}

/** A line of the table. */
export interface Finding {
  readonly title: string
  /** Of what there is more, or less, the better: answers, milliseconds. */
  readonly unit: string
  readonly own: Spread
  /** Milliseconds: the slowest 99th percentile of a round. */
  readonly slow?: number
  readonly comparisons: readonly Comparison[]
  /** The most that `own` should be. */
  readonly atMost?: number
}

/** Ours beside a yardstick. */
export interface Comparison {
  readonly yardstick: string
  readonly found: Spread
  /** Of what was measured side by side. */
  readonly ratio: Spread
  /** The best of ours by the best of the yardstick. */
  readonly best: number
  /** The ratio of answers by processor time. */
  readonly thrift?: number
  /** What the median of the ratios should at least be, or at most. */
  readonly target?: { readonly atLeast: number } | { readonly atMost: number }
}

type Target = NonNullable<Comparison['target']>

/** Compares numbers that were measured side by side. */
export function comparisonOf(
  yardstick: string,
  own: readonly number[],
  other: readonly number[],
  target: Target | undefined,
): Comparison {
  const best = target !== undefined && 'atMost' in target ? Math.min : Math.max
  return {
    yardstick,
    found: spreadOf(other),
    ratio: spreadOf(other.map((each, round) => (own[round] as number) / each)),
    best: best(...own) / best(...other),
    ...(target === undefined ? {} : { target }),
  }
}

/** A line of rates, with the least ratios to aim at. */
export function findingOf(
  title: string,
  results: Results,
  own: string,
  yardsticks: Readonly<Record<string, number | undefined>>,
): Finding {
  const { rates, thrift, slow } = results.get(own) as Result
  const comparisons = Object.entries(yardsticks).map(([yardstick, least]) => {
    const other = results.get(yardstick) as Result
    const target = least === undefined ? undefined : { atLeast: least }
    const { ratio } = comparisonOf(yardstick, thrift, other.thrift, undefined)
    return { ...comparisonOf(yardstick, rates, other.rates, target), thrift: ratio.median }
  })
  return { title, unit: 'a second', own: spreadOf(rates), slow, comparisons }
}

/** Whether a target is reached; `undefined`: there is none. */
export function isReached({ ratio, target }: Comparison): boolean | undefined {
  if (target === undefined) return undefined
  return 'atLeast' in target ? ratio.median >= target.atLeast : ratio.median <= target.atMost
}
