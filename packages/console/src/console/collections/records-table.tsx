/** A table of any length. Only the rows on the screen are in the page; more is loaded before its end is reached. */
import {
  type ChangeEvent,
  type KeyboardEvent,
  memo,
  type ReactNode,
  type MouseEvent as RowMouseEvent,
  useMemo,
  useRef,
} from 'react'
import { Link } from 'wouter'
import { type Collection, type Field, fieldLabel, isNumeric, namingField, typesOf } from '../interface/catalog.ts'
import type { RecordData } from '../interface/records.ts'
import { ProblemView } from '../ui/problem-view.tsx'
import { brief, Value } from '../ui/value.tsx'
import { rowHeight } from './drawn-rows.ts'
import { RecordCell, shortId } from './record-cell.tsx'
import { type List, useRows } from './record-rows.ts'

/** The ids of the selected records. */
export type Selection = Readonly<Record<string, true>>

interface Props extends List {
  /** Every record that matches. */
  readonly total: number | undefined
  readonly columns: readonly Field[]
  /** The terms of the sort: `name`, `-due_on`. */
  readonly sort: readonly string[]
  /** @param isMore whether the field is added to the sort, and does not take its place */
  readonly onSort: (field: string, isMore: boolean) => void
  readonly selection: Selection
  /** `undefined`: records cannot be selected. */
  readonly onSelect: ((selection: Selection) => void) | undefined
  /** What the cells show; by default the values, and a link to the record. */
  readonly cell?: Cell
  /** In place of rows, where no record matches. */
  readonly empty: ReactNode
}

type Cell = (field: Field, record: RecordData) => ReactNode

export function RecordsTable({ total, columns, sort, onSort, selection, ...rest }: Props): ReactNode {
  const { onSelect, cell, empty, ...list } = rest
  const { collection } = list
  const scroller = useRef<HTMLDivElement>(null)
  const { first, end, before, after, records, problem, reload } = useRows(scroller, list)
  const areAllSelected = records.size > 0 && [...records.values()].every(({ id }) => id in selection)
  /** @param from the first row, and `to` the last one */
  const select = (from: number, to: number, isSelected: boolean) => {
    const next: Record<string, true> = { ...selection }
    for (const [index, { id }] of records) {
      if (index < from || index > to) continue
      if (isSelected) next[id] = true
      else delete next[id]
    }
    onSelect?.(next)
  }
  // The row that was chosen last: with Shift, all rows from there are.
  const anchor = useRef(0)
  const choose = ({ target, nativeEvent }: ChangeEvent<HTMLElement>) => {
    const index = Number(target.closest<HTMLElement>('[data-row]')?.dataset['row'])
    const from = (nativeEvent as MouseEvent).shiftKey ? anchor.current : index
    anchor.current = index
    select(Math.min(from, index), Math.max(from, index), (target as HTMLInputElement).checked)
  }
  const shown = useMemo(() => cell ?? cellOf(collection, columns), [cell, collection, columns])
  const naming = namingField(collection)
  return (
    <>
      {problem !== null && <ProblemView problem={problem} again={reload} />}
      <section
        className="records"
        ref={scroller}
        aria-label={`Records of ${collection.name}`}
        tabIndex={-1}
        onClick={openRow}
        onKeyDown={moveFocus}
      >
        <table aria-rowcount={(total ?? 0) + 1}>
          <colgroup>
            {onSelect !== undefined && <col className="col-select" />}
            {columns.map((field) => (
              <col key={field.name} className={columnClass(field)} />
            ))}
          </colgroup>
          <thead>
            <tr aria-rowindex={1}>
              {onSelect !== undefined && (
                <th scope="col">
                  <input
                    type="checkbox"
                    aria-label="Select all loaded records"
                    checked={areAllSelected}
                    onChange={() => select(0, Number.POSITIVE_INFINITY, !areAllSelected)}
                  />
                </th>
              )}
              {columns.map((field) => (
                <HeaderCell key={field.name} field={field} sort={sort} onSort={onSort} />
              ))}
            </tr>
          </thead>
          <tbody onChange={choose}>
            <Spacer height={before} />
            {Array.from({ length: end - first }, (_, place) => {
              const index = first + place
              const record = records.get(index)
              if (record === undefined) return <Spacer key={index} height={rowHeight} />
              const isSelected = onSelect && record.id in selection
              return <TableRow key={index} {...{ index, record, columns, naming, isSelected }} cell={shown} />
            })}
            <Spacer height={after} />
          </tbody>
        </table>
        {total === 0 && <div className="empty">{empty}</div>}
      </section>
    </>
  )
}

interface RowProps {
  readonly index: number
  readonly record: RecordData
  readonly columns: readonly Field[]
  readonly cell: Cell
  /** The field that names the record. */
  readonly naming: string
  /** `undefined`: records cannot be selected. */
  readonly isSelected: boolean | undefined
}

/** While somebody scrolls, most rows stay as they are. */
const TableRow = memo(({ index, record, columns, cell, naming, isSelected }: RowProps) => (
  <tr data-row={index} aria-rowindex={index + 2} aria-selected={isSelected}>
    {isSelected !== undefined && (
      <td>
        <input
          type="checkbox"
          aria-label={`Select ${brief(String(record[naming]), 80)}`}
          checked={isSelected}
          // The body of the table handles changes.
          readOnly
        />
      </td>
    )}
    {columns.map((field) => (
      <td key={field.name} className={columnClass(field)}>
        {cell(field, record)}
      </td>
    ))}
  </tr>
))

/** Values, and a link to the record in the column of its name. */
function cellOf(collection: Collection, columns: readonly Field[]): Cell {
  const naming = namingField(collection)
  const linked = [naming, 'id'].find((name) => columns.some((column) => column.name === name)) ?? columns[0]?.name
  return (field, record) => {
    const value = record[field.name]
    if (field.name !== linked && field.name !== 'id') return <RecordCell field={field} value={value} />
    return (
      <Link className="opens" to={`/${collection.name}/${encodeURIComponent(record.id)}`}>
        {field.name === 'id' ? <bdi>{shortId(record.id)}</bdi> : <Value value={value} schema={field.schema} short />}
      </Link>
    )
  }
}

/** A click beside the link of a row opens the record too, unless it ends the selection of a text. */
function openRow({ target, ctrlKey, metaKey, shiftKey }: RowMouseEvent<HTMLElement>): void {
  const element = target as HTMLElement
  if (ctrlKey || metaKey || shiftKey || element.closest('a, button, input, td:has(> input)')) return
  if (getSelection()?.isCollapsed !== false) element.closest('tr')?.querySelector<HTMLElement>('.opens')?.click()
}

/** The arrow keys move between rows: from link to link, and from one checkbox to the next. */
function moveFocus(event: KeyboardEvent): void {
  const target = event.target as HTMLElement
  const row = target.closest('[data-row]')
  const next =
    event.key === 'ArrowDown' ? row?.nextElementSibling : event.key === 'ArrowUp' ? row?.previousElementSibling : null
  const element = next?.querySelector<HTMLElement>(target.matches('input') ? 'input' : 'a')
  if (!element) return
  event.preventDefault()
  element.focus()
}

interface HeaderProps extends Pick<Props, 'sort' | 'onSort'> {
  readonly field: Field
}

function HeaderCell({ field, sort, onSort }: HeaderProps): ReactNode {
  const name = field.sortedBy ?? (field.sort ? field.name : undefined)
  const place = sort.findIndex((term) => term.replace('-', '') === name)
  if (name === undefined) {
    return (
      <th scope="col" className={columnClass(field)}>
        {fieldLabel(field)}
      </th>
    )
  }
  const direction = sort[place]?.startsWith('-') ? 'descending' : 'ascending'
  return (
    <th scope="col" className={columnClass(field)} aria-sort={place === -1 ? 'none' : direction}>
      <button
        type="button"
        className="sort"
        title="Shift adds the field to the sort"
        onClick={(event) => onSort(name, event.shiftKey)}
      >
        {fieldLabel(field)}{' '}
        <span aria-hidden="true">
          {place === -1 ? '↕' : direction === 'ascending' ? '↑' : '↓'}
          {place !== -1 && sort.length > 1 && place + 1}
        </span>
      </button>
    </th>
  )
}

/** The room of rows that are not drawn. */
function Spacer({ height }: { readonly height: number }): ReactNode {
  return height > 0 ? <tr style={{ height }} /> : null
}

function columnClass({ name, schema, reference }: Field): string {
  const types = typesOf(schema)
  if (name === 'id' || types.includes('boolean')) return 'col-small'
  if (isNumeric(schema)) return 'col-number'
  if (schema.format === 'date-time' || schema.format === 'date' || schema.enum !== undefined) return 'col-middle'
  return reference === undefined ? 'col-text' : 'col-reference'
}
