/** Checks kept summaries: their groups and the fields that they add up (SUM-3). */
import { summaryLimits } from '../../spec/limits.ts'
import { snakeCaseForm } from '../names.ts'
import { suggest } from '../nearest.ts'
import { dateParts } from '../periods.ts'
import { type FieldView, type Part, type ResourceView, show } from './parts.ts'

export function checkSummaries(resource: ResourceView): void {
  for (const [name, summary] of resource.part.key('summaries').entries()) {
    if (!snakeCaseForm.test(name)) summary.reportKey('must be a name in snake_case', 'Write a name such as by_status.')
    const group = summary.key('group')
    if (group.items().length > summaryLimits.groups)
      group.report(`has more than ${summaryLimits.groups} groups`, 'Declare several summaries.')
    checkNames(group.items(), groupNames(resource), `is not a group of ${resource.name}`)
    checkNames(summary.key('sum').items(), summedNames(resource), `is not an integer or decimal of ${resource.name}`)
  }
}

function checkNames(parts: readonly Part[], known: readonly string[], what: string): void {
  const fields = new Set<string>()
  for (const part of parts) {
    const [field = ''] = part.text.split(':')
    if (!known.includes(part.text)) {
      const period = known.find((name) => name === `${part.text}:month`)
      const remedy = period === undefined ? suggest(part.text, known) : `Name a period: "${period}".`
      part.report(`${what}: ${show(part.value)}`, remedy)
    } else if (fields.has(field)) {
      part.report(`names ${field} again`, 'Keep the shortest period: the longer ones follow from it.')
    }
    fields.add(field)
  }
}

function groupNames({ fields }: ResourceView): string[] {
  const parts = Object.keys(dateParts)
  const ofDate = (name: string) => parts.map((part) => `${name}:${part}`)
  return [
    ...[...fields.values()].flatMap((field) => groupsOfField(field, ofDate)),
    ...ofDate('created_at'),
    ...ofDate('updated_at'),
  ]
}

function groupsOfField({ name, declared, shape, writeOnly }: FieldView, ofDate: (name: string) => string[]): string[] {
  if (writeOnly) return []
  if (shape.type === 'boolean' || shape.enum !== undefined || declared['reference'] !== undefined) return [name]
  return shape.type === 'string' && (shape.format === 'date' || shape.format === 'date-time') ? ofDate(name) : []
}

function summedNames({ fields }: ResourceView): string[] {
  return [...fields.values()].flatMap(({ name, shape, writeOnly }) =>
    !writeOnly && (shape.type === 'integer' || shape.type === 'decimal') ? [name] : [],
  )
}
