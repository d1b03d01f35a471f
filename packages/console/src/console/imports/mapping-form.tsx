/** The first rows of a file, and which column becomes which field. */
import { type ReactNode, useEffect, useState } from 'react'
import { type Collection, fieldLabel } from '../interface/catalog.ts'
import { countOf } from '../ui/count-of.ts'
import { visible } from '../ui/value.tsx'
import type { ImportOptions } from './import-run.ts'
import { type EmptyCell, guessMapping, importableFields } from './mapping.ts'
import { recordsOf, type Source } from './source.ts'

interface Props {
  readonly collection: Collection
  readonly source: Source
  readonly onReopen: (chosen: { delimiter: string; encoding: string }) => void
  readonly onCancel: () => void
  readonly onStart: (chosen: Pick<ImportOptions, 'mapping' | 'empty' | 'total'>) => void
}

const delimiters = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' }
const encodings = { 'utf-8': 'UTF-8', 'windows-1252': 'Windows-1252', 'utf-16le': 'UTF-16', 'utf-16be': 'UTF-16 BE' }
const emptyCells = { omit: 'left out', null: 'null', text: 'empty text' }
const shownRows = 5
/** Columns after these are mapped by their names alone. */
const shownColumns = 200

export function MappingForm({ collection, source, onReopen, onCancel, onStart }: Props): ReactNode {
  const { file, format, delimiter, encoding, sample } = source
  const columns = source.columns.slice(0, shownColumns)
  const fields = importableFields(collection)
  const [mapping, setMapping] = useState(() => guessMapping(source.columns, fields))
  const [empty, setEmpty] = useState<EmptyCell>('omit')
  const { total, words } = useRecordCount(source)
  const mapped = new Set(mapping.values())
  const missing = fields.filter(({ name, required }) => required && !mapped.has(name))
  // A field has one column.
  const assign = (column: string, field: string) =>
    setMapping(new Map([...mapping].map(([each, old]) => [each, each === column ? field : old === field ? '' : old])))
  return (
    <>
      <p role="status">
        <bdi>{visible(file.name)}</bdi>: {words}
      </p>
      <div className="row">
        {format === 'csv' && (
          <>
            <Choice
              label="Cells are separated by"
              value={delimiter}
              options={delimiters}
              onChange={(value) => onReopen({ encoding, delimiter: value })}
            />
            <Choice label="Empty cells are" value={empty} options={emptyCells} onChange={(value) => setEmpty(value)} />
          </>
        )}
        <Choice
          label="Encoding"
          value={encoding}
          options={encodings}
          onChange={(value) => onReopen({ delimiter, encoding: value })}
        />
      </div>
      <div className="table-scroll">
        <table className="preview">
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  <bdi>{visible(column.slice(0, 60))}</bdi>
                  <select
                    aria-label={`Field of ${column}`}
                    value={mapping.get(column)}
                    onChange={({ target }) => assign(column, target.value)}
                  >
                    <option value="">Leave out</option>
                    {fields.map((field) => (
                      <option key={field.name} value={field.name}>
                        {fieldLabel(field)}
                        {field.required && ' *'}
                      </option>
                    ))}
                  </select>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {sample.slice(0, shownRows).map(({ line, values, wrong }) => (
              <tr key={line}>
                {wrong !== undefined ? (
                  <td colSpan={columns.length}>{`Line ${line}: ${wrong}`}</td>
                ) : (
                  columns.map((column) => <td key={column}>{shown(values.get(column))}</td>)
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {missing.length > 0 && (
        <p className="problem">Required, and without a column: {missing.map(fieldLabel).join(', ')}.</p>
      )}
      <div className="row">
        <button
          type="button"
          className="primary"
          disabled={mapped.size === (mapped.has('') ? 1 : 0)}
          onClick={() => onStart({ mapping, empty, total })}
        >
          Import
        </button>
        <button type="button" onClick={onCancel}>
          Choose another file
        </button>
      </div>
    </>
  )
}

function shown(value: unknown): ReactNode {
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value)
  return <bdi>{visible(text.length > 60 ? `${text.slice(0, 60)}…` : text)}</bdi>
}

/** Reads the whole file once: how many records it has, or why it cannot be read. */
function useRecordCount(source: Source): { readonly total?: number; readonly words: string } {
  const [count, setCount] = useState<ReturnType<typeof useRecordCount>>({ words: 'counting records…' })
  useEffect(() => {
    let isStale = false
    const run = async () => {
      let [records, wrong] = [0, 0]
      for await (const record of recordsOf(source)) {
        if (isStale) return
        if (record.wrong === undefined) records += 1
        else wrong += 1
      }
      const unreadable = wrong > 0 ? `, and ${wrong.toLocaleString()} that cannot be read` : ''
      setCount({ total: records + wrong, words: `${countOf(records, 'record')}${unreadable}.` })
    }
    run().catch((error: Error) => setCount({ words: error.message }))
    return () => {
      isStale = true
    }
  }, [source])
  return count
}

interface ChoiceProps<Name extends string> {
  readonly label: string
  readonly value: string
  readonly options: Readonly<Record<Name, string>>
  readonly onChange: (value: Name) => void
}

function Choice<Name extends string>({ label, value, options, onChange }: ChoiceProps<Name>): ReactNode {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={({ target }) => onChange(target.value as Name)}>
        {Object.entries<string>(options).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}
