/** Prints findings, grouped by resource, the breaking ones first: as text for a terminal, or as Markdown. */
import { clean, type Finding, listed, type Severity, severities } from './finding.ts'

const columns = 100
const label = 14

/** The report in lines of at most 100 columns, without a line break at its end. */
export function textReport(findings: readonly Finding[]): string {
  const blocks = groupsOf(findings).map(([heading, own]) =>
    [...wrapped(heading, 0), '', ...own.flatMap(linesOf)].join('\n'),
  )
  return [...blocks, summaryOf(findings)].join('\n\n')
}

/**
 * The report as Markdown, for a comment on a code review: a table for each resource, without a line break at its end.
 */
export function markdownReport(findings: readonly Finding[]): string {
  const tables = groupsOf(findings).map(([heading, own]) => {
    const head = [`### ${escaped(heading)}`, '', '| | what | where | what to do |', '|---|---|---|---|']
    return [...head, ...own.map(rowOf)].join('\n')
  })
  return [`**${summaryOf(findings)}**`, ...tables].join('\n\n')
}

/** How many findings there are of each severity: `2 breaking, 1 to review, 5 compatible.` */
export function summaryOf(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'No difference that clients could notice.'
  const count = (severity: Severity) => findings.filter((each) => each.severity === severity).length
  return `${count('breaking')} breaking, ${count('review')} to review, ${count('compatible')} compatible.`
}

/** Findings by heading, in the order of the worst finding of each. */
function groupsOf(findings: readonly Finding[]): [heading: string, own: Finding[]][] {
  const worst = (own: readonly Finding[]) => Math.min(...own.map(({ severity }) => severities.indexOf(severity)))
  const groups = Map.groupBy(findings, ({ resources }) =>
    resources.length === 0 ? 'the interface' : listed(resources, 4),
  )
  return [...groups].sort(([, left], [, right]) => worst(left) - worst(right))
}

function linesOf(finding: Finding): string[] {
  const { severity, kind, message, rule, operations, remedy } = finding
  const [first = '', ...more] = wrapped(`${message} (${rule})`, label)
  const isNamed = operations.length === 0 || message.includes(operations[0] ?? '') || kind.startsWith('version-')
  const place = placeOf(finding)
  return [
    `  ${severity}`.padEnd(label) + first.slice(label),
    ...more,
    ...(isNamed ? [] : wrapped(`in ${listed(operations, 3)}`, label)),
    ...(place === '' ? [] : wrapped(`at ${place}`, label)),
    ...(remedy === '' ? [] : wrapped(`→ ${remedy}`, label, 2)),
  ]
}

function rowOf(finding: Finding): string {
  const { severity, message, rule, operations, remedy } = finding
  const where = [operations.length === 0 ? '' : listed(operations, 3), placeOf(finding)].filter(Boolean).join('; ')
  const cells = [`${message} (${rule})`, where, remedy].map(escaped)
  return `| ${[severity === 'breaking' ? '**breaking**' : severity, ...cells].join(' | ')} |`
}

/** Where to look; nothing for a compatible difference. */
function placeOf({ severity, kind, places }: Finding): string {
  // Only the old document has the removed part.
  const place = kind.endsWith('-removed') ? places[0] : places.at(-1)
  if (severity === 'compatible' || place === undefined) return ''
  return `${clean(place.pointer)} of the ${place.in} ${place.of === 'openapi' ? 'document' : 'declaration'}`
}

/** A text from a document as a cell of a table: nothing in it is read as Markdown or HTML, and it stays in the cell. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>()#+!|~&]/g, (character) => `\\${character}`).replaceAll(/\s+/g, ' ')
}

/** Breaks a text into indented lines. A word longer than a line gets its own line. */
function wrapped(text: string, indent: number, hanging = 0): string[] {
  const lines: string[] = []
  let line = ' '.repeat(indent)
  let isEmpty = true
  for (const word of text.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = ' '.repeat(indent + hanging)
      isEmpty = true
    }
    line += isEmpty ? word : ` ${word}`
    isEmpty = false
  }
  return [...lines, line]
}
