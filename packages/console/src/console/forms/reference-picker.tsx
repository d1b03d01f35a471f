/** Chooses a record of another collection: by search or a part of its name where the collection allows it, or by id. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useDeferredValue, useId, useState } from 'react'
import { namingField } from '../interface/catalog.ts'
import { grantOf, useConnection } from '../interface/connection.tsx'
import { useRecordName } from '../interface/record-name.ts'
import { collectionKey, type Page } from '../interface/records.ts'
import { brief } from '../ui/value.tsx'
import { common } from './plain-inputs.tsx'

const idForm = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

interface Props {
  readonly collection: string
  readonly label: string
  readonly value: string | null
  /** @param id `undefined`: none */
  readonly onChange: (id: string | undefined) => void
  /** The id of the input, for a label outside. */
  readonly id?: string
  readonly required?: boolean
  readonly disabled?: boolean | undefined
  readonly invalid?: boolean | undefined
  readonly describedBy?: string | undefined
  /** Whether only records that the caller may read can be chosen (AUT-5). */
  readonly mustRead?: boolean
}

export function ReferencePicker({ collection, label, value, onChange, ...rest }: Props): ReactNode {
  const { id, required = false, invalid = false, describedBy, mustRead = false } = rest
  const connection = useConnection()
  const listId = useId()
  const target = connection.catalog.collections.get(collection)
  const isReadable = target !== undefined && grantOf(connection, collection, 'read') !== 'none'
  const isClosed = mustRead && !isReadable
  // A value that is there can be cleared.
  const disabled = rest.disabled === true || (isClosed && value === null)
  const field = target === undefined ? 'id' : namingField(target)
  const parameter = target?.search
    ? 'q'
    : target?.field.get(field)?.filter?.includes('contains')
      ? `${field}[contains]`
      : undefined
  const name = useRecordName(collection, isReadable ? (value ?? undefined) : undefined)
  // What was typed; `undefined`: the list is closed.
  const [text, setText] = useState<string>()
  const [active, setActive] = useState(0)
  const wanted = useDeferredValue(text)?.trim()
  const { data } = useQuery({
    queryKey: [...collectionKey(connection, collection), 'choices', wanted],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ limit: '7', fields: [...new Set(['id', field])].join(',') })
      if (wanted && parameter !== undefined) query.set(parameter, wanted)
      return (await connection.send<Page>({ path: `/${collection}`, query, signal })).body.data
    },
    enabled: isReadable && wanted !== undefined,
  })
  const choices = (data ?? []).map((record) => ({ id: record.id, name: String(record[field] ?? record.id) }))
  const choose = (chosen: string | undefined) => {
    setText(undefined)
    onChange(chosen)
  }
  const type = (next: string) => {
    setActive(0)
    // The search finds names, not ids.
    if (idForm.test(next.trim())) choose(next.trim())
    else if (isReadable) setText(next)
    else onChange(next || undefined)
  }
  return (
    <span className="picker">
      <input
        {...common({
          id: id ?? `${listId}-input`,
          ariaLabel: id === undefined ? label : undefined,
          required,
          disabled,
          invalid,
          describedBy,
        })}
        role="combobox"
        aria-expanded={text !== undefined}
        aria-controls={listId}
        aria-activedescendant={text !== undefined && choices[active] ? `${listId}-${active}` : undefined}
        aria-autocomplete="list"
        autoComplete="off"
        dir="auto"
        placeholder={
          isClosed
            ? `You may not read ${collection}`
            : isReadable && parameter !== undefined
              ? `Search ${collection}`
              : `Paste the id of one of the ${collection}`
        }
        value={text ?? brief(name ?? value ?? '')}
        onFocus={({ target }) => target.select()}
        onClick={() => {
          if (isReadable) setText(text ?? '')
        }}
        onChange={({ target }) => type(target.value)}
        onBlur={() => setText(undefined)}
        onKeyDown={(event) => {
          const { key } = event
          if (key === 'ArrowDown' && text === undefined && isReadable) setText('')
          else if (key === 'ArrowDown') setActive(Math.min(active + 1, choices.length - 1))
          else if (key === 'ArrowUp') setActive(Math.max(active - 1, 0))
          else if (text === undefined) return
          else if (key === 'Escape') setText(undefined)
          else if (key === 'Enter' && choices[active] !== undefined) choose(choices[active].id)
          else if (key !== 'Enter') return
          event.preventDefault()
          event.stopPropagation()
        }}
      />
      {value !== null && !disabled && (
        <button type="button" className="icon" aria-label={`Clear ${label}`} onClick={() => choose(undefined)}>
          ✕
        </button>
      )}
      {text !== undefined && (
        <div id={listId} role="listbox" aria-label={label} className="panel">
          {choices.map(({ id: choice, name: words }, index) => (
            <div
              key={choice}
              id={`${listId}-${index}`}
              className="choice"
              role="option"
              aria-selected={index === active}
              tabIndex={-1}
              onMouseDown={(event) => {
                event.preventDefault()
                choose(choice)
              }}
            >
              <bdi>{brief(words)}</bdi>
            </div>
          ))}
          {choices.length === 0 && <span className="quiet">{data === undefined ? 'Searching…' : 'Nothing found'}</span>}
        </div>
      )}
    </span>
  )
}
