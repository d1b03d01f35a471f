/**
 * What events contain of a record (`data`, EVT-3): values of the columns of its row, by the names of the columns.
 * Triggers write them (`Dialect.eventTriggers`), and `Dialect.snapshotSource` reads them back.
 */
import { comparedByFields, comparedFields, type Resource } from 'resourced-contract/model/resource'
import { columnsOf, type SnapshotColumn, snapshotTimestamps } from './columns.ts'

/** What events contain of the rows of a table. */
export interface EventSpec {
  /** In the order of the table. */
  readonly columns: readonly SnapshotColumn[]
  /** What the events of a deletion contain: the columns that access rules compare (DEL-7). */
  readonly kept: readonly SnapshotColumn[]
  /** Whether deleted records are kept for a while, so that their removal is an event of its own. */
  readonly isSoft: boolean
}

/** What events contain of the records of a resource; `undefined`: it has no events. */
export function eventSpecOf(resource: Resource): EventSpec | undefined {
  if (!resource.events) return undefined
  const compared = comparedFields(resource, ['read', 'readDeleted'])
  const isCompared = (name: string) => compared === 'all' || compared.has(name)
  const byFields = comparedByFields(resource)
  const isNeeded = (name: string) => isCompared(name) || byFields === 'all' || byFields.has(name)
  const declared = columnsOf(resource).filter(({ field, role }) => {
    // Conditions of functions name no writeOnly field.
    if (field.writeOnly) return [compared, byFields].some((each) => each !== 'all' && each.has(field.name))
    return role === 'value' || isNeeded(field.name)
  })
  const columns = [...declared, ...snapshotTimestamps]
  const named = (name: string) => declared.find((column) => column.name === name)?.field.name ?? name
  return {
    // `deleted_at` is null while a record is live.
    columns: columns.filter(({ name }) => name !== 'deleted_at').map(plain),
    kept: columns.filter(({ name }) => isCompared(named(name))).map(plain),
    isSoft: resource.deletion.variant === 'soft',
  }
}

function plain({ name, type }: SnapshotColumn): SnapshotColumn {
  return { name, type }
}
