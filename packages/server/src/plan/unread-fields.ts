/**
 * The fields that an update neither changes nor decides by. A JSON value may have many members, so such a field is
 * neither read nor parsed nor validated: a change costs what the patch and the fields that it names cost.
 */
import { conditionFields } from 'resourced-contract/model/access-rules'
import { isObject } from 'resourced-contract/model/plain-copy'
import { fieldsOf } from 'resourced-contract/model/predicate'
import { type Field, type Resource, storedResource } from 'resourced-contract/model/resource'
import { namedByPatch } from './json-patch.ts'
import type { Update } from './plan.ts'

/** The fields with JSON of a stored resource; functions see the whole record, so none may be left out for them. */
const skippable = new WeakMap<Resource, readonly Field[]>()

const none: ReadonlySet<string> = new Set()

/** The names of the stored fields that an update leaves out of the record that it reads. */
export function unreadFields(plan: Update): ReadonlySet<string> {
  const { resource, kind, body } = plan
  const candidates = skippableFields(resource)
  if (candidates.length === 0 || kind === 'replace') return none
  const named = kind === 'patch' ? namedByPatch(body) : new Set(isObject(body) ? Object.keys(body) : [])
  if (named === 'all') return none
  const decisive = new Set(
    [plan.permitted, plan.mayCreate, ...Object.values(plan.writableFields ?? {})].flatMap(fieldsOf),
  )
  const own = plan.versionResource?.mapping.fromStored
  const unread = candidates.filter(({ name }) => {
    const shown = own === undefined ? name : own.get(name)
    return !decisive.has(name) && (shown === undefined || !named.has(shown))
  })
  return new Set(unread.map(({ name }) => name))
}

function skippableFields(resource: Resource): readonly Field[] {
  const known = skippable.get(resource)
  if (known !== undefined) return known
  const { fields, prepare, rules } = storedResource(resource)
  const deciding = rules.filter(({ on }) => [on].flat().includes('update'))
  const isWhole = prepare !== undefined || deciding.some((rule) => 'check' in rule)
  const compared = deciding.flatMap((rule) => ('unless' in rule ? conditionFields(rule.unless.where) : []))
  const isJson = ({ type }: Field) => type === 'array' || type === 'object' || type === 'json'
  // The full-text index has the items of some arrays beside the words of texts, and is written as a whole.
  const isSkippable = (field: Field) => isJson(field) && field.items === undefined && !compared.includes(field.name)
  const found = isWhole ? [] : fields.filter(isSkippable)
  skippable.set(resource, found)
  return found
}
