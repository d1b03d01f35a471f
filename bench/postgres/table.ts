/** What was found, as a table in Markdown. */
import type { Spread } from '../rounds.ts'
import type { Comparison } from './contests.ts'

/** What came of a comparison. */
export interface Found {
  readonly comparison: Comparison
  /** Answers a second. */
  readonly rate: Spread
  readonly otherRate: Spread
  /** The slowest 99th percentile of ours, in milliseconds. */
  readonly slow: number
  readonly ratio: Spread
  /** By the processor time of Node and PostgreSQL together. */
  readonly thrift: Spread
  /** By that of Node alone. */
  readonly own: Spread
  /** Microseconds of processor time for an answer: of ours, of the other. */
  readonly costs: readonly { readonly node: number; readonly database: number }[]
}

const head = [
  'measured',
  'ours, a second',
  'slowest p99',
  'yardstick, a second',
  'ratio: median (least–most)',
  'by processor time, both',
  'of Node alone',
  'µs of Node + PostgreSQL, ours',
  'the yardstick',
  'target',
]

/** The table. */
export function tableOf(found: readonly Found[]): string {
  const rows = found.map(({ comparison, rate, otherRate, slow, ratio, thrift, own, costs }) => [
    comparison.title,
    count(rate.median),
    `${slow.toFixed(0)} ms`,
    `${comparison.yardstick}: ${count(otherRate.median)}`,
    spread(ratio),
    spread(thrift),
    own.median.toFixed(2),
    ...costs.map(({ node, database }) => `${node.toFixed(0)} + ${database.toFixed(0)}`),
    targetOf(comparison.target, ratio, thrift),
  ])
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function targetOf(target: number | undefined, ratio: Spread, thrift: Spread): string {
  if (target === undefined) return '–'
  const reached = [ratio, thrift].map(({ median }) => (median >= target ? 'reached' : 'missed'))
  return `≥ ${target.toFixed(2)}: ${reached[0] === reached[1] ? reached[0] : `${reached[0]} by the clock, ${reached[1]} by processor time`}`
}

function spread({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`
}

function count(rate: number): string {
  return Math.round(rate).toLocaleString('en')
}
