/** Checks the declared names of relations, `as` and `inverse` (REL-1). */
import { nameRelations, type ReferenceSource, type RelationSource } from '../relations.ts'
import type { FieldView, ResourceView, ResourceViews } from './parts.ts'

/** Reports the names that mean something else already, and relations that would show a value that no one may see. */
export function checkRelations(resources: ResourceViews): void {
  const sources = [...resources.values()].map(sourceOf)
  for (const source of sources) {
    for (const { to, name, collection, field } of nameRelations(source, sources).clashes) {
      const [word, holder] = to === 'one' ? (['as', source.name] as const) : (['inverse', collection] as const)
      const message = `is taken in ${source.name}, by a field, another relation or a word of conditions: ${name}`
      resources.get(holder)?.fields.get(field)?.part.key(word).report(message, 'Choose another name.')
    }
  }
  for (const { fields } of resources.values()) for (const field of fields.values()) checkSecret(field)
}

function checkSecret({ part, writeOnly }: FieldView): void {
  if (!writeOnly) return
  for (const word of [part.key('as'), part.key('inverse')]) {
    if (!word.isAbsent) word.report('would show the value of a field that is writeOnly', 'Remove one of the two.')
  }
}

/** What the relations of a resource come from. */
export function sourceOf({ name, fields }: ResourceView): RelationSource {
  const references = [...fields.values()].flatMap(({ name: field, declared, writeOnly }): ReferenceSource[] => {
    const [collection, as, inverse] = [declared['reference'], declared['as'], declared['inverse']].map(textOf)
    return collection === undefined || writeOnly ? [] : [{ field, collection, as, inverse }]
  })
  return { name, fields: new Set(fields.keys()), references }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
