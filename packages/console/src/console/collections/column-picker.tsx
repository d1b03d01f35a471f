/** Which columns a view has. The choice stands in the address. */
import type { FocusEvent, KeyboardEvent, ReactNode } from 'react'
import { type Collection, type Field, fieldLabel, namingField, typesOf } from '../interface/catalog.ts'

/** The most columns that a view begins with. */
const mostAtFirst = 8

/** The columns of a view: those of its address, or what is most telling. */
export function columnsOf(collection: Collection, view: URLSearchParams): readonly Field[] {
  const wanted = view.get('columns')?.split(',')
  const readable = collection.fields.filter(({ write_only }) => write_only !== true)
  const asked = readable.filter((field) => wanted?.includes(field.name))
  if (asked.length > 0) return asked
  const name = namingField(collection)
  const telling = readable.filter((field) => field.name !== 'id' && field.name !== 'updated_at' && !isLong(field))
  const first = telling.filter((field) => field.name === name)
  const others = telling.filter((field) => field.name !== name)
  const chosen = [...first, ...others].slice(0, mostAtFirst)
  const id = readable.filter((field) => field.name === 'id' && name === 'id')
  return [...id, ...chosen]
}

/** Whether values are too long for a table, such as objects and texts of many lines. */
function isLong({ schema }: Field): boolean {
  const types = typesOf(schema)
  return types.includes('object') || (types.includes('string') && (schema.maxLength ?? 0) > 1_000)
}

interface Props {
  readonly collection: Collection
  readonly columns: readonly Field[]
  readonly onChange: (names: readonly string[]) => void
}

export function ColumnPicker({ collection, columns, onChange }: Props): ReactNode {
  const shown = new Set(columns.map(({ name }) => name))
  return (
    <details className="menu-button-panel" onBlur={closeOutside} onKeyDown={closeOnEscape}>
      <summary className="button">Columns</summary>
      {/* With the focus on its text, the panel stays open. */}
      <fieldset className="panel" tabIndex={-1}>
        <legend className="hidden-label">Columns</legend>
        {collection.fields
          .filter(({ write_only }) => write_only !== true)
          .map(({ name, reference }) => (
            <label key={name} className="check">
              <input
                type="checkbox"
                checked={shown.has(name)}
                onChange={({ target }) => {
                  const names = collection.fields.map((field) => field.name)
                  onChange(names.filter((each) => (each === name ? target.checked : shown.has(each))))
                }}
              />{' '}
              {fieldLabel({ name, reference })}
            </label>
          ))}
      </fieldset>
    </details>
  )
}

function closeOutside({ currentTarget, relatedTarget }: FocusEvent<HTMLDetailsElement>): void {
  if (!currentTarget.contains(relatedTarget)) currentTarget.open = false
}

function closeOnEscape({ key, currentTarget }: KeyboardEvent<HTMLDetailsElement>): void {
  if (key !== 'Escape') return
  currentTarget.open = false
  currentTarget.querySelector('summary')?.focus()
}
