/** The report in Markdown, for issues and pull requests. */
import type { Report } from '../run/check.ts'
import {
  holdingCases,
  isObserved,
  leftoversOf,
  markedLines,
  type Problem,
  problemsOf,
  sectionsOf,
  summaryLine,
} from './summary.ts'

export function markdownReport(report: Report): string {
  const { base, date, requests, seconds, seed } = report
  const rows = sectionsOf(report).flatMap(({ title, rules }) =>
    rules.map((result) => {
      const { rule, verdict, why, cases } = result
      const count = cases.length === 0 ? '' : `${holdingCases(result)} of ${cases.length}`
      const text = isObserved(result) ? rule.sentence : why
      const cells = [rule.id, title, rule.level, verdict, count, text].map((each) =>
        inline(each).replaceAll('|', '\\|'),
      )
      return `| ${cells.map((each, index) => (index === 3 && each === 'fails' ? '**fails**' : each)).join(' | ')} |`
    }),
  )
  const problems = problemsOf(report).flatMap(problemLines)
  const leftovers = leftoversOf(report).flatMap(({ message, paths }) => [
    `- ${inline(message)}`,
    ...paths.map((path) => `  - \`${path.replaceAll('`', '')}\``),
  ])
  return [
    `# ${base}`,
    '',
    `${summaryLine(report)}. ${requests} requests in ${seconds} s, seed ${seed}, ${date}.`,
    '',
    '| rule | section | level | verdict | cases that hold | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    ...(problems.length === 0 ? [] : ['## Problems', '', ...problems]),
    ...(leftovers.length === 0 ? [] : ['## Leftovers', '', ...leftovers, '']),
  ].join('\n')
}

function problemLines({ rule, found, source, commands, findings }: Problem): string[] {
  return [
    `### ${found.verdict === 'fails' ? 'Fails' : 'Consider'}: ${found.title}`,
    '',
    `\`${found.id}\` (${source}). ${rule.sentence}`,
    '',
    fenced(commands.join('\n'), 'sh'),
    ...findings.flatMap((each) => [
      `**${inline(each.step === undefined ? each.message : `${each.step}: ${each.message}`)}**`,
      '',
      ...(each.step === undefined ? [] : [fenced(markedLines(each).join('\n'), 'http')]),
    ]),
    `To correct it: ${found.mend}`,
    '',
  ]
}

function inline(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[<>*_[\]]/g, (each) => `\\${each}`)
}

/** A code block that its content cannot end. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([each]) => each.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}\n`
}
