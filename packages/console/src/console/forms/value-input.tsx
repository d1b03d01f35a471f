/** The input of one value, with what is wrong with it. Whatever no better input fits is edited as JSON. */
import { type ComponentType, createElement, type ReactNode } from 'react'
import type { FieldTraits, Schema } from '../interface/catalog.ts'
import type { ProblemEntry } from '../interface/problem.ts'
import type { JsonValue } from '../interface/records.ts'
import { messagesAt, type Typed } from './draft.ts'
import { type InputKind, inputKind, simplified } from './input-kind.ts'
import { ChoiceInput, DateInput, MomentInput, NumberInput, TextInput, YesNoInput } from './plain-inputs.tsx'
import { ReferencePicker } from './reference-picker.tsx'
import { JsonInput, ListInput, MembersInput } from './structured-inputs.tsx'

export interface InputProps {
  /** The id of the input element, for its label. */
  readonly id: string
  readonly label: string
  /** The label for screen readers, if none is on the screen. */
  readonly ariaLabel?: string | undefined
  readonly schema: Schema
  readonly value: JsonValue | undefined
  /** @param value `undefined`: none */
  readonly onChange: (value: JsonValue | undefined) => void
  /** By JSON Pointer: what was typed where the value does not say it. */
  readonly texts: Readonly<Record<string, Typed>>
  readonly setText: (pointer: string, typed: Typed | undefined) => void
  readonly pointer: string
  /** Everything that the server found wrong. */
  readonly errors: readonly ProblemEntry[]
  readonly required: boolean
  /** Whether an emptied text is a text; otherwise there is no value then. */
  readonly emptyText: boolean
  readonly disabled?: boolean
  /** Ids of the elements that describe the input. */
  readonly describedBy?: string | undefined
  readonly invalid?: boolean
  readonly traits?: FieldTraits | undefined
  /** The allowed values now, where transitions restrict them. */
  readonly allowed?: readonly string[] | undefined
}

const inputs: Readonly<Record<InputKind, ComponentType<InputProps>>> = {
  choice: ChoiceInput,
  text: TextInput,
  decimal: TextInput,
  date: DateInput,
  moment: MomentInput,
  number: NumberInput,
  'yes-no': YesNoInput,
  list: ListInput,
  members: MembersInput,
  json: JsonInput,
}

export function ValueInput(props: InputProps): ReactNode {
  const { id, traits, value, texts, pointer, errors } = props
  const schema = simplified(props.schema)
  const kind = inputKind(schema, value)
  const isReference = traits?.reference !== undefined
  const wrong = texts[pointer]?.wrong
  const refused = messagesAt(errors, pointer, placesIn(kind, schema, value)).map((message) =>
    message.startsWith(`${pointer.slice(1)} `) ? props.label + message.slice(pointer.length - 1) : message,
  )
  const messages = [...new Set(wrong === undefined ? refused : [wrong, ...refused])]
  const describedBy = [`${id}-wrong`, props.describedBy].join(' ').trim()
  return (
    <div className={messages.length > 0 ? 'value invalid' : 'value'}>
      {createElement(isReference ? ReferenceInput : inputs[kind], {
        ...props,
        schema,
        describedBy,
        invalid: messages.length > 0,
      })}
      <div id={`${id}-wrong`} className="wrong" aria-live="polite">
        {messages.map((message) => (
          <p key={message}>{message}</p>
        ))}
      </div>
    </div>
  )
}

/** The steps to the values inside that have inputs of their own. */
function placesIn(
  kind: InputKind,
  { properties = {} }: Schema,
  value: JsonValue | undefined,
): readonly (string | number)[] {
  if (kind === 'members') return Object.keys(properties)
  return kind === 'list' && Array.isArray(value) ? value.map((_, index) => index) : []
}

function ReferenceInput({ traits, value, ...props }: InputProps): ReactNode {
  return (
    <ReferencePicker
      {...props}
      collection={traits?.reference ?? ''}
      mustRead={traits?.requires !== 'none'}
      value={value === null || value === undefined ? null : String(value)}
    />
  )
}
