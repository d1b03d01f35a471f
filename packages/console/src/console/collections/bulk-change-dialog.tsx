/** Changes one field of the selected records, or of all that match the filters: of all of them, or of none. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useId, useState } from 'react'
import { noteOutcome, useWorkplace } from '../deletion/deletion.ts'
import { draftKey, emptyDraft, keepDraft, useDraft } from '../forms/draft.ts'
import { RecordForm } from '../forms/record-form.tsx'
import { type Collection, fieldLabel, labelOf } from '../interface/catalog.ts'
import { Problem } from '../interface/problem.ts'
import { refreshAll } from '../interface/records.ts'
import { WhyNot } from '../records/why-not.tsx'
import { countOf } from '../ui/count-of.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { visible } from '../ui/value.tsx'
import { changeMatching, changeSelected, commonFields, countedIn, countMatching, refusalOf } from './bulk-change.ts'
import { ReferenceLink } from './record-cell.tsx'

interface Props {
  readonly collection: Collection
  /** The selected records; none: all that match the view's filters. */
  readonly ids: readonly string[]
  readonly view: URLSearchParams
  /** @param left the selected records that were not changed */
  readonly onClose: (left: readonly string[]) => void
}

export function BulkChangeDialog({ collection, ids, view, onClose }: Props): ReactNode {
  const workplace = useWorkplace()
  const { connection, client } = workplace
  const selectId = useId()
  const key = draftKey(connection.version.name, collection.name, '*')
  const handle = useDraft(key)
  useEffect(() => () => keepDraft(key, emptyDraft), [key])
  const [name, setName] = useState('')
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set())
  const [problem, setProblem] = useState<Problem>()
  const [isRunning, setRunning] = useState(false)
  const isMatching = ids.length === 0
  const wanted = ids.filter((id) => !leftOut.has(id))
  const matching = useQuery<number, Problem>({
    queryKey: ['bulk-change', connection.version.name, collection.name, view.toString()],
    queryFn: () => countMatching(connection, collection, view),
    ...{ enabled: isMatching, gcTime: 0, staleTime: Number.POSITIVE_INFINITY },
  })
  const count = isMatching ? ((problem && countedIn(problem)) ?? matching.data) : wanted.length
  const most = isMatching ? Number.POSITIVE_INFINITY : collection.updates?.bulk || 0
  const fields = commonFields(collection, connection.caller)
  const field = fields.find((each) => each.name === name)
  const value = handle.draft.values[name]
  const { ofValue, ofRecords } = problem ? refusalOf(problem, wanted, name) : nothing
  const choose = (next: string) => {
    handle.clear()
    setProblem(undefined)
    setName(next)
  }
  const run = async () => {
    if (value === undefined || count === undefined) return
    setRunning(true)
    setProblem(undefined)
    try {
      const values = { [name]: value }
      const response = isMatching
        ? await changeMatching(connection, collection, { view, most: count, values })
        : await changeSelected(connection, collection, wanted, values)
      onClose(ids.filter((id) => leftOut.has(id)))
      const { updated_count: changed = count } = Object(response.body)
      await noteOutcome(workplace, response, { ...words, done: `Changed ${countOf(changed, 'record')}.` })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      setRunning(false)
      setProblem(error)
      void refreshAll(client, connection)
    }
  }
  const failure = problem ?? matching.error
  return (
    <Dialog
      title={isMatching ? `Change all ${labelOf(collection.name)} that match` : `Change ${labelOf(collection.name)}`}
      onClose={() => onClose(ids)}
      closable={!isRunning}
    >
      <p role="status">
        {count === undefined ? (
          matching.error === null && 'Counting…'
        ) : (
          <>
            <strong>{countOf(count, 'record')}</strong>
            {count <= most
              ? ': all of them are changed, or none.'
              : `: at most ${most.toLocaleString()} can be changed at once. Select fewer.`}
          </>
        )}
      </p>
      {count !== undefined && count > 0 && count <= most && (
        <p className="row">
          <label htmlFor={selectId}>Field</label>
          <select id={selectId} value={name} onChange={({ target }) => choose(target.value)}>
            <option value="" disabled>
              Choose…
            </option>
            {fields.map((each) => (
              <option key={each.name} value={each.name}>
                {fieldLabel(each)}
              </option>
            ))}
          </select>
        </p>
      )}
      {ofRecords.length > 0 && (
        <div className="problem" role="alert">
          <p>
            <strong>Nothing was changed. These records stand in the way:</strong>
          </p>
          <ul>
            {ofRecords.map(({ id, message }) => (
              <li key={`${id} ${message}`}>
                <ReferenceLink collection={collection.name} id={id} />: {visible(message)}
              </li>
            ))}
          </ul>
          {(problem?.errorCount ?? 0) > ofRecords.length && (
            <p>{countOf((problem?.errorCount ?? 0) - ofRecords.length, 'error')} more.</p>
          )}
          <LeaveOut
            blocked={new Set(ofRecords.map(({ id }) => id))}
            count={wanted.length}
            onLeaveOut={(blocked) => {
              setProblem(undefined)
              setLeftOut(new Set([...leftOut, ...blocked]))
            }}
          />
        </div>
      )}
      {failure && ofRecords.length === 0 && ofValue.length === 0 && <ProblemView problem={failure} />}
      {failure?.status === 403 && <WhyNot collection={collection} action="update" />}
      {field !== undefined && count !== undefined && (
        <RecordForm
          key={name}
          collection={collection}
          fields={[field]}
          base={{}}
          handle={handle}
          errors={ofValue}
          exists={true}
          onSubmit={() => void run()}
        >
          <div className="row form-actions">
            <button type="submit" className="primary" disabled={isRunning || value === undefined}>
              {isRunning ? 'Changing…' : `Change ${countOf(count, 'record')}`}
            </button>
            <button type="button" disabled={isRunning} onClick={() => onClose(ids)}>
              Cancel
            </button>
          </div>
        </RecordForm>
      )}
    </Dialog>
  )
}

const nothing: ReturnType<typeof refusalOf> = { ofValue: [], ofRecords: [] }
const words = { doing: 'A background job is changing the records.', failed: 'The change failed.' }

interface LeaveOutProps {
  readonly blocked: ReadonlySet<string>
  /** How many records are to be changed. */
  readonly count: number
  readonly onLeaveOut: (blocked: ReadonlySet<string>) => void
}

function LeaveOut({ blocked, count, onLeaveOut }: LeaveOutProps): ReactNode {
  if (blocked.size >= count) return null
  return (
    <button type="button" onClick={() => onLeaveOut(blocked)}>
      Leave {countOf(blocked.size, 'record')} out
    </button>
  )
}
