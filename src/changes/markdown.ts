/** Findings as Markdown, for a comment on a change that is looked at. */
import type { Finding } from './finding.ts'
import { headingOf, placeOf, summaryOf, weightOf } from './report.ts'
import { listed } from './words.ts'

/** The report as Markdown, a table for each resource, what breaks first; without a line break at its end. */
export function markdownOf(findings: readonly Finding[]): string {
  const groups = [...Map.groupBy(findings, headingOf)].sort(([, left], [, right]) => weightOf(left) - weightOf(right))
  const tables = groups.map(([heading, some]) =>
    [`### ${plain(heading)}`, '', '| | what | where | what to do |', '|---|---|---|---|', ...some.map(rowOf)].join(
      '\n',
    ),
  )
  return [`**${summaryOf(findings)}**`, ...tables].join('\n\n')
}

function rowOf(finding: Finding): string {
  const { severity, message, rule, operations, remedy } = finding
  const where = [operations.length === 0 ? '' : listed(operations, 3), placeOf(finding) ?? '']
  const cells = [
    severity === 'breaking' ? '**breaking**' : severity,
    `${message} (${rule})`,
    where.filter(Boolean).join('; '),
    remedy,
  ]
  return `| ${cells.map((cell, index) => (index === 0 ? cell : plain(cell))).join(' | ')} |`
}

/** A text of others in a cell: nothing of it is taken for Markdown or HTML, and it stays in its cell. */
function plain(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]<>()#+!|~&]/g, (character) => `\\${character}`).replaceAll(/\s+/g, ' ')
}
