/** The report as an HTML page that loads nothing and runs no script. */
import type { Report } from '../run/check.ts'
import type { CaseResult, RuleResult, Verdict } from '../run/verdict.ts'
import { style } from './html-style.ts'
import {
  countsOf,
  type Evidence,
  isObserved,
  leftoversOf,
  type Problem,
  problemsOf,
  sectionsOf,
  summaryLine,
  verdicts,
} from './summary.ts'

/** Markup. All other values are escaped. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A report as an HTML document. */
export function htmlReport(report: Report): string {
  const { base, date, requests, seconds, stopped } = report
  const end = stopped ? '; stopped before its end' : ''
  const leftovers = leftoversOf(report)
  const problems = problemsOf(report)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${base}: report of resourced check</title>
<style>${new Html(style)}</style>
</head>
<body>
<header>
<h1>${base}</h1>
<p class="when">
<time datetime="${date}">${date.slice(0, 16).replace('T', ' ')} UTC</time>, ${requests} requests in ${seconds} s${end}
</p>
${bar(report)}
<p class="summary">${summaryLine(report)}</p>
</header>
<main>
${problems.length === 0 ? html`<p class="fine">No problem was found.</p>` : html`<h2>Problems</h2>`}
${problems.map(card)}
${leftovers.length === 0 ? '' : html`<h2>Leftovers</h2>`}
${leftovers.map(
  ({ message, paths }) => html`<p>${message}</p><ul>${paths.map((path) => html`<li><code>${path}</code></li>`)}</ul>`,
)}
<h2>All rules</h2>
${sectionsOf(report).map(({ title, rules }) => html`<section><h3>${title}</h3>${rules.map(ruleRow)}</section>`)}
</main>
</body>
</html>
`.text
}

function bar(report: Report): Html {
  const counts = countsOf(report)
  const parts = verdicts
    .filter((verdict) => counts.get(verdict))
    .map((verdict) => {
      const count = counts.get(verdict)
      return html`<span class="${className(verdict)}" style="flex-grow:${count}" title="${count} ${verdict}"></span>`
    })
  return html`<div class="bar" role="img" aria-label="${summaryLine(report)}">${parts}</div>`
}

function card({ rule, found, source, commands, findings }: Problem): Html {
  return html`<article class="${className(found.verdict)}" id="${found.id}">
<h3><span class="badge">${found.level}</span> ${found.title}</h3>
<p class="rule"><b>${rule.id}</b> ${rule.sentence} <i>(${source})</i></p>
<pre class="asked">${commands.join('\n')}</pre>
${findings.map(evidence)}
<p class="mend"><b>To correct it:</b> ${found.mend}</p>
</article>`
}

function evidence({ step, message, lines }: Evidence): Html {
  const shown = lines.map(({ text, marked }) => (marked ? html`<mark>${text}</mark>\n` : html`${text}\n`))
  return html`<p class="finding">${step === undefined ? '' : html`<code>${step}</code> `}${message}</p>
${lines.length === 0 ? '' : html`<pre>${shown}</pre>`}`
}

function ruleRow(result: RuleResult): Html {
  const { rule, verdict, why, cases } = result
  const reason = isObserved(result) ? '' : html`<em>${verdict}: ${why}</em>`
  const head = html`<span class="dot"></span><b>${rule.id}</b><span class="level">${rule.level}</span>
<span class="sentence">${rule.sentence}${reason}</span>`
  if (cases.length === 0) return html`<div class="row ${className(verdict)}">${head}</div>`
  const rows = html`<ul>${cases.map(caseRow)}</ul>`
  return html`<details class="${className(verdict)}"><summary class="row">${head}</summary>${rows}</details>`
}

function caseRow({ id, title, verdict, why, collection }: CaseResult): Html {
  const isProblem = verdict === 'fails' || verdict === 'advice'
  const name = isProblem ? html`<a href="#${id}">${title}</a>` : title
  const on = collection === '' ? '' : html` <code>${collection}</code>`
  const reason = why === '' ? '' : html` <em>${verdict}: ${why}</em>`
  return html`<li class="${className(verdict)}"><span class="dot"></span>${name}${on}${reason}</li>`
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
