/** The report as an HTML page that loads nothing. Its only script filters what the page shows. */
import { createHash } from 'node:crypto'
import { type Tier, tiers } from '../case/tiers.ts'
import type { CaseResult, Report, RuleResult } from '../run/check.ts'
import { type Cause, causeGroups, type Gap, gapsOf } from './causes.ts'
import {
  type Evidence,
  isObserved,
  isProblem,
  leftoversOf,
  problemOf,
  type Score,
  scoresOf,
  sectionsOf,
  tierTitles,
} from './summary.ts'

/** Markup. All other values are escaped. */
class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export function htmlReport(report: Report): string {
  const { base, date, requests, seconds, stopped, seed } = report
  const end = stopped ? '; stopped before its end' : ''
  const leftovers = leftoversOf(report)
  const rulesById = new Map<string, RuleResult['rule']>(report.rules.map(({ rule }) => [rule.id, rule]))
  const ruleOf = ({ id }: CaseResult) => rulesById.get(id.slice(0, id.indexOf('/'))) as RuleResult['rule']
  const groups = causeGroups(report)
  const gaps = gapsOf(report)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${base}: report of resourced check</title>
<style>${new Html(style)}</style>
</head>
<body>
<header>
<h1>${base}</h1>
<p class="when">
<time datetime="${date}">${date.slice(0, 16).replace('T', ' ')} UTC</time>,
${requests} requests in ${seconds} s, seed ${seed}${end}
</p>
${scoresOf(report).map(scoreRow)}
<form class="filters" role="search" hidden>
<label>Search <input type="search" id="text" placeholder="ETag, CON-3, 405 …"></label>
<label>Tier <select id="tier"><option value="">all</option>${tiers.map(tierOption)}</select></label>
<label>Verdict <select id="verdict"><option value="">all</option>${verdictOptions}</select></label>
<output id="shown"></output>
</form>
</header>
<main>
${groups.every(({ causes }) => causes.length === 0) ? html`<p class="fine">No problem was found.</p>` : ''}
${groups.map(({ title, causes: all }) =>
  all.length === 0 ? '' : html`<section><h2>${title}</h2>${all.map((each) => causeRow(each, ruleOf))}</section>`,
)}
${gaps.length === 0 ? '' : html`<section><h2>What could not be found out</h2>${gaps.map(gapRow)}</section>`}
${leftovers.length === 0 ? '' : html`<h2>Leftovers</h2>`}
${leftovers.map(
  ({ message, paths }) => html`<p>${message}</p><ul>${paths.map((path) => html`<li><code>${path}</code></li>`)}</ul>`,
)}
<h2>All rules</h2>
${sectionsOf(report).map(({ title, rules }) => html`<section><h3>${title}</h3>${rules.map(ruleRow)}</section>`)}
</main>
<script>${new Html(script)}</script>
</body>
</html>
`.text
}

const verdictOptions = (['fails', 'advice', 'holds', 'blocked', 'not set up', 'not applicable'] as const).map(
  (verdict) => html`<option>${verdict}</option>`,
)

function tierOption(tier: Tier): Html {
  return html`<option value="${tier}">${tierTitles[tier]}</option>`
}

function scoreRow({ title, text, counts, failures }: Score): Html {
  const { fails, ...others } = counts
  const parts = Object.entries({ fails: failures, warns: fails - failures, ...others })
    .filter(([verdict, count]) => count > 0 && verdict !== 'not applicable' && verdict !== 'not asked')
    .map(([verdict, count]) => html`<span class="${className(verdict)}" style="flex-grow:${count}"></span>`)
  return html`<div class="score">
<b>${title}</b><div class="bar" aria-hidden="true">${parts}</div><span>${text}</span>
</div>
`
}

/** What the script finds a case by. */
function searchable({ id, title, tier, verdict, findings, why }: CaseResult): Html {
  const text = [id, title, ...findings.map(({ message }) => message), why].join(' ').toLowerCase()
  return html` data-text="${text}" data-tier="${tier}" data-verdict="${verdict}"`
}

function causeRow({ lead, cases, blocked }: Cause, ruleOf: (found: CaseResult) => RuleResult['rule']): Html {
  const [found] = lead.findings
  const counts = [
    ...(cases.length === 1 ? [] : [`${cases.length} cases`]),
    ...(blocked.length === 0 ? [] : [`${blocked.length} blocked`]),
  ]
  const count = counts.length === 0 ? '' : html` <span class="count">${counts.join(', ')}</span>`
  return html`<details class="cause ${toneOf(lead)}"><summary>
<span class="badge">${lead.level}</span> <b>${lead.title}</b>: ${found?.message}
<span class="level">${lead.section || tierTitles[lead.tier]}</span>${count}</summary>
${cases.map((each) => card(ruleOf(each), each))}
${blocked.length === 0 ? '' : html`<p>Blocked by it:</p><ul>${blocked.map(caseRow)}</ul>`}
</details>`
}

function gapRow({ why, verdict, cases, blocked }: Gap): Html {
  const count = `${cases.length} ${cases.length === 1 ? 'case' : 'cases'}`
  return html`<details class="cause ${className(verdict)}"><summary><span class="badge">${verdict}</span> ${why}
<span class="count">${count}${blocked.length === 0 ? '' : `, ${blocked.length} blocked`}</span></summary>
<ul>${[...cases, ...blocked].map(caseRow)}</ul></details>`
}

function card(rule: RuleResult['rule'], result: CaseResult): Html {
  const { source, commands, findings } = problemOf(rule, result)
  return html`<article class="${toneOf(result)}" id="${result.id}"${searchable(result)}>
<h3><span class="badge">${result.level}</span> ${result.title}</h3>
<p class="rule"><b>${result.id}</b> ${rule.sentence} <i>(${source})</i></p>
<pre class="asked">${commands.map(commandLine)}</pre>
${findings.map(evidence)}
<p class="mend"><b>To correct it:</b> ${result.mend}</p>
</article>`
}

function commandLine(text: string): Html {
  return text.startsWith('#') ? html`<mark>${text}</mark>\n` : html`${text}\n`
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
  if (cases.length === 0) return html`<div class="row ${toneOfRule(result)}">${head}</div>`
  const rows = html`<ul>${cases.map(caseRow)}</ul>`
  return html`<details class="${toneOfRule(result)}"><summary class="row">${head}</summary>${rows}</details>`
}

function caseRow(result: CaseResult): Html {
  const { id, title, verdict, why, collection } = result
  const name = isProblem(result) ? html`<a href="#${id}">${title}</a>` : title
  const on = collection === '' ? '' : html` <code>${collection}</code>`
  const reason = why === '' ? '' : html` <em>${verdict}: ${why}</em>`
  const text = html`<span class="dot"></span>${name}${on}${reason}`
  return html`<li class="${toneOf(result)}"${searchable(result)}>${text}</li>`
}

/** The class of a result: what should hold is told from what must. */
function toneOf(result: CaseResult): string {
  return result.verdict === 'fails' && result.level !== 'must' ? 'warns' : className(result.verdict)
}

/** The class of a rule: that of its worst case. */
function toneOfRule({ verdict, cases }: RuleResult): string {
  const failed = cases.filter((each) => each.verdict === 'fails')
  return failed.length > 0 && failed.every(({ level }) => level !== 'must') ? 'warns' : className(verdict)
}

function className(verdict: string): string {
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

/** Hides what the filters do not match, and opens the card that a link leads to. */
const script = `
const form = document.querySelector('.filters')
const [text, tier, verdict, shown] = ['text', 'tier', 'verdict', 'shown'].map((id) => document.getElementById(id))
const entries = [...document.querySelectorAll('[data-text]')]
const groups = [...document.querySelectorAll('main details, main section')].reverse()
function filter() {
  const words = text.value.toLowerCase().split(/\\s+/)
  for (const entry of entries) {
    const { text: own, tier: ownTier, verdict: ownVerdict } = entry.dataset
    entry.hidden = !words.every((word) => own.includes(word)) ||
      (tier.value !== '' && tier.value !== ownTier) || (verdict.value !== '' && verdict.value !== ownVerdict)
  }
  const isFiltered = text.value + tier.value + verdict.value !== ''
  for (const group of groups) group.hidden = isFiltered && !group.querySelector('[data-text]:not([hidden])')
  const listed = entries.filter(({ hidden, localName }) => !hidden && localName === 'li')
  const cases = new Set(listed.map(({ dataset }) => dataset.text))
  shown.textContent = isFiltered ? cases.size + ' cases' : ''
}
function open() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  const around = target && target.closest('details')
  if (around) around.open = true, target.scrollIntoView()
}
form.hidden = false
form.addEventListener('input', filter)
form.addEventListener('submit', (event) => event.preventDefault())
addEventListener('hashchange', open)
open()
`

const digest = createHash('sha256').update(script).digest('base64')
const policy = new Html(`default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${digest}'`)

/** The style sheet of the HTML report, for light and dark screens. */
const style = `
:root { color-scheme: light dark; --ink: #1c2024; --dim: #5f6871; --line: #dfe3e8; --paper: #fff; --soft: #f5f7f9;
  --good: #1f8a4c; --bad: #c9302c; --think: #a8690c; --note: #4f7396;
  --stuck: #8250a8; --none: #b4bcc5; --mark: #ffe3e1 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --dim: #9aa4ae; --line: #333a42; --paper: #15181b;
  --soft: #1e2327;
  --good: #3fb66d; --bad: #f0625d; --think: #e0a83e; --note: #8fb0cf;
  --stuck: #b68ad8; --none: #4d565f; --mark: #5a2422 } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
header, main { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem }
header { padding-top: 2.5rem }
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere }
h2 { font-size: 1.25rem; margin: 2.5rem 0 1rem }
h3 { font-size: 1rem; margin: 0 0 .5rem }
.when, .rule i, em { color: var(--dim) }
.when { margin: .25rem 0 1.25rem }
.score { display: grid; grid-template-columns: 5rem 8rem 1fr; gap: .75rem; align-items: baseline; padding: .15rem 0 }
.bar { display: flex; gap: 2px; height: .75rem; border-radius: .375rem; overflow: hidden }
.bar span { background: var(--tone) }
.filters { display: flex; flex-wrap: wrap; gap: 1rem; align-items: center; margin: 1.25rem 0 0 }
.filters[hidden] { display: none }
.filters label { color: var(--dim) }
input, select { font: inherit; color: var(--ink); background: var(--paper); border: 1px solid var(--line);
  border-radius: .25rem; padding: .2rem .4rem }
.cause { border: 1px solid var(--line); border-left: .25rem solid var(--tone); border-radius: .375rem;
  margin: 0 0 .5rem; padding: .4rem .9rem }
.cause > summary { padding: .15rem 0; overflow-wrap: anywhere }
.cause[open] > summary { margin: 0 0 .75rem }
.count { font-weight: 600; white-space: nowrap }
.holds { --tone: var(--good) } .fails { --tone: var(--bad) } 
.warns { --tone: var(--think) } .advice { --tone: var(--note) }
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
.cause ul { padding-left: .25rem }
details ul { list-style: none; margin: 0 0 .75rem; padding: 0 0 0 5.5rem; font-size: .92rem }
details li { padding: .15rem 0 }
@media (max-width: 40rem) { .row { grid-template-columns: 1.25rem 4.25rem 1fr } .level { display: none } details ul {
  padding-left: 1.25rem } .score { grid-template-columns: 5rem 1fr } .score span { grid-column: 1 / -1 } }
@media print { details > ul { display: block } }
`
