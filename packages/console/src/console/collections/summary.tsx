/** How many records of a view there are of each group, as numbers and as bars, and the sums of a field (SUM-1). */
import { useQuery } from '@tanstack/react-query'
import { type CSSProperties, type ReactNode, useId } from 'react'
import { Link } from 'wouter'
import { type Collection, type Field, fieldLabel, labelOf, typesOf } from '../interface/catalog.ts'
import { useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { useRecordName } from '../interface/record-name.ts'
import { collectionKey, type JsonValue } from '../interface/records.ts'
import { useView } from '../shell/fragment.ts'
import { countOf } from '../ui/count-of.ts'
import { ProblemView } from '../ui/problem-view.tsx'
import { brief } from '../ui/value.tsx'
import { parameterOf } from './filters.ts'
import { shortId } from './record-cell.tsx'

/** The most groups that are shown. */
const mostGroups = 12

/** Parameters of the address: with `-`, none has the name of a field. */
export const groupParameter = 'group-by'
const sumParameter = 'sum-of'

/** A page of a summary. */
interface Summary {
  readonly data: readonly Group[]
  readonly pagination: { readonly total_count: number }
}

interface Group {
  readonly group: Readonly<Record<string, JsonValue>>
  readonly count: number
  readonly sum?: Readonly<Record<string, string | null>>
}

/** The fields that the console groups by: enums, booleans and references. */
export function groupFields({ fields, summary }: Collection): readonly Field[] {
  return fields.filter(({ name, write_only }) => !write_only && summary?.group.includes(name))
}

interface Props {
  readonly collection: Collection
  /** The filters and the search of the view. */
  readonly list: URLSearchParams
}

export function SummaryPanel({ collection, list }: Props): ReactNode {
  const connection = useConnection()
  const [view, changeView] = useView()
  const groups = groupFields(collection)
  const sums = collection.fields.filter(({ name }) => collection.summary?.sum.includes(name))
  const group = groups.find(({ name }) => name === view.get(groupParameter)) ?? groups[0]
  const sum = sums.find(({ name }) => name === view.get(sumParameter))
  const query = new URLSearchParams(list)
  for (const name of ['sort', 'fields']) query.delete(name)
  query.set('group', group?.name ?? '')
  if (sum !== undefined) query.set('sum', sum.name)
  query.set('sort', '-count')
  query.set('limit', String(Math.min(mostGroups, connection.catalog.pageSize)))
  const { data, error, refetch } = useQuery<Summary, Problem>({
    queryKey: [...collectionKey(connection, collection.name), 'summary', query.toString()],
    queryFn: async ({ signal }) =>
      (await connection.send<Summary>({ path: `${collection.path}/summary`, query, signal })).body,
  })
  if (group === undefined) return null
  return (
    <section className="card summary" aria-label={`Summary of ${labelOf(collection.name)}`}>
      <div className="row">
        <FieldChoice
          label="Group by"
          fields={groups}
          value={group.name}
          onChange={(name) => changeView((next) => next.set(groupParameter, name), { replace: true })}
        />
        {sums.length > 0 && (
          <FieldChoice
            label="Sum of"
            none="none"
            fields={sums}
            value={sum?.name ?? ''}
            onChange={(name) =>
              changeView((next) => (name === '' ? next.delete(sumParameter) : next.set(sumParameter, name)), {
                replace: true,
              })
            }
          />
        )}
      </div>
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      {data === undefined && error === null && <p className="quiet">Loading…</p>}
      {data !== undefined && error === null && <Groups {...{ collection, list, group, sum }} summary={data} />}
    </section>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly fields: readonly Field[]
  readonly value: string
  /** What no field is called; left out: one is chosen. */
  readonly none?: string
  readonly onChange: (name: string) => void
}

function FieldChoice({ label, fields, value, none, onChange }: ChoiceProps): ReactNode {
  const id = useId()
  return (
    <span>
      <label htmlFor={id}>{label}</label>{' '}
      <select id={id} value={value} onChange={({ target }) => onChange(target.value)}>
        {none !== undefined && <option value="">{none}</option>}
        {fields.map((field) => (
          <option key={field.name} value={field.name}>
            {fieldLabel(field)}
          </option>
        ))}
      </select>
    </span>
  )
}

interface GroupsProps extends Props {
  readonly group: Field
  readonly sum: Field | undefined
  readonly summary: Summary
}

function Groups({ collection, list, group, sum, summary: { data, pagination } }: GroupsProps): ReactNode {
  const most = Math.max(1, ...data.map(({ count }) => count))
  const left = pagination.total_count - data.length
  if (data.length === 0) return <p className="quiet">No record matches.</p>
  return (
    <div className="table-scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">{fieldLabel(group)}</th>
            <th scope="col" className="col-number">
              Records
            </th>
            {/* The bars show the numbers beside them. */}
            <td aria-hidden="true" />
            {sum !== undefined && (
              <th scope="col" className="col-number">
                Sum of {fieldLabel(sum).toLowerCase()}
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {data.map(({ group: { [group.name]: value = null }, count, sum: sums }) => (
            <tr key={String(value)}>
              <th scope="row">
                <Link to={`/${collection.name}?${narrowed(list, group, value)}`}>
                  <GroupName field={group} value={value} />
                </Link>
              </th>
              <td className="col-number">{count.toLocaleString()}</td>
              <td className="bar" aria-hidden="true">
                <div style={{ '--part': count / most } as CSSProperties} />
              </td>
              {sum !== undefined && (
                <td className="col-number">{sums?.[sum.name] ?? <span className="null">null</span>}</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p className="quiet">{countOf(left, 'smaller group')} more.</p>}
    </div>
  )
}

/** The view with the records of a group. */
function narrowed(list: URLSearchParams, field: Field, value: JsonValue): URLSearchParams {
  const query = new URLSearchParams(list)
  query.delete('fields')
  query.delete(field.name)
  query.set(parameterOf({ field: field.name, operator: value === null ? 'null' : 'eq' }), String(value ?? true))
  return query
}

function GroupName({ field, value }: { readonly field: Field; readonly value: JsonValue }): ReactNode {
  const name = useRecordName(field.reference ?? '', typeof value === 'string' ? value : undefined)
  if (value === null) return <span className="null">null</span>
  if (typesOf(field.schema).includes('boolean')) return value === true ? 'yes' : 'no'
  const text = String(value)
  return <bdi>{brief(name ?? (field.reference === undefined ? text : shortId(text)))}</bdi>
}
