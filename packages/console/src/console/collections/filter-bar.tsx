/** The filters of a view: each can be removed, and another one added for any field that the interface filters by. */
import { type FormEvent, type ReactNode, useState } from 'react'
import { momentOf } from '../forms/local-time.ts'
import { ReferencePicker } from '../forms/reference-picker.tsx'
import { type Collection, type Field, fieldLabel, typesOf } from '../interface/catalog.ts'
import { useRecordName } from '../interface/record-name.ts'
import { brief, formatTime } from '../ui/value.tsx'
import {
  type Filter,
  filterInput,
  filtersOf,
  offeredOperators,
  operatorLabel,
  parameterOf,
  takesList,
} from './filters.ts'
import { shortId } from './record-cell.tsx'

interface Props {
  readonly collection: Collection
  readonly view: URLSearchParams
  readonly onAdd: (filter: Filter) => void
  readonly onRemove: (filter: Filter) => void
}

export function FilterBar({ collection, view, onAdd, onRemove }: Props): ReactNode {
  // Neither until somebody has begun: a view does not take the focus when it is opened.
  const [isAdding, setAdding] = useState<boolean>()
  // People seldom have an id: it comes last.
  const filterable = collection.filters.toSorted(
    (one, other) => Number(one.name === 'id') - Number(other.name === 'id'),
  )
  if (filterable.length === 0) return null
  return (
    <div className="filters">
      {filtersOf(collection, view).map((filter) => (
        <FilterChip
          key={parameterOf(filter)}
          filter={filter}
          field={collection.field.get(filter.field) as Field}
          onRemove={() => onRemove(filter)}
        />
      ))}
      {isAdding ? (
        <FilterForm
          fields={filterable}
          onCancel={() => setAdding(false)}
          onAdd={(filter) => {
            setAdding(false)
            onAdd(filter)
          }}
        />
      ) : (
        <button type="button" ref={isAdding === false ? takeFocus : null} onClick={() => setAdding(true)}>
          Add filter
        </button>
      )}
    </div>
  )
}

/** Gives the focus to what takes the place of what had it. */
function takeFocus(element: HTMLElement | null): void {
  element?.focus()
}

interface ChipProps {
  readonly filter: Filter
  readonly field: Field
  readonly onRemove: () => void
}

function FilterChip({ filter: { operator, values }, field, onRemove }: ChipProps): ReactNode {
  const [id] = field.reference !== undefined && operator !== 'null' && values.length === 1 ? values : []
  const name = useRecordName(field.reference ?? '', id)
  const texts = operator === 'null' ? [] : values.map((value) => name ?? textOf(value, operator, field))
  const isNot = operator === 'null' && values.includes('false')
  return (
    <span className="chip">
      {fieldLabel(field)} {isNot ? 'is not null' : operatorLabel(operator, field)}{' '}
      {texts.length > 0 && <bdi>{brief(texts.join(' or '))}</bdi>}
      <button type="button" className="icon" aria-label={`Remove the filter ${fieldLabel(field)}`} onClick={onRemove}>
        ✕
      </button>
    </span>
  )
}

function textOf(value: string, operator: string, { schema, reference }: Field): string {
  if (takesList(operator)) return value.replaceAll(',', ', ')
  if (typesOf(schema).includes('boolean')) return value === 'true' ? 'yes' : 'no'
  return schema.format === 'date-time' ? formatTime(value) : reference === undefined ? value : shortId(value)
}

interface FormProps {
  readonly fields: readonly Field[]
  readonly onAdd: (filter: Filter) => void
  readonly onCancel: () => void
}

function FilterForm({ fields, onAdd, onCancel }: FormProps): ReactNode {
  const [name, setName] = useState(fields[0]?.name ?? '')
  const field = fields.find((each) => each.name === name) ?? (fields[0] as Field)
  const operators = offeredOperators(field)
  const [chosen, setOperator] = useState('eq')
  const operator = operators.includes(chosen) ? chosen : (operators[0] ?? 'eq')
  const input = filterInput(operator, field)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const typed = new FormData(event.currentTarget).getAll('value').map(String)
    // A moment is typed in the reader's time zone, and sent in UTC.
    const values = typed.map((value) => (input === 'datetime-local' ? momentOf(value) : value) ?? '').filter(Boolean)
    if (values.length > 0) return onAdd({ field: field.name, operator, values })
    const choice = event.currentTarget.querySelector('input')
    choice?.setCustomValidity('Choose a value.')
    choice?.reportValidity()
    choice?.setCustomValidity('')
  }
  return (
    <form
      className="chip"
      onSubmit={submit}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onCancel()
      }}
    >
      <select ref={takeFocus} aria-label="Field" value={name} onChange={(event) => setName(event.target.value)}>
        {fields.map((each) => (
          <option key={each.name} value={each.name}>
            {fieldLabel(each)}
          </option>
        ))}
      </select>
      <select aria-label="Condition" value={operator} onChange={(event) => setOperator(event.target.value)}>
        {operators.map((each) => (
          <option key={each} value={each}>
            {operatorLabel(each, field)}
          </option>
        ))}
      </select>
      <FilterValue key={`${name} ${operator}`} operator={operator} field={field} />
      <button type="submit" className="primary">
        Apply
      </button>
      <button type="button" onClick={onCancel}>
        Cancel
      </button>
    </form>
  )
}

function FilterValue({ operator, field }: { readonly operator: string; readonly field: Field }): ReactNode {
  const { schema } = field
  const [reference, setReference] = useState<string>()
  const input = filterInput(operator, field)
  if (input === 'reference') {
    return (
      <>
        <ReferencePicker
          collection={field.reference ?? ''}
          label="Value"
          value={reference ?? null}
          onChange={setReference}
        />
        <input type="hidden" name="value" value={reference ?? ''} />
      </>
    )
  }
  if (input === 'yes-no') {
    return (
      <select name="value" aria-label="Value">
        <option value="true">yes</option>
        <option value="false">no</option>
      </select>
    )
  }
  if (input === 'choices') {
    const values = (schema.enum ?? []).filter((each) => each !== null).map(String)
    return values.map((each) => (
      <label key={each} className="check">
        <input type="checkbox" name="value" value={each} /> {each}
      </label>
    ))
  }
  const isNumber =
    schema.format === 'decimal' || typesOf(schema).some((type) => type === 'integer' || type === 'number')
  return (
    <input
      name="value"
      aria-label="Value"
      type={input}
      step={input === 'datetime-local' ? 0.001 : undefined}
      inputMode={isNumber && !takesList(operator) ? 'decimal' : undefined}
      placeholder={takesList(operator) ? 'values, separated by commas' : undefined}
      autoComplete="off"
      required
    />
  )
}
