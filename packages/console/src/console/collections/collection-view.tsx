/** A collection: its records as a table, with search, filters, sort and columns, all of which stand in the address. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useMemo, useState } from 'react'
import { Link } from 'wouter'
import { BulkDeleteDialog } from '../deletion/bulk-delete-dialog.tsx'
import { type Collection, labelOf, namingField } from '../interface/catalog.ts'
import { grantOf, hasBin, useConnection } from '../interface/connection.tsx'
import ExportDialog from '../jobs/export-dialog.tsx'
import { useView } from '../shell/fragment.ts'
import { countOf } from '../ui/count-of.ts'
import { commonFields } from './bulk-change.ts'
import { BulkChangeDialog } from './bulk-change-dialog.tsx'
import { ColumnPicker, columnsOf } from './column-picker.tsx'
import { conditionOf, filtersOf, listQuery } from './filters.ts'
import { changeSort, Empty, Narrowing } from './narrowing.tsx'
import { pageQuery } from './record-rows.ts'
import { RecordsTable, type Selection } from './records-table.tsx'
import { groupFields, groupParameter, SummaryPanel } from './summary.tsx'

export function CollectionView({ collection }: { readonly collection: Collection }): ReactNode {
  const connection = useConnection()
  const [view, changeView] = useView()
  const columns = useMemo(() => columnsOf(collection, view), [collection, view])
  const list = listQuery(collection, view)
  const name = list.toString()
  list.set('fields', [...new Set(['id', namingField(collection), ...columns.map((column) => column.name)])].join(','))
  const query = list.toString()
  const { data: firstPage, error } = useQuery(pageQuery(connection, collection, query, undefined))
  const total = firstPage?.pagination.total_count
  const [selection, setSelection] = useState<Selection>({})
  const selected = Object.keys(selection)
  const [dialog, setDialog] = useState<'change' | 'delete' | 'export'>()
  const sort = view.get('sort')?.split(',') ?? []
  const isSummarized = view.has(groupParameter) && groupFields(collection).length > 0
  const mayDelete = grantOf(connection, collection.name, 'delete') !== 'none' && collection.deletion !== undefined
  const mayChange =
    grantOf(connection, collection.name, 'update') !== 'none' && commonFields(collection, connection.caller).length > 0
  // Changes of all that match take filters and no search: with one, they would be of more than the table shows.
  const isFiltered = filtersOf(collection, view).length > 0 && !view.get('q')
  const { updates, deletion } = collection
  const actions: ('change' | 'delete')[] = [
    ...(mayChange && (selected.length > 0 ? updates?.bulk : isFiltered && updates?.by_filter)
      ? ['change' as const]
      : []),
    ...(mayDelete && (selected.length > 0 || (isFiltered && deletion?.by_filter)) ? ['delete' as const] : []),
  ]
  const mayCreate = grantOf(connection, collection.name, 'create') !== 'none' && collection.made === 'by-clients'
  const close = (left: readonly string[]) => {
    setDialog(undefined)
    setSelection(Object.fromEntries(left.map((id) => [id, true])))
  }
  return (
    <div className="collection">
      <div className="row">
        <h1>{labelOf(collection.name)}</h1>
        <span className="quiet" role="status">
          {total !== undefined ? countOf(total, 'record') : error === null && 'Loading…'}
        </span>
        <span className="spring" />
        {mayCreate && (
          <>
            <Link className="button" to={`/-/import/${collection.name}`}>
              Import
            </Link>
            <Link className="button primary" to={`/-/new/${collection.name}?${view}`}>
              New
            </Link>
          </>
        )}
      </div>
      {collection.description !== undefined && <p className="quiet">{collection.description}</p>}
      <div className="row toolbar">
        <Narrowing collection={collection} />
        <div className="row">
          <ColumnPicker
            collection={collection}
            columns={columns}
            onChange={(names) => changeView((next) => next.set('columns', names.join(',')), { replace: true })}
          />
          {groupFields(collection).length > 0 && (
            <button
              type="button"
              aria-expanded={isSummarized}
              onClick={() =>
                changeView((next) =>
                  isSummarized
                    ? next.delete(groupParameter)
                    : next.set(groupParameter, groupFields(collection)[0]?.name ?? ''),
                )
              }
            >
              Summary
            </button>
          )}
          <button type="button" onClick={() => setDialog('export')}>
            Export
          </button>
          {hasBin(connection, collection) && (
            <Link className="button" to={`/-/bin/${collection.name}`}>
              Recycle bin
            </Link>
          )}
        </div>
      </div>
      {actions.length + selected.length > 0 && (
        <div className="row selection" role="status">
          {selected.length > 0 && <span>{countOf(selected.length, 'record')} selected</span>}
          {actions.map((action) => (
            <button
              key={action}
              type="button"
              className={action === 'delete' ? 'danger' : undefined}
              onClick={() => setDialog(action)}
            >
              {labelOf(action)} {selected.length > 0 ? 'selected' : 'all that match'}
            </button>
          ))}
          {selected.length > 0 && (
            <button type="button" onClick={() => setSelection({})}>
              Clear selection
            </button>
          )}
        </div>
      )}
      {isSummarized && <SummaryPanel collection={collection} list={list} />}
      <RecordsTable
        key={name}
        name={name}
        query={query}
        collection={collection}
        total={total}
        columns={columns}
        sort={sort}
        onSort={(field, isMore) => changeView((next) => changeSort(next, sort, field, isMore))}
        selection={selection}
        onSelect={mayDelete || (mayChange && updates?.bulk) ? setSelection : undefined}
        empty={
          <Empty collection={collection}>
            <p>Nothing here yet.</p>
            {mayCreate && (
              <Link className="button primary" to={`/-/new/${collection.name}`}>
                Create the first one
              </Link>
            )}
          </Empty>
        }
      />
      {dialog === 'delete' && <BulkDeleteDialog collection={collection} ids={selected} view={view} onClose={close} />}
      {dialog === 'change' && <BulkChangeDialog collection={collection} ids={selected} view={view} onClose={close} />}
      {dialog === 'export' && (
        <ExportDialog
          collection={collection.name}
          filter={conditionOf(collection, view)}
          query={list}
          shown={columns.map(({ name }) => name)}
          onClose={() => setDialog(undefined)}
        />
      )}
    </div>
  )
}
