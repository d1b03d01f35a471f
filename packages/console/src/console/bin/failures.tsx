/** Records that could not be restored, why, and where the reason is. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { type Collection, labelOf, namingField } from '../interface/catalog.ts'
import type { Problem } from '../interface/problem.ts'
import type { RecordData } from '../interface/records.ts'
import { visible } from '../ui/value.tsx'

/** The most records that are named. */
const mostNamed = 20

interface Props {
  readonly collection: Collection
  /** By the ids of the records. */
  readonly failures: ReadonlyMap<string, Problem>
  readonly records: ReadonlyMap<string, RecordData>
}

export function Failures({ collection, failures, records }: Props): ReactNode {
  return (
    <div className="problem" role="alert">
      <p>
        <strong>Not restored: {failures.size.toLocaleString()}</strong>
      </p>
      <ul>
        {[...failures].slice(0, mostNamed).map(([id, { errors, code, detail }]) => {
          const record = records.get(id)
          const name = String(record?.[namingField(collection)] ?? id)
          return (errors.length > 0 ? errors : [{ code, message: detail, pointer: '' }]).map((each) => (
            <li key={`${id} ${each.pointer} ${each.message}`}>
              <bdi>{visible(name.slice(0, 80))}</bdi>: {visible(each.message)}{' '}
              <Remedy collection={collection} record={record} field={(each.pointer ?? '').slice(1)} />
            </li>
          ))
        })}
      </ul>
    </div>
  )
}

interface RemedyProps {
  readonly collection: Collection
  readonly record: RecordData | undefined
  readonly field: string
}

/** A link to what keeps a record from coming back: the deleted record that it refers to, or the one with its value. */
function Remedy({ collection: { name, field: fields }, record, field }: RemedyProps): ReactNode {
  const { reference, unique, filter } = fields.get(field) ?? {}
  if (reference !== undefined) return <Link to={`/-/bin/${reference}`}>Deleted {labelOf(reference).toLowerCase()}</Link>
  if (!unique || !filter?.includes('eq')) return null
  const same = new URLSearchParams({ [field]: String(record?.[field]) })
  return <Link to={`/${name}?${same}`}>Show the other record</Link>
}
