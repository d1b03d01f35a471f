/** Findings as a terminal shows them: by resource, what breaks first. */
import type { Finding } from './finding.ts'
import type { Severity } from './kinds.ts'
import { clean, listed } from './words.ts'

const columns = 100
const label = 14

/** The report, in lines of at most 100 columns, without a line break at its end. */
export function reportOf(findings: readonly Finding[]): string {
  const groups = [...Map.groupBy(findings, headingOf)].sort(([, left], [, right]) => weightOf(left) - weightOf(right))
  const blocks = groups.map(([heading, some]) => [...wrapped(heading, 0), '', ...some.flatMap(linesOf)].join('\n'))
  return [...blocks, summaryOf(findings)].join('\n\n')
}

/** How many of each: `2 breaking, 1 to review, 5 compatible.` */
export function summaryOf(findings: readonly Finding[]): string {
  if (findings.length === 0) return 'No difference that clients could notice.'
  const count = (severity: Severity) => findings.filter((each) => each.severity === severity).length
  return `${count('breaking')} breaking, ${count('review')} to review, ${count('compatible')} compatible.`
}

/** What a finding is about. */
export function headingOf({ resources }: Finding): string {
  return resources.length === 0 ? 'the interface' : listed(resources, 4)
}

/** What breaks comes first, what is fine last. */
export function weightOf(findings: readonly Finding[]): number {
  if (findings.some((each) => each.severity === 'breaking')) return 0
  return findings.some((each) => each.severity === 'review') ? 1 : 2
}

function linesOf(finding: Finding): string[] {
  const { severity, message, rule, operations, remedy } = finding
  const first = wrapped(`${message} (${rule})`, label)
  const word = `  ${severity}`.padEnd(label)
  const named = operations.length === 0 || message.includes(operations[0] ?? '') || finding.kind.startsWith('version-')
  const place = placeOf(finding)
  return [
    word + (first[0] ?? '').slice(label),
    ...first.slice(1),
    ...(named ? [] : wrapped(`in ${listed(operations, 3)}`, label)),
    ...(place === undefined ? [] : wrapped(`at ${place}`, label)),
    ...(remedy === '' ? [] : wrapped(`→ ${remedy}`, label, 2)),
  ]
}

/** Where to look; nowhere for what is fine. */
export function placeOf({ severity, kind, places }: Finding): string | undefined {
  // What is gone is to be seen in the old document.
  const place = kind.endsWith('-removed') ? places[0] : places.at(-1)
  if (severity === 'compatible' || place === undefined) return undefined
  return `${clean(place.pointer)} of the ${place.in} ${place.of === 'openapi' ? 'document' : 'declaration'}`
}

/** Lines of words, indented; a word longer than a line keeps one of its own. */
function wrapped(text: string, indent: number, hanging = 0): string[] {
  const lines: string[] = []
  let line = ' '.repeat(indent)
  let empty = true
  for (const word of text.split(' ')) {
    if (!empty && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = ' '.repeat(indent + hanging)
      empty = true
    }
    line += empty ? word : ` ${word}`
    empty = false
  }
  return [...lines, line]
}
