/** The style sheet of the HTML report, for light and dark screens. */
export const style = `
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
