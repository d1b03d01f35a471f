import assert from 'node:assert/strict'
import { test } from 'node:test'
import { htmlReport } from './html.ts'
import { compareReports, jsonReport } from './json.ts'
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

test('a report has failed if a rule that must hold fails, not if one that should hold does', () => {
  assert.equal(hasFailed(sample), true)
  assert.equal(hasFailed(passed), false)
  const milder = sample.rules.filter(({ rule }) => rule.id !== 'CON-3')
  assert.equal(hasFailed({ rules: milder }), false)
})

test('text shows each problem with its command, the wrong line and how to correct it; rules that must hold come first', () => {
  const text = textReport(sample, { color: false, width: 100 })
  assert.match(text, /✖ CON-3 {2}must {3}0\/1/)
  assert.match(
    text,
    /curl -i --path-as-is -g -X DELETE -H "Authorization: Bearer \$KEY" -H 'If-Match: "1"' '.*%27' {3}# 2 times/,
  )
  assert.match(text, /stale: 200 in place of 412\n {2}> HTTP\/1\.1 200\n {4}Content-Type/)
  assert.match(text, / {2}> {5}"name": "<b>it's<\/b>"/)
  assert.match(text, / {2}> ETag: "2"/)
  assert.ok(text.indexOf('CON-3/stale-delete') < text.indexOf('CON-4/not-modified'))
  assert.match(text, /OPS-2.*not applicable: Only someone with access to the machine can send SIGTERM/)
  assert.match(text, /40 records were created, and 39 deleted again/)
  assert.match(text, /could not be deleted \(1\):\n {2}\/v1\/cities\/7/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
  assert.doesNotMatch(text, /\u001b/)
  for (const line of textReport(passed, { color: false, width: 100 }).split('\n')) assert.ok(line.length <= 100, line)
})

test('texts of a server cannot move the cursor', () => {
  const [first, ...rest] = JSON.parse(JSON.stringify(sample).replaceAll('200 in place', '\\u001b[2J200 in place')).rules
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
  assert.doesNotMatch(textReport({ ...sample, rules: [first, ...rest] }, { color: true, width: 80 }), /\u001b\[2J/)
})

test('JUnit counts cases that fail and cases that were not observed', () => {
  const xml = junitReport(sample)
  assert.match(xml, /<testsuite name="CON Caching and conditions" tests="3" failures="2" skipped="0"/)
  assert.match(xml, /<failure type="must" message="200 in place of 412">/)
  assert.match(xml, /<skipped message="not set up: POST was answered 500 \| &lt;oops&gt;"\/>/)
  assert.doesNotMatch(xml, /<b>/)
})

test('texts of a server cannot break out of Markdown', () => {
  const text = markdownReport(sample)
  assert.match(text, /\| DEL-9 \|.*POST was answered 500 \\\| \\<oops\\> \|/)
  assert.match(text, /```http\n> HTTP\/1\.1 200/)
})

test('texts of a server are no markup in HTML', () => {
  const page = htmlReport(sample)
  assert.doesNotMatch(page, /<b>it|<oops>/)
  assert.match(page, /<mark>HTTP\/1\.1 200<\/mark>/)
  assert.match(page, /id="CON-3\/stale-delete"/)
  assert.doesNotMatch(page, /<script|src=|@import|url\(/)
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
  const before = JSON.parse(jsonReport(passed))
  assert.match(
    compareReports(before, sample),
    /^Worse \(3\)\n {2}MET-8.*\n {2}CON-3\/stale-delete .*: holds → fails\n/m,
  )
  assert.match(compareReports(JSON.parse(jsonReport(sample)), passed), /^Better \(6\)/m)
  assert.equal(compareReports(JSON.parse(jsonReport(sample)), sample), 'Nothing has changed.\n')
  assert.throws(() => compareReports({ rules: 7 }, sample), /no report/)
})
