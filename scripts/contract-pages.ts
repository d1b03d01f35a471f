/** Generates the reference pages of the rules and of the error codes. */
import type { FaultEntry } from 'resourced-contract/spec/failure-entries'
import { faults } from 'resourced-contract/spec/fault-entries'
import { type FaultCode, issueCodes } from 'resourced-contract/spec/faults'
import { ruleSections, rules } from 'resourced-contract/spec/rules'
import type { Rule } from 'resourced-contract/spec/rules/rule'

const generated = (source: string) => `<!-- Generated from ${source} by \`npm run docs\`; change it there. -->`

/** `docs/reference/rules.md`: every rule of the interface. */
export function rulesPage(): string {
  const sections = ruleSections.map(({ prefix, title }) => {
    const rows = rules.filter(({ section }) => section === prefix).map(ruleRow)
    return `## ${prefix}: ${title}

| rule | level | promise |
|---|---|---|
${rows.join('\n')}
`
  })
  return `${generated('packages/contract/src/spec/rules/')}

# Rules of the HTTP interface

For client authors, and for everyone who cites or tests a rule. After looking a rule up you know what holds, and how
binding the rule is for other servers. [The HTTP interface](http-interface.md) explains the same with examples.

A rule number is permanent: tests, error codes, the [checker](checker.md) and commits cite it. Tests in
\`test/scenarios/\` prove each rule.

The level is *must* if the specification of resource-oriented interfaces demands the rule, and *should* if the
specification leaves the point open and this is our decision. It is *may* if the rule goes beyond the specification, and
*may (specification)* if the specification calls the rule optional.

${sections.join('\n')}`
}

function ruleRow({ id, level, mark, sentence }: Rule): string {
  const source = level === 'may' && mark === 'specification' ? ' (specification)' : ''
  return `| <a id="${id.toLowerCase()}"></a>${id} | ${level}${source} | ${cell(sentence)} |`
}

/** `docs/reference/error-codes.md`: every error code with its status, its meaning, and what to do. */
export function errorCodesPage(): string {
  const entries = Object.entries(faults) as [FaultCode, FaultEntry][]
  const byStatus = entries.toSorted(([, left], [, right]) => left.status - right.status)
  const details = byStatus.map(
    ([code, { status, rule, meaning, remedy }]) => `### ${code}

**${status}** · [${rule}](rules.md#${rule.toLowerCase()})

${meaning} **What to do:** ${remedy}
`,
  )
  const issues = Object.entries(issueCodes).map(([code, meaning]) => `| ${code} | ${cell(meaning)} |`)
  return `${generated('packages/contract/src/spec/fault-entries.ts and faults.ts beside it')}

# Error codes

For client authors. After looking a code up you know what it means and what to do about it.

Every error response is \`application/problem+json\` (RFC 9457). Programs branch on \`code\`, which is stable. \`title\`
and \`detail\` are for people and may change. \`request_id\` identifies the request in the server's log.
[Errors](http-interface.md#errors) has an example with all members.

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
