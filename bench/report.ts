/** The tables, in Markdown, and their place in `docs/explanation/performance.md`. */
import { readFileSync, writeFileSync } from 'node:fs'
import type { Line } from './measurement.ts'
import type { Spread } from './rounds.ts'
import type { Peer } from './setup.ts'

/** A single figure with its bound. */
export interface Figure {
  readonly title: string
  readonly spread: Spread
  readonly unit: string
  /** What it must stay below. */
  readonly bound: number
}

/** Everything that a run found. */
export interface Findings {
  readonly lines: readonly Line[]
  readonly figures: readonly Figure[]
  readonly peers: readonly Peer[]
  /** Sentences: when, where, by which command. */
  readonly circumstances: readonly string[]
}

/** The findings as Markdown. */
export function format({ lines, figures, peers, circumstances }: Findings): string {
  return [
    circumstances.map((each) => `- ${each}`).join('\n'),
    lines.length > 0 ? comparisons(lines) : '',
    figures.length > 0 ? figureTable(figures) : '',
    lines.some(({ others }) => others.size > 0) || peers.length > 0 ? othersTable(lines, peers) : '',
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

function comparisons(lines: readonly Line[]): string {
  const rows = lines.map((line) => [
    `${line.title}, ${line.transport}`,
    count(line.rate.median),
    `${line.slow.toFixed(1)} ms`,
    `${line.yardstick}: ${count(line.yardstickRate.median)}`,
    spread(line.ratio, 2),
    line.thrift.median.toFixed(2),
    `≥ ${line.target.toFixed(2)}`,
    line.ratio.median >= line.target ? 'reached' : 'missed',
  ])
  return table(
    [
      'measured',
      'ours, a second',
      'slowest p99',
      'yardstick, a second',
      'ratio: median (least–most)',
      'by processor time',
      'target',
      '',
    ],
    rows,
  )
}

function figureTable(figures: readonly Figure[]): string {
  const rows = figures.map(({ title, spread: found, unit, bound }) => [
    title,
    `${spread(found, 0)} ${unit}`,
    `< ${bound} ${unit}`,
    found.median < bound ? 'reached' : 'missed',
  ])
  return table(['measured', 'median (least–most)', 'target', ''], rows)
}

function othersTable(lines: readonly Line[], peers: readonly Peer[]): string {
  const compared = lines.filter(({ others }) => others.size > 0)
  const names = peers.map(({ competitor }) => competitor.name)
  const rows = compared.map((line) => [
    `${line.title}, ${line.transport}`,
    count(line.rate.median),
    ...names.map((name) => {
      const found = line.others.get(name)
      return found === undefined
        ? '–'
        : `${count(found.median)} (${(found.median / line.rate.median).toFixed(3)} of ours)`
    }),
  ])
  const absent = peers.filter(({ server }) => server === undefined)
  const reasons = absent.map(({ competitor, problem }) => `\n\n${competitor.package} did not run here: ${problem}`)
  return (
    table(['answers a second', 'ours', ...peers.map(({ competitor }) => competitor.package)], rows) + reasons.join('')
  )
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

function count(rate: number): string {
  return rate < 10 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en')
}

function spread({ median, min, max }: Spread, digits: number): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`
}

const end = '<!-- figures: end -->'

/**
 * Puts tables between the two markers of a page that a command has there.
 *
 * @throws Error where the page does not have them
 */
export function writeInto(page: URL, markdown: string, command = 'npm run bench'): void {
  const begin = `<!-- figures: begin (written by ${command}) -->`
  const text = readFileSync(page, 'utf8')
  const from = text.indexOf(begin)
  const to = text.indexOf(end, from)
  if (from === -1 || to === -1) throw new Error(`${page.pathname} has no markers: ${begin} and ${end}`)
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n\n${markdown}\n\n${text.slice(to)}`)
}
