/** The report as a page that stands alone. */
import { ruleSections } from '../../spec/rules.ts'
import type { Finding } from '../case/case.ts'
import type { Report } from '../run/check.ts'
import type { CaseResult, RuleResult, Verdict } from '../run/verdict.ts'
import { commandOf } from './curl.ts'
import { style } from './html-style.ts'
import { leftoversOf } from './leftovers.ts'
import { answerLines } from './lines.ts'
import { countsOf, requestsOf, summaryLine, verdicts, wrongCases } from './summary.ts'
import { sourceOf } from './text.ts'

/** HTML that is written as it is; everything else is escaped. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A report as an HTML document. It loads nothing and runs no script. */
export function htmlReport(report: Report): string {
  const { base, date, requests, seconds, stopped } = report
  const leftovers = leftoversOf(report)
  const wrong = wrongCases(report)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${base}: how far it keeps the rules</title>
<style>${new Html(style)}</style>
</head>
<body>
<header>
<h1>${base}</h1>
<p class="when"><time datetime="${date}">${date.slice(0, 16).replace('T', ' ')} UTC</time>, ${requests} requests in ${seconds} s${stopped ? '; stopped before its end' : ''}</p>
${bar(report)}
<p class="summary">${summaryLine(report)}</p>
</header>
<main>
${wrong.length === 0 ? html`<p class="fine">Nothing was found to be wrong.</p>` : html`<h2>What is wrong</h2>${wrong.map(card)}`}
${leftovers.length === 0 ? '' : html`<h2>What remains</h2>${leftovers.map(({ message, paths }) => html`<p>${message}</p><ul>${paths.map((path) => html`<li><code>${path}</code></li>`)}</ul>`)}`}
<h2>All rules</h2>
${ruleSections.map(({ prefix, title }) =>
  section(
    title,
    report.rules.filter(({ rule }) => rule.section === prefix),
  ),
)}
</main>
</body>
</html>
`.text
}

function bar(report: Report): Html {
  const counts = countsOf(report)
  const parts = verdicts.filter((verdict) => counts.get(verdict))
  return html`<div class="bar" role="img" aria-label="${summaryLine(report)}">${parts.map(
    (verdict) =>
      html`<span class="${className(verdict)}" style="flex-grow:${counts.get(verdict)}" title="${counts.get(verdict)} ${verdict}"></span>`,
  )}</div>`
}

function card({ rule, found }: { readonly rule: RuleResult; readonly found: CaseResult }): Html {
  return html`<article class="${className(found.verdict)}" id="${found.id}">
<h3><span class="badge">${found.level}</span> ${found.title}</h3>
<p class="rule"><b>${rule.rule.id}</b> ${rule.rule.sentence} <i>(${sourceOf(rule)})</i></p>
<pre class="asked">${requestsOf(found, ({ asked }) => commandOf(asked)).join('\n')}</pre>
${found.findings.map(evidence)}
<p class="mend"><b>To mend it:</b> ${found.mend}</p>
</article>`
}

function evidence({ exchange, part, message }: Finding): Html {
  const lines = exchange === undefined ? [] : answerLines(exchange, part)
  const shown = lines.map(({ text, marked }) => (marked ? html`<mark>${text}</mark>\n` : html`${text}\n`))
  return html`<p class="finding">${exchange === undefined ? '' : html`<code>${exchange.step}</code> `}${message}</p>${lines.length === 0 ? '' : html`<pre>${shown}</pre>`}`
}

function section(title: string, rules: readonly RuleResult[]): Html {
  if (rules.length === 0) return html``
  return html`<section><h3>${title}</h3>${rules.map(ruleRow)}</section>`
}

function ruleRow({ rule, verdict, why, cases }: RuleResult): Html {
  const isSeen = verdict === 'holds' || verdict === 'fails' || verdict === 'advice'
  const head = html`<span class="dot"></span><b>${rule.id}</b><span class="level">${rule.level}</span><span class="sentence">${rule.sentence}${isSeen ? '' : html`<em>${verdict}: ${why}</em>`}</span>`
  if (cases.length === 0) return html`<div class="row ${className(verdict)}">${head}</div>`
  return html`<details class="${className(verdict)}"><summary class="row">${head}</summary><ul>${cases.map(caseRow)}</ul></details>`
}

function caseRow({ id, title, verdict, why, collection }: CaseResult): Html {
  const isWrong = verdict === 'fails' || verdict === 'advice'
  const name = isWrong ? html`<a href="#${id}">${title}</a>` : title
  return html`<li class="${className(verdict)}"><span class="dot"></span>${name}${collection === '' ? '' : html` <code>${collection}</code>`}${why === '' ? '' : html` <em>${verdict}: ${why}</em>`}</li>`
}

function className(verdict: Verdict): string {
  return verdict.replaceAll(' ', '-')
}

const entities: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  "'": '&#39;',
}

function html(strings: TemplateStringsArray, ...values: readonly unknown[]): Html {
  const text = strings.reduce((before, string, index) => before + written(values[index - 1]) + string)
  return new Html(text)
}

function written(value: unknown): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map(written).join('')
  return String(value ?? '').replaceAll(/[<>&"']/g, (each) => entities[each] as string)
}
