/** The report in Markdown: for issues and pull requests. */
import { ruleSections } from '../../spec/rules.ts'
import type { Report } from '../run/check.ts'
import { commandOf } from './curl.ts'
import { leftoversOf } from './leftovers.ts'
import { answerLines } from './lines.ts'
import { requestsOf, summaryLine, wrongCases } from './summary.ts'
import { sourceOf } from './text.ts'

/** A report as Markdown. */
export function markdownReport(report: Report): string {
  const { base, date, requests, seconds, rules } = report
  const leftovers = leftoversOf(report)
  const rows = ruleSections.flatMap(({ prefix, title }) => {
    const own = rules.filter(({ rule }) => rule.section === prefix)
    return own.map(({ rule, verdict, why, cases }) => {
      const seen = cases.filter((each) => each.verdict === 'holds').length
      const isSeen = verdict === 'holds' || verdict === 'fails' || verdict === 'advice'
      const said = verdict === 'fails' ? '**fails**' : verdict
      return `| ${rule.id} | ${cell(title)} | ${rule.level} | ${said} | ${cases.length === 0 ? '' : `${seen} of ${cases.length}`} | ${cell(isSeen ? rule.sentence : why)} |`
    })
  })
  const wrong = wrongCases(report).flatMap(({ rule, found }) => [
    `### ${found.verdict === 'fails' ? 'Fails' : 'To think about'}: ${found.title}`,
    '',
    `\`${found.id}\`, ${found.level} (${sourceOf(rule)}). ${rule.rule.sentence}`,
    '',
    fenced(requestsOf(found, ({ asked }) => commandOf(asked)).join('\n'), 'sh'),
    ...found.findings.flatMap(({ exchange, part, message }) => [
      `**${inline(exchange === undefined ? message : `${exchange.step}: ${message}`)}**`,
      '',
      ...(exchange === undefined
        ? []
        : [
            fenced(
              answerLines(exchange, part)
                .map(({ text, marked }) => `${marked ? '> ' : '  '}${text}`)
                .join('\n'),
              'http',
            ),
          ]),
    ]),
    `To mend it: ${found.mend}`,
    '',
  ])
  return `${[
    `# ${base}`,
    '',
    `${summaryLine(report)}. ${requests} requests in ${seconds} s, ${date}.`,
    '',
    '| rule | section | level | verdict | cases that hold | |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    '',
    ...(wrong.length === 0 ? [] : ['## What is wrong', '', ...wrong]),
    ...(leftovers.length === 0 ? [] : ['## What remains', '']),
    ...leftovers.flatMap(({ message, paths }) => [
      `- ${inline(message)}`,
      ...paths.map((path) => `  - \`${path.replaceAll('`', '')}\``),
    ]),
    ...(leftovers.length === 0 ? [] : ['']),
  ].join('\n')}`
}

function cell(text: string): string {
  return inline(text).replaceAll('|', '\\|')
}

function inline(text: string): string {
  return text.replaceAll(/[\r\n]+/g, ' ').replaceAll(/[<>*_[\]]/g, (each) => `\\${each}`)
}

/** A block that nothing in it can end. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([each]) => each.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}\n`
}
