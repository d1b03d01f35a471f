/** Checks the access rules of single fields (AUT-13, AUT-14): which fields have them, and whether they make sense. */

import { isServers } from '../keywords.ts'
import { isObject } from '../plain-copy.ts'
import { systemFields } from '../resource.ts'
import { type FieldView, type Part, type ResourceView, type ResourceViews, show } from './parts.ts'

/** Checks one rule or several of a resource. */
type CheckRules = (
  rules: Part,
  options: { readonly resource: ResourceView; readonly resources: ResourceViews; readonly remedy: string },
) => unknown

/** Checks `access.fields`. */
export function checkFieldAccess(resource: ResourceView, resources: ResourceViews, checkRules: CheckRules): void {
  for (const [name, part] of resource.part.key('access').key('fields').entries()) {
    const field = resource.fields.get(name)
    if (field === undefined) {
      checkUnknown(part, name, resource)
      continue
    }
    if (!isObject(part.value)) continue
    const [read, write] = [part.key('read'), part.key('write')]
    if (Object.keys(part.record).length === 0) {
      part.report('says nothing', 'Write read, write, or both, such as { read: "role:hr" }.')
    }
    const remedy = 'Write "nobody", or leave it out: then it follows the permission for the record.'
    for (const rules of [read, write]) if (!rules.isAbsent) checkRules(rules, { resource, resources, remedy })
    checkRead(read, field)
    checkWrite(write, field, resource)
  }
}

function checkUnknown(part: Part, name: string, { name: collection, fields }: ResourceView): void {
  if ((systemFields as readonly string[]).includes(name)) {
    const remedy = 'Remove it. To hide the record, write a rule for access.read.'
    part.reportKey('is a field that every record shows', remedy)
  } else part.as(name).unknown(`is not a field of ${collection}`, fields.keys())
}

function checkRead(read: Part, field: FieldView): void {
  if (read.isAbsent || !field.writeOnly) return
  read.report('is of a writeOnly field, which no response contains', 'Remove the rule, or "writeOnly" from the field.')
}

function checkWrite(write: Part, { name, declared, shape }: FieldView, resource: ResourceView): void {
  if (write.isAbsent) return
  if (isServers(declared) && name !== resource.owner) {
    const word = ['readOnly', 'set', 'sequence'].find((each) => declared[each as keyof typeof declared] !== undefined)
    write.report('is of a field that the server sets', `Remove the rule, or ${show(word)} from the field.`)
  } else if (name === resource.owner) {
    const remedy = 'Remove the rule: only administrators may send the owner (AUT-7).'
    write.report('is of the owner, which the server sets', remedy)
  } else if (!shape.optional && declared['default'] === undefined && !coversCreation(write, resource)) {
    const remedy = `Give ${name} a default, or write "optional", so that other callers can create records.`
    write.report('restricts a required field: callers who may create records may be unable to', remedy)
  }
}

/** Whether all callers who may create records may write the field, as far as the rules alone say it. */
function coversCreation(write: Part, { access }: ResourceView): boolean {
  const written = rulesOf(write.value)
  // A caller owns what they create. Whether a condition holds depends on the record.
  const mayHold = (rule: unknown) => rule === 'anyone' || rule === 'owner' || typeof rule !== 'string'
  if (written.some(mayHold)) return true
  const created = rulesOf(access['create'] ?? 'role:admin')
  return created.every((rule) => rule === 'nobody' || written.includes(rule))
}

function rulesOf(rules: unknown): unknown[] {
  return [rules].flat()
}
