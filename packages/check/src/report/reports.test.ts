import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { rules } from 'resourced-contract/spec/rules'
import { placementOf } from '../case/tiers.ts'
import { cases } from '../cases/cases.ts'
import { type CaseResult, type RuleResult, ruleResult } from '../run/check.ts'
import { causesOf } from './causes.ts'
import { htmlReport } from './html.ts'
import { compareReports, jsonReport, parseReport } from './json.ts'
import { junitReport } from './junit.ts'
import { markdownReport } from './markdown.ts'
import { sample } from './report.fixture.ts'
import { hasFailed } from './summary.ts'
import { textReport } from './text.ts'

const passed = {
  ...sample,
  rules: sample.rules.map((rule) => ({
    ...rule,
    verdict: 'holds' as const,
    cases: rule.cases.map((each) => ({ ...each, verdict: 'holds' as const, findings: [], exchanges: [] })),
  })),
}

const overview = { color: false, width: 100 }

test('a report has failed if a case fails that must hold; a strict one also if one fails that should hold', () => {
  assert.equal(hasFailed(sample), true)
  assert.equal(hasFailed(passed), false)
  const milder = sample.rules.filter(({ rule }) => rule.id !== 'CON-3')
  assert.equal(hasFailed({ rules: milder, strict: false }), false)
  assert.equal(hasFailed({ rules: milder, strict: true }), true)
})

test('text shows the score of each tier, then each cause with what depends on it, the worst first', () => {
  const text = textReport(sample, { color: false, width: 120 })
  assert.match(text, /✖ Safety {3}1 of 2 hold, 1 that must hold fails\n/)
  assert.match(text, /✔ Choices {2}follows 0 of 1 choices of this specification, 2 could not be tried\n/)
  assert.match(
    text,
    /\n {2}✖ CON-3\/stale-delete .*: 200 in place of 412 \(RFC 9110 13\.1\.1\), 1 blocked\n {2}! CON-4/,
  )
  assert.match(text, /Other choices .*\n {2}· MET-8\/minimal/)
  assert.match(text, /\n {2}\? POST was answered 500 \| <oops>: 1 case\n {2}· no collection can be searched: 1 case\n/)
  assert.match(text, /40 records were created, and 39 deleted again/)
  assert.match(text, /could not be deleted \(1\):\n {2}\/v1\/cities\/7/)
  assert.match(text, /--details CON-3\/stale-delete shows its requests/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
  assert.doesNotMatch(text, /\u001b/)
})

test('text fits two screens and its width, whatever fails', () => {
  const verdicts = ['fails', 'advice', 'not set up', 'not applicable', 'blocked'] as const
  const long = 'a sentence of a server that does not end '.repeat(20)
  const all = cases.map(({ id, title }, index): CaseResult => {
    const verdict = verdicts[index % 5] as (typeof verdicts)[number]
    const findings = [{ exchange: undefined, part: 'body', message: `${long}${id}` }] as const
    const { tier, section = '' } = placementOf({ id })
    const more = { level: 'must', mend: long, collection: '', exchanges: [], milliseconds: 1 } as const
    return { id, title, tier, section, verdict, why: `${long}${id}`, findings, ...more }
  })
  const remains = Array.from({ length: 50 }, (_, index) => `/v1/cities/${index}`)
  const report = { ...sample, rules: rules.map((rule) => ruleResult(rule, all)), remains }
  const lines = textReport(report, { color: false, width: 80 }).split('\n')
  assert.ok(lines.length <= 60, `${lines.length} lines`)
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  )
  const details = textReport(report, { color: false, width: 80, details: [all[0]?.id as string] }).trim()
  assert.ok(details.split('\n').length <= 40, details)
})

test('a cause is one line, however many cases show it', () => {
  const [first] = sample.rules.flatMap((rule) => rule.cases).filter(({ id }) => id === 'MET-8/minimal')
  const other = {
    ...(first as CaseResult),
    id: 'CON-1/says-read',
    tier: 'http',
    verdict: 'fails',
    level: 'must',
  } as const
  const report = { rules: [{ ...(sample.rules[0] as RuleResult), cases: [first as CaseResult, other] }] }
  const causes = causesOf(report).map(({ lead, cases: all }) => [lead.id, all.length])
  assert.deepEqual(causes, [['CON-1/says-read', 2]], 'the same header field, in different rules')
})

test('what may be otherwise is a failure in no format', () => {
  const report = { ...sample, rules: sample.rules.filter(({ rule }) => rule.id === 'MET-8') }
  const texts = [
    ...[undefined, ['all']].map((details) => textReport(report, { ...overview, details })),
    ...[jsonReport, junitReport, markdownReport, htmlReport].map((format) =>
      format(report).replace(/<style>[\s\S]*?<\/style>/, ''),
    ),
  ]
  for (const text of texts) {
    assert.ok(text.includes('MET-8'), text)
    assert.doesNotMatch(text, /✖ MET|<failure|"fails"|\*\*fails|### Fails/)
  }
})

test('details show the requests, the wrong line and how to correct it', () => {
  const text = textReport(sample, { ...overview, details: ['all'] })
  assert.match(
    text,
    /# ✖ the next response: 200 in place of 412\n {2}curl -i --path-as-is -g -X DELETE -H "Authorization: Bearer \$KEY" -H 'If-Match: "1"' '.*%27' {3}# 2 times/,
  )
  assert.match(text, /CON-3 \(must, Safety: RFC 9110, section 13\.1\.1\)/)
  assert.match(text, /stale: 200 in place of 412\n {2}> HTTP\/1\.1 200\n {4}Content-Type/)
  assert.match(text, / {2}> {5}"name": "<b>it's<\/b>"/)
  assert.match(text, / {2}> ETag: "2"/)
  const one = textReport(sample, { ...overview, details: ['CON-2', 'CON-4/not-modified'] })
  assert.match(one, /✔ CON-2\/etag/)
  assert.match(one, /! CON-4\/not-modified/)
  assert.doesNotMatch(one, /CON-3/)
})

test('texts of a server cannot move the cursor', () => {
  const [first, ...rest] = JSON.parse(JSON.stringify(sample).replaceAll('200 in place', '\\u001b[2J200 in place')).rules
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
  assert.doesNotMatch(textReport({ ...sample, rules: [first, ...rest] }, { color: true, width: 80 }), /\u001b\[2J/)
})

test('JUnit counts cases that fail and cases that were not observed', () => {
  const xml = junitReport(sample)
  assert.match(xml, /<testsuite name="CON Caching and conditions" tests="3" failures="1" skipped="0"/)
  assert.match(xml, /<failure type="must" message="200 in place of 412">/)
  assert.match(junitReport({ ...sample, strict: true }), / failures="2" [\s\S]*<failure type="should"/)
  assert.match(xml, /<skipped message="not set up: POST was answered 500 \| &lt;oops&gt;"\/>/)
  assert.doesNotMatch(xml, /<b>/)
})

test('texts of a server cannot break out of Markdown', () => {
  const text = markdownReport(sample)
  assert.match(text, /\| DEL-9 \|.*POST was answered 500 \\\| \\<oops\\> \|/)
  assert.match(text, /```http\n> HTTP\/1\.1 200/)
})

test('texts of a server are no markup in HTML, and its only script is the one that the page trusts', () => {
  const page = htmlReport(sample)
  assert.doesNotMatch(page, /<b>it|<oops>/)
  assert.match(page, /<mark>HTTP\/1\.1 200<\/mark>/)
  assert.match(page, /id="CON-3\/stale-delete"/)
  const [script = '', ...others] = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => text)
  assert.deepEqual(others, [])
  assert.ok(page.includes(`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`))
  assert.doesNotMatch(page, /<script[^>]|src=|@import|url\(|https?:\/\/(?!api\.example\.com)/)
  assert.match(page, /CON-3\/stale-delete"[^>]* data-tier="safety" data-verdict="fails"/)
})

test('every format shows leftovers, and none counts them as a failure', () => {
  const texts = [
    textReport(sample, { color: false, width: 100 }),
    ...[jsonReport, junitReport, markdownReport, htmlReport].map((report) => report(sample)),
  ]
  for (const text of texts) for (const path of ['/v1/cities/7', '/v1/jobs/3']) assert.ok(text.includes(path), text)
  for (const text of texts.filter((_, index) => index !== 1)) {
    assert.match(text, /cities: 2 records more than before \(4, now 6\); .*probably the check(?:'|&#39;)s: 1/)
    assert.match(text, /roads: 1 record fewer than before \(9, now 8\); changed by others/)
  }
  assert.deepEqual(JSON.parse(texts[1] as string).differences, sample.differences)
  assert.equal(hasFailed({ ...sample, rules: [] }), false)
})

test('reports are compared case by case', () => {
  const before = parseReport(jsonReport(passed))
  assert.match(
    compareReports(before, sample),
    /^Worse \(3\)\n {2}MET-8.*\n {2}CON-3\/stale-delete .*: holds → fails\n/m,
  )
  assert.match(compareReports(parseReport(jsonReport(sample)), passed), /^Better \(6\)/m)
  assert.equal(compareReports(parseReport(jsonReport(sample)), sample), 'Nothing has changed.\n')
  assert.throws(() => parseReport('{"rules":7}'), /no report/)
})
