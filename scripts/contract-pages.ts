/** Generates the reference pages of the rules and of the error codes. */
import type { FaultEntry } from 'resourced-contract/spec/failure-entries'
import { faults } from 'resourced-contract/spec/fault-entries'
import { type FaultCode, issueCodes, problemType } from 'resourced-contract/spec/faults'
import { ruleSections, rules } from 'resourced-contract/spec/rules'
import type { Rule } from 'resourced-contract/spec/rules/rule'

const generated = (source: string) => `<!-- Generated from ${source} by \`npm run docs\`; change it there. -->`

/** `docs/reference/rules.md`: every rule of the interface. */
export function rulesPage(): string {
  const sections = ruleSections.map(({ prefix, title }) => {
    const rows = rules.filter(({ section }) => section === prefix).map(ruleRow)
    return `## ${prefix}: ${title}

| rule | level | source | state | promise |
|---|---|---|---|---|
${rows.join('\n')}
`
  })
  return `${generated('packages/contract/src/spec/rules/')}

# Rules of the HTTP interface

For client authors, and for everyone who cites or tests a rule. After looking a rule up you know what holds, and how
binding the rule is for other servers. [The HTTP interface](http-interface.md) explains the same with examples.

A rule number is permanent: tests, error codes, the [checker](checker.md) and commits cite it. \`AUT-8\` on another page
links here as \`rules.md#aut-8\`.

- **level**: *must*, the specification of resource-oriented interfaces demands the rule; *should*, the specification
  leaves the point open, and this is our decision; *may*, the rule is optional in the specification or goes beyond it.
- **source**: the *specification*, our *decision*, or *beyond* the specification.
- **state**: *held*, this release keeps the rule, and tests in \`test/scenarios/\` prove it; *planned*, a later one
  will.

${sections.join('\n')}`
}

function ruleRow({ id, level, mark, isPlanned, sentence }: Rule): string {
  const release = isPlanned ? 'planned' : 'held'
  return `| <a id="${id.toLowerCase()}"></a>${id} | ${level} | ${mark} | ${release} | ${cell(sentence)} |`
}

/** `docs/reference/error-codes.md`: every error code with its status, its meaning, and what to do. */
export function errorCodesPage(): string {
  const entries = Object.entries(faults) as [FaultCode, FaultEntry][]
  const byStatus = entries.toSorted(([, left], [, right]) => left.status - right.status)
  const details = byStatus.map(
    ([code, { status, title, rule, meaning, remedy }]) => `### ${code}

**${status}** · ${title} · rule [${rule}](rules.md#${rule.toLowerCase()})

${meaning} **What to do:** ${remedy}
`,
  )
  const issues = Object.entries(issueCodes).map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`)
  return `${generated('packages/contract/src/spec/fault-entries.ts and faults.ts beside it')}

# Error codes

For client authors. After looking a code up you know what it means and what to do about it.

Every error response is \`application/problem+json\` (RFC 9457). Programs branch on \`code\`, which is stable. \`title\`
and \`detail\` are for people and may change. \`request_id\` identifies the request in the server's log.
[Errors](http-interface.md#errors) describes the other members.

\`\`\`json
{
  "type": "${problemType('VALIDATION_FAILED')}",
  "title": "The record is not valid",
  "status": 400,
  "detail": "2 things are wrong; errors lists them all.",
  "instance": "/v1/tasks",
  "code": "VALIDATION_FAILED",
  "request_id": "0199d2c4-7b0e-7c3a-9f6e-2f1f6a3b5c11",
  "errors": [
    { "code": "REQUIRED", "message": "title is required.", "pointer": "/title" },
    { "code": "NOT_IN_ENUM", "message": "status must be open, doing or done.", "pointer": "/status" }
  ],
  "error_count": 2
}
\`\`\`

## Codes of responses

${details.join('\n')}
## Codes inside \`errors\`

Each error has a place: \`pointer\` into the body (JSON Pointer), \`parameter\` of the query, or \`header\`. Declared
business rules add codes of their own.

| code | meaning |
|---|---|
${issues.join('\n')}
`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
