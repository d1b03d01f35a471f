/** The report as an HTML page that loads nothing and runs no script. */
import type { CaseResult, Report, RuleResult, Verdict } from '../run/check.ts'
import {
  countsOf,
  type Evidence,
  isObserved,
  leftoversOf,
  type Problem,
  problemsOf,
  sectionsOf,
  summaryLine,
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
  const parts = countsOf(report).map(
    ([verdict, count]) =>
      html`<span class="${className(verdict)}" style="flex-grow:${count}" title="${count} ${verdict}"></span>`,
  )
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

/** The style sheet of the HTML report, for light and dark screens. */
const style = `
:root { color-scheme: light dark; --ink: #1c2024; --dim: #5f6871; --line: #dfe3e8; --paper: #fff; --soft: #f5f7f9;
  --good: #1f8a4c; --bad: #c9302c; --think: #b7791f; --stuck: #8250a8; --none: #b4bcc5; --mark: #ffe3e1 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --dim: #9aa4ae; --line: #333a42; --paper: #15181b;
  --soft: #1e2327;
  --good: #3fb66d; --bad: #f0625d; --think: #e0a83e; --stuck: #b68ad8; --none: #4d565f; --mark: #5a2422 } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
header, main { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem }
header { padding-top: 2.5rem }
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.25rem; margin: 2.5rem 0 1rem }
h3 { font-size: 1rem; margin: 0 0 .5rem }
.when, .rule i, em { color: var(--dim) }
.when { margin: .25rem 0 1.25rem }
.bar { display: flex; gap: 2px; height: .75rem; border-radius: .375rem; overflow: hidden }
.bar span { background: var(--tone) }
.summary { font-weight: 600; margin: .75rem 0 0 }
.holds { --tone: var(--good) } .fails { --tone: var(--bad) } .advice { --tone: var(--think) }
.blocked, .not-set-up { --tone: var(--stuck) } .not-applicable, .not-asked { --tone: var(--none) }
article { border: 1px solid var(--line); border-left: .25rem solid var(--tone); border-radius: .375rem;
  padding: 1rem 1.25rem; margin: 0 0 1.25rem }
article h3 { font-size: 1.05rem }
.badge { background: var(--tone); color: var(--paper); border-radius: .75rem; padding: .05rem .6rem;
  font-size: .8rem; vertical-align: .1em }
.rule { margin: 0 0 .75rem; color: var(--dim) }
.rule b { color: var(--ink) }
pre { background: var(--soft); border-radius: .375rem; padding: .75rem 1rem; overflow-x: auto;
  font: .82rem/1.5 ui-monospace, monospace; margin: .5rem 0 1rem }
pre.asked { border: 1px solid var(--line); background: none; white-space: pre-wrap; overflow-wrap: anywhere }
mark { background: var(--mark); color: inherit; display: inline-block; min-width: calc(100% + 2rem); margin: 0 -1rem;
  padding: 0 1rem }
code { font: .88em ui-monospace, monospace; color: var(--dim) }
.finding { font-weight: 600; margin: .5rem 0 0 }
.finding code { background: var(--soft); border-radius: .25rem; padding: .1rem .4rem }
.mend { margin: 0 }
.fine { font-size: 1.1rem; color: var(--good) }
section { margin: 0 0 1.75rem }
.row { display: grid; grid-template-columns: 1.25rem 4.25rem 4rem 1fr; align-items: baseline; padding: .35rem 0;
  border-top: 1px solid var(--line) }
summary { cursor: pointer; list-style: none }
summary::-webkit-details-marker { display: none }
summary:hover .sentence { text-decoration: underline; text-decoration-color: var(--line) }
summary:focus-visible { outline: 2px solid var(--tone); outline-offset: 2px }
.dot { display: inline-block; width: .6rem; height: .6rem; border-radius: 50%; background: var(--tone);
  margin-right: .6rem }
.level { color: var(--dim) }
.sentence em { display: block }
details ul { list-style: none; margin: 0 0 .75rem; padding: 0 0 0 5.5rem; font-size: .92rem }
details li { padding: .15rem 0 }
@media (max-width: 40rem) { .row { grid-template-columns: 1.25rem 4.25rem 1fr } .level { display: none } details ul {
  padding-left: 1.25rem } }
@media print { details > ul { display: block } }
`
