/** The pages of `docs/` that are made from the contract: the rules, and the error codes. */
import { type FaultCode, type FaultEntry, faults, issueCodes } from '../spec/faults.ts'
import type { Rule } from '../spec/rules/rule.ts'
import { ruleSections, rules } from '../spec/rules.ts'

const generated = (source: string) => `<!-- Made from ${source} by \`npm run docs\`; change it there. -->`

/** `docs/interface.md`: every rule of the interface, as Markdown. */
export function interfacePage(): string {
  const sections = ruleSections.map(
    (section) => `## ${section.prefix}: ${section.title}

| rule | | from | release | what holds |
|---|---|---|---|---|
${rules
  .filter((rule) => rule.section === section.prefix)
  .map(ruleRow)
  .join('\n')}
`,
  )
  return `${generated('src/spec/rules/')}

# The interface

Every rule that a client can rely on, by number. A number is permanent: scenarios, error messages and commits cite it.

- **must**: the specification of resource-oriented interfaces demands it. **should**: it leaves the point open, and this is
  our decision. **may**: it is optional there, or goes beyond it.
- **held**: this release keeps the rule, and scenarios in \`test/\` show it. **planned**: not yet.

${sections.join('\n')}`
}

function ruleRow({ id, level, mark, isPlanned, sentence }: Rule): string {
  const release = isPlanned ? 'planned' : 'held'
  return `| <a id="${id.toLowerCase()}"></a>${id} | ${level} | ${mark} | ${release} | ${cell(sentence)} |`
}

/** `docs/errors.md`: every code with its status, its meaning, and what to do, as Markdown. */
export function errorsPage(): string {
  const entries = Object.entries(faults) as [FaultCode, FaultEntry][]
  const byStatus = entries.toSorted(([, left], [, right]) => left.status - right.status)
  const details = byStatus.map(([code, entry]) => {
    return `### ${code}

**${entry.status}** · ${entry.title} · rule ${entry.rule}

${entry.meaning} **What to do:** ${entry.remedy}
`
  })
  const issues = Object.entries(issueCodes).map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`)
  return `${generated('src/spec/faults/ and src/spec/faults.ts')}

# Errors

Every error is \`application/problem+json\` (RFC 9457). \`code\` is stable, and is what a program should look at; \`title\` and
\`detail\` are for people. \`request_id\` finds the request in the log of the server.

\`\`\`json
{
  "type": "urn:resourced:problem:VALIDATION_FAILED",
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

## Codes of a whole answer

${details.join('\n')}
## Codes inside \`errors\`

Each error says its place: \`pointer\` into the body (JSON Pointer), \`parameter\` of the query, or \`header\`. Business rules
add the codes that they declare.

| code | meaning |
|---|---|
${issues.join('\n')}
`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
