/** Inputs of lists and objects, and of any JSON. */
import type { ReactNode } from 'react'
import { labelOf, type Schema } from '../interface/catalog.ts'
import type { JsonValue } from '../interface/records.ts'
import { pointerOf } from './draft.ts'
import { readJson } from './exact-json.ts'
import { firstMembers, firstValue, isObject, simplified } from './input-kind.ts'
import { common, placeholderOf } from './plain-inputs.tsx'
import { type InputProps, ValueInput } from './value-input.tsx'

/** What the inputs inside do not take over from their parent. */
const ofParent = { ariaLabel: undefined, describedBy: undefined, traits: undefined, allowed: undefined } as const

/** A list, each entry with an input of its own. */
export function ListInput(props: InputProps): ReactNode {
  const { id, label, schema, value, onChange, pointer, setText, disabled } = props
  const list: readonly JsonValue[] = Array.isArray(value) ? value : []
  const items = simplified(schema.items as Schema)
  return (
    <fieldset id={id} className="list-input" aria-label={label}>
      {list.map((each, index) => {
        const at = pointerOf(pointer, index)
        const name = `${label} ${index + 1}`
        return (
          <div key={at} className="row">
            <ValueInput
              {...props}
              {...ofParent}
              id={`${id}-${index}`}
              label={name}
              ariaLabel={name}
              schema={items}
              value={each}
              pointer={at}
              required={true}
              emptyText={true}
              onChange={(next) => {
                if (next === undefined) setText(at, { text: '', wrong: 'Write a value, or remove the entry.' })
                else onChange(list.with(index, next))
              }}
            />
            <button
              type="button"
              className="icon"
              aria-label={`Remove ${name}`}
              disabled={disabled}
              onClick={() => {
                // The entries after this one move.
                setText(pointer, undefined)
                onChange(list.toSpliced(index, 1))
              }}
            >
              ✕
            </button>
          </div>
        )
      })}
      <button
        type="button"
        disabled={disabled || list.length >= (schema.maxItems ?? Number.POSITIVE_INFINITY)}
        onClick={() => {
          onChange([...list, firstValue(items)])
          const entry = `#${CSS.escape(`${id}-${list.length}`)}`
          const inputs = `:is(${entry}, ${entry} *):is(input, select, textarea)`
          requestAnimationFrame(() => document.querySelector<HTMLElement>(inputs)?.focus())
        }}
      >
        Add to {label.toLowerCase()}
      </button>
    </fieldset>
  )
}

/** An object whose members are declared. Members that are not are edited together, as JSON. */
export function MembersInput(props: InputProps): ReactNode {
  const { id, label, schema, value, onChange, pointer, setText } = props
  const object = isObject(value) ? value : firstMembers(schema)
  const { properties = {}, additionalProperties, required } = schema
  const entries = Object.entries(object)
  const others = entries.filter(([name]) => !Object.hasOwn(properties, name))
  const input = (name: string, inner: Pick<InputProps, 'schema' | 'value' | 'onChange'>, isRequired: boolean) => (
    <div key={name} className="field">
      <div className="field-head">
        <label htmlFor={`${id}-${name}`}>{name === '' ? 'Other members' : labelOf(name)}</label>
        {isRequired && <span className="quiet">required</span>}
      </div>
      <ValueInput
        {...props}
        {...ofParent}
        {...inner}
        id={`${id}-${name}`}
        label={name === '' ? 'Other members' : labelOf(name)}
        pointer={pointerOf(pointer, name)}
        required={isRequired}
        emptyText={isRequired}
      />
    </div>
  )
  return (
    <fieldset id={id} className="object-input" aria-label={label}>
      {Object.entries(properties).map(([name, member]) =>
        input(
          name,
          {
            schema: member,
            value: object[name],
            onChange: (next) => {
              const rest = entries.filter(([each]) => each !== name)
              onChange(Object.fromEntries(next === undefined ? rest : [...rest, [name, next]]))
            },
          },
          required?.includes(name) ?? false,
        ),
      )}
      {(others.length > 0 || (additionalProperties !== false && additionalProperties !== undefined)) &&
        input(
          '',
          {
            schema: {},
            value: others.length === 0 ? undefined : Object.fromEntries(others),
            onChange: (next) => {
              if (next !== undefined && !isObject(next)) {
                setText(pointerOf(pointer, ''), { text: JSON.stringify(next), wrong: 'Write an object: {…}.' })
                return
              }
              const declared = entries.filter(([each]) => Object.hasOwn(properties, each))
              onChange(Object.fromEntries([...declared, ...Object.entries(next ?? {})]))
            },
          },
          false,
        )}
    </fieldset>
  )
}

/** Any value, as JSON. */
export function JsonInput(props: InputProps): ReactNode {
  const { value, onChange, texts, setText, pointer } = props
  const written = value === undefined || value === null ? '' : JSON.stringify(value, null, 2)
  const text = texts[pointer]?.text ?? written
  const change = (next: string) => {
    if (next.trim() === '' || next === written) {
      setText(pointer, undefined)
      onChange(next === written ? value : undefined)
      return
    }
    try {
      const read = readJson(next)
      setText(pointer, { text: next })
      onChange(read)
    } catch (error) {
      setText(pointer, { text: next, wrong: `This is not JSON: ${(error as Error).message}` })
    }
  }
  return (
    <textarea
      {...common(props)}
      className="json"
      rows={Math.min(16, Math.max(3, text.split('\n').length))}
      spellCheck={false}
      placeholder={placeholderOf(value)}
      value={text}
      onChange={({ target }) => change(target.value)}
    />
  )
}
