/** Generates the reference pages of the rules and of the error codes. */
import { type FaultEntry, faults } from '../spec/fault-entries.ts'
import { type FaultCode, issueCodes, problemType } from '../spec/faults.ts'
import type { Rule } from '../spec/rules/rule.ts'
import { ruleSections, rules } from '../spec/rules.ts'

const generated = (source: string) => `<!-- Generated from ${source} by \`npm run docs\`; change it there. -->`

/** `docs/interface.md`: every rule of the interface. */
export function interfacePage(): string {
  const sections = ruleSections.map(({ prefix, title }) => {
    const rows = rules.filter(({ section }) => section === prefix).map(ruleRow)
    return `## ${prefix}: ${title}

| rule | | from | release | what holds |
|---|---|---|---|---|
${rows.join('\n')}
`
  })
  return `${generated('src/spec/rules/')}

# The interface

This page lists every rule that clients can rely on. A rule number is permanent: scenarios, error messages and commits
cite it.

- **must**: the specification of resource-oriented interfaces demands the rule. **should**: the specification leaves the
  point open; this is our decision. **may**: the rule is optional in the specification, or goes beyond it.
- **held**: this release keeps the rule, and scenarios in \`test/\` test it. **planned**: a later release will.

${sections.join('\n')}`
}

function ruleRow({ id, level, mark, isPlanned, sentence }: Rule): string {
  const release = isPlanned ? 'planned' : 'held'
  return `| <a id="${id.toLowerCase()}"></a>${id} | ${level} | ${mark} | ${release} | ${cell(sentence)} |`
}

/** `docs/errors.md`: every error code with its status, its meaning, and what to do. */
export function errorsPage(): string {
  const entries = Object.entries(faults) as [FaultCode, FaultEntry][]
  const byStatus = entries.toSorted(([, left], [, right]) => left.status - right.status)
  const details = byStatus.map(
    ([code, { status, title, rule, meaning, remedy }]) => `### ${code}

**${status}** · ${title} · rule ${rule}

${meaning} **What to do:** ${remedy}
`,
  )
  const issues = Object.entries(issueCodes).map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`)
  return `${generated('src/spec/fault-entries.ts and src/spec/faults.ts')}

# Errors

Every error is \`application/problem+json\` (RFC 9457). Programs should branch on \`code\`, which is stable; \`title\`
and \`detail\` are for people. \`request_id\` identifies the request in the server's log.

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
  ]
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
