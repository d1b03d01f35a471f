/** The tables, in Markdown, and their place on a page of `bench/results/`. */
import { readFileSync, writeFileSync } from 'node:fs'
import { type Comparison, type Finding, isReached } from './measurement.ts'
import type { Spread } from './rounds.ts'

/** The findings as Markdown, after sentences that say when, where and how they were found. */
export function format(findings: readonly Finding[], circumstances: readonly string[]): string {
  const head = ['measured', 'ours', 'yardstick', 'ratio', 'by processor time', 'target', '']
  return `${circumstances.map((each) => `- ${each}\n`).join('')}\n${table(head, findings.flatMap(linesOf))}`
}

function linesOf(finding: Finding): string[][] {
  const { title, unit, own, slow, atMost, comparisons } = finding
  const shown = `${number(own)} ${unit}${slow === undefined ? '' : `, p99 ${slow.toFixed(1)} ms`}`
  const lines = comparisons.map((each) => [
    `${each.yardstick}: ${number(each.found)}`,
    ratio(each),
    each.thrift?.toFixed(2) ?? '',
    targetOf(each),
    verdict(isReached(each)),
  ])
  if (atMost !== undefined) lines.push(['', '', '', `≤ ${atMost} ${unit}`, verdict(own.median <= atMost)])
  // The title stands once, before all its yardsticks.
  return lines.map((cells, index) => [...(index === 0 ? [title, shown] : ['', '']), ...cells])
}

function ratio({ ratio: { median, min, max }, best }: Comparison): string {
  return `**${median.toFixed(2)}** (${min.toFixed(2)}–${max.toFixed(2)}), best ${best.toFixed(2)}`
}

function targetOf({ target }: Comparison): string {
  if (target === undefined) return ''
  return 'atLeast' in target ? `≥ ${target.atLeast.toFixed(2)}` : `≤ ${target.atMost.toFixed(2)}`
}

function verdict(reached: boolean | undefined): string {
  return reached === undefined ? '' : reached ? 'reached' : 'missed'
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

/** The median, with the least and the most. */
function number({ median, min, max }: Spread): string {
  const text = (value: number) => (value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en'))
  return min === max ? text(median) : `${text(median)} (${text(min)}–${text(max)})`
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
