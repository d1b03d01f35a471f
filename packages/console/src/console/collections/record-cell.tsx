/** One cell of a table: a value, or the name of the record that it refers to. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Field } from '../interface/catalog.ts'
import { useRecordName } from '../interface/record-name.ts'
import type { JsonValue } from '../interface/records.ts'
import { brief, Value } from '../ui/value.tsx'

interface Props {
  readonly field: Field
  readonly value: JsonValue | undefined
}

export function RecordCell({ field, value }: Props): ReactNode {
  if (field.reference !== undefined && typeof value === 'string') {
    return <ReferenceLink collection={field.reference} id={value} />
  }
  return <Value value={value} schema={field.schema} short />
}

interface ReferenceProps {
  readonly collection: string
  readonly id: string
}

/** A link to a record, with its name where it is known. */
export function ReferenceLink({ collection, id }: ReferenceProps): ReactNode {
  const name = useRecordName(collection, id)
  return (
    <Link to={`/${collection}/${encodeURIComponent(id)}`} title={id}>
      <bdi>{brief(name ?? shortId(id))}</bdi>
    </Link>
  )
}

/** The end of an id: those that were made together begin alike. */
export function shortId(id: string): string {
  return id.length > 12 ? `…${id.slice(-8)}` : id
}
