/** What schemas say of themselves beside what they admit: `default`, `readOnly`, `writeOnly`, `deprecated`. */
import { canonical } from '../openapi/canonical.ts'
import { child, items, type Part, referenceOf, target } from '../openapi/document.ts'
import type { Schemas } from './shape.ts'
import type { Reader } from './union.ts'

const mostSteps = 50

/** The annotation nearest to the place: beside a reference it goes before that of the target. */
export function annotation(
  { document }: Reader,
  schemas: Schemas,
  keyword: 'default' | 'readOnly' | 'writeOnly' | 'deprecated',
): { readonly value: unknown; readonly text: string } | undefined {
  const met: Part[] = schemas.slice(0, mostSteps)
  for (const [step, part] of met.entries()) {
    if (step >= mostSteps) return undefined
    const reference = referenceOf(part)
    const said = reference !== undefined && document.dialect === '3.0' ? undefined : child(part, keyword)
    if (said !== undefined) return { value: said.value, text: canonical(said.value) }
    if (reference !== undefined) met.push(target(document, part.pointer, reference))
    met.push(...items(child(part, 'allOf')).slice(0, mostSteps))
  }
  return undefined
}

/** Whether an annotation is `true`. */
export function flagged(reader: Reader, schemas: Schemas, keyword: 'readOnly' | 'writeOnly' | 'deprecated'): boolean {
  return annotation(reader, schemas, keyword)?.value === true
}
