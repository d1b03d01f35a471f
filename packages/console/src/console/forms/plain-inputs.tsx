/** Inputs of texts, dates, numbers, truth values and choices. */
import { type ReactNode, useState } from 'react'
import { typesOf } from '../interface/catalog.ts'
import { readNumber } from './exact-json.ts'
import { localTime, momentOf } from './local-time.ts'
import type { InputProps } from './value-input.tsx'

/** The number of characters from which a text has a field of several lines. */
const longFrom = 200

type Attributes = Pick<InputProps, 'id' | 'ariaLabel' | 'disabled' | 'invalid' | 'describedBy' | 'required'>

/** The attributes that every input element has. */
export function common({ id, ariaLabel, disabled, invalid, describedBy, required }: Attributes) {
  return {
    id,
    disabled,
    'aria-label': ariaLabel,
    'aria-invalid': invalid || undefined,
    'aria-describedby': describedBy,
    'aria-required': required || undefined,
  }
}

/** What an input shows in place of no value. */
export function placeholderOf(value: unknown): string | undefined {
  return value === null ? 'null' : value === '' ? 'empty text' : undefined
}

export function TextInput(props: InputProps): ReactNode {
  const { schema, value, onChange, emptyText } = props
  const { format, maxLength = longFrom + 1, pattern } = schema
  const text = typeof value === 'string' ? value : ''
  const needsLines = text.includes('\n') || (maxLength > longFrom && format === undefined && pattern === undefined)
  // Stays as it is while somebody types: another element would lose the cursor.
  const [hasLines, setHasLines] = useState(needsLines)
  if (needsLines && !hasLines) setHasLines(true)
  const attributes = {
    ...common(props),
    value: text,
    placeholder: placeholderOf(value),
    dir: 'auto',
    onChange: ({ target }: { readonly target: { readonly value: string } }) => {
      // Elements of several lines have line feeds alone.
      const next = text.includes('\r\n') ? target.value.replaceAll(/\r?\n/g, '\r\n') : target.value
      onChange(next === '' && !emptyText ? undefined : next)
    },
  }
  if (hasLines)
    return (
      <textarea
        {...attributes}
        rows={Math.min(12, Math.max(props.ariaLabel === undefined ? 2 : 1, text.split('\n').length))}
      />
    )
  const type = format === 'email' ? 'email' : format === 'uri' ? 'url' : 'text'
  return (
    <input {...attributes} type={type} inputMode={format === 'decimal' ? 'decimal' : undefined} autoComplete="off" />
  )
}

export function DateInput(props: InputProps): ReactNode {
  const { value, onChange } = props
  return (
    <input
      {...common(props)}
      type="date"
      value={String(value ?? '')}
      onChange={({ target }) => onChange(target.value || undefined)}
    />
  )
}

/** A moment in the reader's time zone; sent in UTC. */
export function MomentInput(props: InputProps): ReactNode {
  const { value, onChange } = props
  const moment = typeof value === 'string' ? value : undefined
  const [before] = useState(moment)
  return (
    <input
      {...common(props)}
      type="datetime-local"
      step="0.001"
      value={(moment && localTime(moment)) ?? ''}
      onChange={({ target }) => onChange(momentOf(target.value, before))}
    />
  )
}

/** A number is a text until it can be read as one, so that half of it is not lost. */
export function NumberInput(props: InputProps): ReactNode {
  const { schema, value, onChange, texts, setText, pointer } = props
  const change = (text: string) => {
    const number = readNumber(text.trim())
    const isEmpty = text.trim() === ''
    const wrong = /^-?\d+$/.test(text.trim())
      ? 'This number is too large to be kept exactly.'
      : 'Write a number that can be kept exactly, such as 12 or 0.5.'
    setText(pointer, isEmpty || String(number) === text ? undefined : number === undefined ? { text, wrong } : { text })
    if (isEmpty || number !== undefined) onChange(number)
  }
  return (
    <input
      {...common(props)}
      inputMode={typesOf(schema).includes('integer') ? 'numeric' : 'decimal'}
      autoComplete="off"
      placeholder={placeholderOf(value)}
      value={texts[pointer]?.text ?? String(value ?? '')}
      onChange={({ target }) => change(target.value)}
    />
  )
}

export function YesNoInput(props: InputProps): ReactNode {
  return <ChoiceInput {...props} schema={{ enum: [true, false] }} />
}

export function ChoiceInput(props: InputProps): ReactNode {
  const { schema, value, onChange, allowed, required } = props
  const values = (schema.enum ?? []).filter((each) => each !== null) as (string | number | boolean)[]
  const isAllowed = (each: unknown) => allowed === undefined || allowed.includes(String(each))
  const chosen = values.indexOf(value as string)
  return (
    <select {...common(props)} value={chosen} onChange={({ target }) => onChange(values[Number(target.value)])}>
      <option value={-1} disabled={chosen !== -1 && (required || allowed !== undefined)}>
        {value === null ? 'null' : required ? 'Choose…' : 'not set'}
      </option>
      {values.map((each, index) => (
        <option key={String(each)} value={index} disabled={!isAllowed(each)}>
          {typeof each === 'boolean' ? (each ? 'yes' : 'no') : String(each)}
          {isAllowed(each) ? '' : ' (not from here)'}
        </option>
      ))}
    </select>
  )
}
