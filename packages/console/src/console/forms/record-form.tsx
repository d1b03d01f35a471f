/** The form of a record, made from its schema: every field that can be sent, with what is wrong beside it. */
import { type FormEvent, type ReactNode, useEffect, useId, useRef } from 'react'
import { type Collection, type Field, fieldLabel, labelOf, typesOf } from '../interface/catalog.ts'
import type { Caller } from '../interface/connection.tsx'
import { own } from '../interface/own.ts'
import type { ProblemEntry } from '../interface/problem.ts'
import type { JsonValue } from '../interface/records.ts'
import { visible } from '../ui/value.tsx'
import { type DraftHandle, hasUnreadable, isWithin, pointerOf, type Values } from './draft.ts'
import { ValueInput } from './value-input.tsx'

/** The fields that the caller may send; administrators also send the owner (AUT-7). */
export function sentFields({ fields, owner }: Collection, { roles }: Caller): readonly Field[] {
  const maySend = ({ name, input, read_only }: Field) =>
    input !== undefined && (read_only !== true || (name === owner && roles.includes('admin')))
  return fields.filter(maySend)
}

interface Props {
  readonly collection: Collection
  readonly fields: readonly Field[]
  /** The values that the form begins with. */
  readonly base: Values
  readonly handle: DraftHandle
  readonly errors: readonly ProblemEntry[]
  /** Whether the record exists: fixed fields cannot be changed any more, and transitions apply. */
  readonly exists: boolean
  readonly onSubmit: () => void
  readonly children: ReactNode
}

export function RecordForm({ collection, fields, errors, onSubmit, children, ...rest }: Props): ReactNode {
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => {
    if (errors.length > 0) focusFirst(form.current)
  }, [errors])
  const elsewhere = errors.filter(({ pointer }) => !fields.some(({ name }) => isWithin(pointer, pointerOf('', name))))
  const isWrong = ({ name }: Field) => errors.some(({ pointer }) => isWithin(pointer, pointerOf('', name)))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    // Half a date is no value, and no event says that it was typed.
    const elements = [...event.currentTarget.elements] as HTMLInputElement[]
    const incomplete = elements.find(({ validity }) => validity?.badInput)
    if (incomplete !== undefined) incomplete.reportValidity()
    else if (hasUnreadable(rest.handle.draft)) focusFirst(form.current)
    else onSubmit()
  }
  return (
    <form ref={form} className="record-form" onSubmit={submit} noValidate aria-label={labelOf(collection.name)}>
      {errors.length > 0 && (
        <div className="problem" role="alert">
          <p className="row">
            Nothing was saved.
            {fields.some(isWrong) && ' Correct:'}
            {fields.map(
              (field, index) =>
                isWrong(field) && (
                  <button
                    key={field.name}
                    type="button"
                    className="plain"
                    aria-label={`Go to ${fieldLabel(field)}`}
                    onClick={() => focusFirst(form.current?.querySelectorAll(':scope > .field')[index])}
                  >
                    {fieldLabel(field)}
                  </button>
                ),
            )}
          </p>
          {elsewhere.map(({ code, pointer, message }) => (
            <p key={`${code} ${pointer}`}>{message}</p>
          ))}
        </div>
      )}
      {fields.map((field) => (
        <FieldRow key={field.name} field={field} errors={errors} {...rest} />
      ))}
      {children}
    </form>
  )
}

function focusFirst(form: Element | null | undefined): void {
  form?.querySelector('.invalid')?.querySelector<HTMLElement>('input, select, textarea, button')?.focus()
}

type RowProps = Pick<Props, 'base' | 'handle' | 'errors' | 'exists'> & { readonly field: Field }

function FieldRow({ field, base, handle, errors, exists }: RowProps): ReactNode {
  const id = useId()
  const { name, input = {}, schema, required, immutable, transitions } = field
  const { values, texts } = handle.draft
  const before = own(base, name)
  const value = Object.hasOwn(values, name) ? values[name] : before
  const isFixed = exists && immutable === true
  const pointer = pointerOf('', name)
  const label = fieldLabel(field)
  // Of a new record, everything is new.
  const isChanged =
    exists && (Object.hasOwn(values, name) || Object.keys(texts).some((each) => isWithin(each, pointer)))
  const mayBeNull = exists && !isFixed && typesOf(schema).includes('null')
  const allowed =
    exists && transitions !== undefined && typeof before === 'string'
      ? [before, ...(transitions[before] ?? [])]
      : undefined
  const set = (next: JsonValue | undefined) => handle.set(name, next, before)
  const replace = (next: JsonValue | undefined) => {
    handle.setText(pointer, undefined)
    set(next)
  }
  const button = (text: string, says: string, onClick: () => void) => (
    <button type="button" className="plain" title={says} aria-label={says} onClick={onClick}>
      {text}
    </button>
  )
  return (
    <div className={isChanged ? 'field changed' : 'field'}>
      <div className="field-head">
        <label htmlFor={id}>{label}</label>
        {required && <span className="quiet">required</span>}
        {mayBeNull && value !== null && button('null', `Set ${label} to null`, () => replace(null))}
        {mayBeNull &&
          value === null &&
          input.type?.includes('string') &&
          input.format === undefined &&
          input.enum === undefined &&
          button('empty', `Set ${label} to an empty text`, () => replace(''))}
        {isChanged && button('Undo', `Undo the change of ${label}`, () => replace(before))}
      </div>
      <ValueInput
        id={id}
        label={label}
        schema={{ ...schema, ...input }}
        traits={field}
        value={value}
        // A field that has no value is null; one that nobody can read, or that a new record has not got, is left out.
        onChange={(next) => set(next === undefined && exists && before !== undefined ? null : next)}
        texts={texts}
        setText={handle.setText}
        pointer={pointer}
        errors={errors}
        required={required}
        emptyText={required || before === ''}
        disabled={isFixed}
        describedBy={`${id}-note`}
        allowed={allowed}
      />
      <div id={`${id}-note`} className="field-note quiet">
        {notesOf(field, value)}
      </div>
    </div>
  )
}

function notesOf({ schema, input = {}, write_only, reference }: Field, value: JsonValue | undefined): string {
  const { description, format, maxLength = Number.POSITIVE_INFINITY } = { ...schema, ...input }
  const text = typeof value === 'string' ? value : ''
  const beginning = text.slice(0, 10_000)
  const notes = [
    // People choose a record by its name, and see no id.
    description?.replace(`The id of one of the ${reference}.`, '').trim() || undefined,
    write_only && 'Nobody can read this field; what you type replaces it.',
    format === 'date-time' && `In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`,
    text.length > maxLength * 0.8 &&
      `${text.length.toLocaleString()} of at most ${maxLength.toLocaleString()} characters.`,
    visible(beginning) !== beginning && 'It contains characters that cannot be seen.',
  ]
  return notes.filter((note) => typeof note === 'string').join(' ')
}
