/**
 * Permissions to create a record that no body can change, such as those by the record of the address: they are decided
 * before the body is validated, because its validation may take long (CON-6).
 */
import { fieldsOf } from 'resourced-contract/model/predicate'
import { type RecordValues, systemFields } from 'resourced-contract/model/resource'
import { draftCreate } from './draft.ts'
import type { Create } from './plan.ts'

/**
 * The values by which the permission of a Create is decided; `undefined`: it depends on the body, or holds for all
 * records.
 */
export function recordWithoutBody(plan: Create): RecordValues | undefined {
  const { permitted, parent, resource, mayAssignOwner } = plan
  if (permitted.kind === 'always' || resource.prepare !== undefined) return undefined
  const decisive = fieldsOf(permitted)
  const isFixed = (name: string) => {
    const isSent = name === resource.owner ? mayAssignOwner : resource.field.get(name)?.readOnly !== true
    return name === parent?.field || systemFields.some((each) => each === name) || !isSent
  }
  if (!decisive.every(isFixed)) return undefined
  const draft = draftCreate({ ...plan, body: {} })
  if ('kind' in draft) return undefined
  // A record that lacks such a value could be permitted to no caller: its mistakes are named instead.
  const isMissing = draft.issues.some(({ pointer = '' }) => decisive.includes(pointer.slice(1)))
  return isMissing ? undefined : draft.values
}

/** A body with so many members or characters takes longer to validate than the database takes to decide. */
const largest = 1_000

/** Whether the validation of a body may take long. It looks at few of its values. */
export function isLarge(body: unknown): boolean {
  let size = 0
  const waiting: unknown[] = [body]
  while (waiting.length > 0 && size <= largest) {
    const next = waiting.pop()
    if (typeof next === 'string') size += next.length
    else if (Array.isArray(next)) {
      size += next.length
      if (size <= largest) waiting.push(...next)
    } else if (typeof next === 'object' && next !== null) {
      for (const key in next) {
        if (++size > largest) break
        waiting.push((next as Record<string, unknown>)[key])
      }
    }
  }
  return size > largest
}
