/** The recycle bin of a collection: its deleted records, until they are purged, and their way back. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { Link } from 'wouter'
import { columnsOf } from '../collections/column-picker.tsx'
import { listQuery } from '../collections/filters.ts'
import { changeSort, Empty, Narrowing } from '../collections/narrowing.tsx'
import { RecordCell } from '../collections/record-cell.tsx'
import { pageQuery } from '../collections/record-rows.ts'
import { RecordsTable, type Selection } from '../collections/records-table.tsx'
import { restoreRecord, useWorkplace } from '../deletion/deletion.ts'
import { type Collection, type Field, labelOf, namingField } from '../interface/catalog.ts'
import { grantOf, mayReadHistory } from '../interface/connection.tsx'
import { Problem } from '../interface/problem.ts'
import { historyAddress, type RecordData, refreshAll } from '../interface/records.ts'
import { WhyNot } from '../records/why-not.tsx'
import { useView } from '../shell/fragment.ts'
import { countOf } from '../ui/count-of.ts'
import { notify } from '../ui/notices.tsx'
import { Failures } from './failures.tsx'

export default function BinView({ collection }: { readonly collection: Collection }): ReactNode {
  const { name, deletion } = collection
  const { connection, client } = useWorkplace()
  const [view, changeView] = useView()
  const mayRestore = deletion?.restorable === true && grantOf(connection, name, 'restore') !== 'none'
  const columns = useMemo(() => binColumns(collection, mayRestore), [collection, mayRestore])
  const list = listQuery(collection, view)
  list.set('include_deleted', 'only')
  list.set('sort', view.get('sort') ?? '-deleted_at')
  const sort = list.get('sort')?.split(',') ?? []
  const place = list.toString()
  // Unique values and references explain why a record cannot come back.
  const asked = collection.fields.filter((field) => columns.includes(field) || field.unique || field.reference)
  list.set('fields', [...new Set(['id', namingField(collection), ...asked.map((field) => field.name)])].join(','))
  const query = list.toString()
  const { data: firstPage, error } = useQuery(pageQuery(connection, collection, query, undefined))
  const total = firstPage?.pagination.total_count
  const [selection, setSelection] = useState<Selection>({})
  const selected = Object.keys(selection)
  const [failed, setFailed] = useState<ReadonlyMap<string, Problem>>(new Map())
  const [isRestoring, setRestoring] = useState(false)
  const seen = useRef(new Map<string, RecordData>())
  const restore = async (ids: readonly string[]) => {
    setRestoring(true)
    let failures = new Map<string, Problem>()
    let left = ids
    // Some can come back only after others, so what failed is tried again as long as something succeeds.
    for (let before = Number.POSITIVE_INFINITY; left.length > 0 && left.length < before; ) {
      before = left.length
      failures = new Map()
      for (const id of left) {
        try {
          await restoreRecord(connection, collection, id)
        } catch (error) {
          if (!(error instanceof Problem)) throw error
          // The restoration of another record has brought this one back.
          if (error.code !== 'NOT_DELETED') failures.set(id, error)
        }
      }
      left = [...failures.keys()]
    }
    setRestoring(false)
    setFailed(failures)
    const restored = ids.filter((id) => !failures.has(id))
    setSelection((before) => Object.fromEntries(Object.entries(before).filter(([id]) => !restored.includes(id))))
    const { length } = restored
    if (length > 0) notify('done', `Restored ${countOf(length, 'record')} and what was deleted with it.`)
    await refreshAll(client, connection)
  }
  const cell = (field: Field, record: RecordData) => {
    const { id, deleted_at: deletedAt, [namingField(collection)]: title } = record
    seen.current.set(id, record)
    if (field.name === 'restore') {
      const label = `Restore ${String(title).slice(0, 80)}`
      return (
        <button type="button" aria-label={label} disabled={isRestoring} onClick={() => void restore([id])}>
          Restore
        </button>
      )
    }
    if (field.name === namingField(collection) && mayReadHistory(connection, collection)) {
      return (
        <Link to={historyAddress(collection, id)} title="Its history">
          <RecordCell field={field} value={record[field.name]} />
        </Link>
      )
    }
    const purgedAt = () => new Date(Date.parse(String(deletedAt)) + 1_000 * (deletion?.grace_period ?? 0)).toISOString()
    return <RecordCell field={field} value={field.name === 'purged_at' ? purgedAt() : record[field.name]} />
  }
  return (
    <div className="collection">
      <div className="row">
        <h1>
          <Link className="quiet" to={`/${name}`}>
            {labelOf(name)}
          </Link>{' '}
          Recycle bin
        </h1>
        <span className="quiet" role="status">
          {total !== undefined && countOf(total, 'deleted record')}
        </span>
      </div>
      <div className="row toolbar">
        <Narrowing collection={collection} />
      </div>
      {selected.length > 0 && (
        <div className="row selection" role="status">
          {countOf(selected.length, 'record')} selected
          <button type="button" className="primary" disabled={isRestoring} onClick={() => void restore(selected)}>
            {isRestoring ? 'Restoring…' : 'Restore selected'}
          </button>
        </div>
      )}
      {failed.size > 0 && <Failures collection={collection} failures={failed} records={seen.current} />}
      {!mayRestore && <WhyNot collection={collection} action="restore" />}
      {error?.status === 403 && <WhyNot collection={collection} action="read_deleted" />}
      <RecordsTable
        key={place}
        name={`bin ${place}`}
        query={query}
        collection={collection}
        total={total}
        columns={columns}
        sort={sort}
        onSort={(field, isMore) => changeView((next) => changeSort(next, view.has('sort') ? sort : [], field, isMore))}
        selection={selection}
        onSelect={mayRestore ? setSelection : undefined}
        cell={cell}
        empty={
          <Empty collection={collection}>
            The recycle bin is empty. What is deleted from {labelOf(name)} can be restored here.
          </Empty>
        }
      />
    </div>
  )
}

/** The way back, the name, when it was deleted and when it will be purged, then what else is most telling. */
function binColumns(collection: Collection, mayRestore: boolean): Field[] {
  const extra = (name: string): Field => ({ name, schema: { format: 'date-time', type: 'string' }, ...unsent })
  const telling = columnsOf(collection, new URLSearchParams()).filter(({ name }) => name !== 'created_at')
  return [
    ...(mayRestore ? [{ ...extra('restore'), schema: { type: 'boolean' } }] : []),
    ...telling.slice(0, 1),
    ...[{ ...extra('deleted_at'), sort: true }, extra('purged_at')],
    ...telling.slice(1, 5),
  ]
}

const unsent = { input: undefined, required: false } as const
