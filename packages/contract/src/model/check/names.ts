/** Checks names: of the interface, of collections (RES-1, RES-3), of fields (RES-7) and of relations (REL-1). */
import { hyphenedForm, longestName, reservedCollections, reservedFields, snakeCaseForm } from '../names.ts'
import { isSingular, pluralOf } from '../plural.ts'
import { nameRelations, sourceOf } from '../relations.ts'
import { systemFields } from '../resource.ts'
import type { FieldView, Part, ResourceViews } from './parts.ts'

/** Checks the interface's name, which is a part of media types. */
export function checkInterfaceName(part: Part): void {
  const { value } = part
  if (typeof value === 'string' && hyphenedForm.test(value) && value.length <= longestName) return
  const remedy =
    typeof value === 'string' ? `Write "${kebab(value) || 'studio'}".` : 'Write a short name such as "studio".'
  part.mustBe('lower-case letters and digits joined by hyphens', remedy)
}

/** Checks a collection's name: no singular of English, in lower case, its words joined by hyphens. */
export function checkCollectionName(part: Part, name: string): void {
  if (reservedCollections.includes(name)) {
    part.reportKey('is a name that the interface keeps for itself', `Choose another name, such as "my-${kebab(name)}".`)
  } else if (!hyphenedForm.test(name)) {
    const better = kebab(name)
    const remedy =
      better === ''
        ? 'Write a plural noun such as "line-items".'
        : `Write "${isSingular(better) ? pluralOf(better) : better}".`
    part.reportKey('must be lower case, its words joined by hyphens', remedy)
  } else if (isSingular(name)) {
    part.reportKey('must be a plural noun', `Write "${pluralOf(name)}".`)
  } else if (name.length > longestName)
    part.reportKey(`is longer than ${longestName} characters`, 'Choose a shorter name.')
}

/** Checks a field's name: snake_case, without a meaning of its own. */
export function checkFieldName(part: Part, name: string): void {
  if ((systemFields as readonly string[]).includes(name)) {
    part.reportKey('is a field that every record has already', 'Remove it: the server sets it.')
  } else if (reservedFields.has(name)) {
    part.reportKey(reservedFields.get(name) as string, `Choose another name, such as "${name}_value".`)
  } else if (!snakeCaseForm.test(name)) {
    const better = kebab(name).replaceAll('-', '_')
    part.reportKey('must be snake_case', better === '' ? 'Write a name such as "due_on".' : `Write "${better}".`)
  } else if (name.length > longestName)
    part.reportKey(`is longer than ${longestName} characters`, 'Choose a shorter name.')
}

/** A name as lower-case words joined by hyphens, made from its first characters; empty if none of them remains. */
export function kebab(name: string, most = longestName): string {
  return name
    .slice(0, most)
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[-0-9]+|-+$/g, '')
}

/** Reports the names that mean something else already, and relations that would show a value that no one may see. */
export function checkRelations(resources: ResourceViews): void {
  const sources = [...resources.values()].map(sourceOf)
  for (const source of sources) {
    for (const { to, name, collection, field } of nameRelations(source, sources).clashes) {
      const [word, holder] = to === 'one' ? (['as', source.name] as const) : (['inverse', collection] as const)
      const message = `is taken in ${source.name}, by a field, another relation or a word of conditions: ${name}`
      resources.get(holder)?.field.get(field)?.part.key(word).report(message, 'Choose another name.')
    }
  }
  for (const { fields } of resources.values()) for (const field of fields) checkSecret(field)
}

function checkSecret({ part, writeOnly }: FieldView): void {
  if (!writeOnly) return
  for (const word of [part.key('as'), part.key('inverse')]) {
    if (!word.isAbsent) word.report('would show the value of a field that is writeOnly', 'Remove one of the two.')
  }
}
