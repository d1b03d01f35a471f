/** Fields of a record that are only shown. */
import type { ReactNode } from 'react'
import { ReferenceLink } from '../collections/record-cell.tsx'
import { type Collection, fieldLabel } from '../interface/catalog.ts'
import { own } from '../interface/own.ts'
import type { RecordData } from '../interface/records.ts'
import { Value } from '../ui/value.tsx'

interface ReadOnlyProps {
  readonly collection: Collection
  readonly record: RecordData
  readonly names: readonly string[]
}

export function ReadOnly({ collection, record, names }: ReadOnlyProps): ReactNode {
  return (
    <dl className="read-only">
      {names.map((name) => {
        const field = collection.field.get(name)
        const value = own(record, name)
        if (field === undefined || value === undefined) return null
        return (
          <div key={name}>
            <dt>{fieldLabel(field)}</dt>
            <dd>
              {field.reference !== undefined && typeof value === 'string' ? (
                <ReferenceLink collection={field.reference} id={value} />
              ) : (
                <Value value={value} schema={field.schema} />
              )}
            </dd>
          </div>
        )
      })}
    </dl>
  )
}
