/** Access rules of fields in plans: of representations and references (AUT-13, AUT-14). */
import type { FieldGrants } from 'resourced-contract/model/field-grants'
import type { Predicate } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { permit, permitFields } from '../policy/permit.ts'
import type { Create, Presentation, Removal } from './plan.ts'
import type { Planning } from './planning.ts'

/** The fields that the caller may not read in every record. */
export function readableFieldsOf(
  { catalog, caller }: Planning,
  resource: Resource,
): Pick<Presentation, 'readableFields'> {
  const { readable } = permitFields(catalog, caller, resource)
  return readable === undefined ? {} : { readableFields: readable }
}

/** The fields that the caller may not read or write in every record. */
export function fieldGrantsOf(
  { catalog, caller }: Planning,
  resource: Resource,
): Pick<Create, 'readableFields' | 'writableFields'> {
  const { readable, writable } = permitFields(catalog, caller, resource)
  return { ...(readable && { readableFields: readable }), ...(writable && { writableFields: writable }) }
}

/** The records that reference fields may be set to, where the caller needs permission to read them (AUT-5). */
export function targetsOf({ catalog, caller }: Planning, { fields }: Resource): Pick<Create, 'targets'> {
  const targets = fields.flatMap(({ name, reference, set }): [string, Predicate][] => {
    const target = catalog.resources.get(reference?.collection ?? '')
    // Clients never send a field that the server sets.
    if (target === undefined || reference?.requires !== 'read' || set !== undefined) return []
    const readable = permit(catalog, caller, 'read', target)
    return readable.kind === 'always' ? [] : [[name, readable]]
  })
  return targets.length === 0 ? {} : { targets: new Map(targets) }
}

/** The fields of some collections that the caller may not read in every record. */
export function readableReferencesOf(
  { catalog, caller }: Planning,
  resources: Iterable<Resource>,
): Pick<Removal, 'readableReferences'> {
  const grants = [...resources].flatMap((each): [string, FieldGrants][] => {
    const { readable } = permitFields(catalog, caller, each)
    return readable === undefined ? [] : [[each.name, readable]]
  })
  return grants.length === 0 ? {} : { readableReferences: new Map(grants) }
}
