/** The dialog of every deletion: what goes along, what stands in the way, until when it can be undone, and then it. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { ReferenceLink } from '../collections/record-cell.tsx'
import { type Collection, labelOf } from '../interface/catalog.ts'
import { grantOf } from '../interface/connection.tsx'
import { Problem } from '../interface/problem.ts'
import { refreshAll } from '../interface/records.ts'
import type { ApiResponse } from '../interface/send.ts'
import { WhyNot } from '../records/why-not.tsx'
import { countOf } from '../ui/count-of.ts'
import { Dialog } from '../ui/dialog.tsx'
import type { NoticeAction } from '../ui/notices.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { formatTime, visible } from '../ui/value.tsx'
import { type Blocker, isFinal, noteOutcome, type Preview, useWorkplace } from './deletion.ts'

interface Props {
  readonly title: string
  readonly collection: Collection
  /** What is deleted: the preview is loaded again when it changes. */
  readonly about: readonly unknown[]
  /** How many records are asked for; `undefined`: the one that is open. */
  readonly count?: number
  /** @returns `null` if there is no preview */
  readonly look: () => Promise<Preview | null>
  readonly remove: () => Promise<ApiResponse>
  /** The button of the notice at the end. */
  readonly action: NoticeAction | undefined
  readonly onClose: (isDone: boolean) => void
  /** Takes out records that are blocked, with the reasons. */
  readonly onLeaveOut?: (blocked: ReadonlyMap<string, string>) => void
  readonly children?: ReactNode
}

export function DeletionDialog({ title, collection, about, count, look, remove, ...rest }: Props): ReactNode {
  const { action, onClose, onLeaveOut, children } = rest
  const workplace = useWorkplace()
  const { connection, client } = workplace
  const [isSure, setSure] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const { data, error, refetch } = useQuery<Preview | null, Problem>({
    ...{ queryKey: ['deletion', connection.version.name, collection.name, ...about], queryFn: look },
    ...{ enabled: !isRunning, gcTime: 0, staleTime: Number.POSITIVE_INFINITY },
  })
  const preview = error === null ? data : null
  const blockers: readonly Blocker[] = (problem?.status === 409 ? problem.errors : preview?.blocked_by) ?? []
  const blocked = new Map(blockers.flatMap(({ blocked: id, code }) => (id === undefined ? [] : [[id, code] as const])))
  const isStale = problem?.status === 412
  const failure = blockers.length === 0 && !isStale ? (problem ?? error) : null
  const isPossible = preview?.allowed !== false && !isStale && failure?.status !== 403
  const { deletion } = collection
  const final = isFinal(connection, collection, preview)
  const until = preview?.purged_at ?? new Date(Date.now() + 1_000 * (deletion?.grace_period ?? 0)).toISOString()
  const again = () => {
    setProblem(undefined)
    void refetch()
  }
  const run = async () => {
    setRunning(true)
    setProblem(undefined)
    try {
      const response = await remove()
      onClose(true)
      const { deleted_count: gone = count } = (response.body ?? {}) as { readonly deleted_count?: number }
      const done = gone === undefined ? 'Deleted.' : `Deleted ${records(gone)}.`
      await noteOutcome(workplace, response, { ...words, done }, action)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      setRunning(false)
      setProblem(error)
      void refetch()
      void refreshAll(client, connection)
    }
  }
  return (
    <Dialog
      title={title}
      onClose={() => onClose(false)}
      closable={!isRunning}
      actions={
        <>
          <button type="button" disabled={isRunning} onClick={() => onClose(false)}>
            {isStale ? 'Look at it' : 'Cancel'}
          </button>
          <button
            type="button"
            className="danger"
            disabled={!isPossible || isRunning || preview === undefined || (final && !isSure)}
            onClick={() => void run()}
          >
            {isRunning ? 'Deleting…' : count === undefined ? 'Delete' : `Delete ${records(count)}`}
          </button>
        </>
      }
    >
      {preview === undefined && <p className="quiet">Checking what else is deleted…</p>}
      {preview === null && <p className="quiet">There is no preview of this deletion.</p>}
      {preview && <Effects preview={preview} />}
      {children}
      {isStale && (
        <p className="problem" role="alert">
          Somebody has changed this record since you opened it. Nothing was deleted.
        </p>
      )}
      {blockers.length > 0 && (
        <div className="problem" role="alert">
          <p>
            <strong>Something stands in the way:</strong>
          </p>
          <ul>
            {blockers.map(({ message, collection: from = '', ids = [], count: all = 0, blocked: id }) => (
              <li key={`${id} ${message}`}>
                {id !== undefined && <ReferenceLink collection={collection.name} id={id} />} {visible(message)}
                {ids.map((each) => (
                  <span key={each}>
                    {' '}
                    <ReferenceLink collection={from} id={each} />
                  </span>
                ))}
                {ids.length > 0 && all > ids.length && ` and ${(all - ids.length).toLocaleString()} more`}
              </li>
            ))}
          </ul>
          <p className="row">
            {onLeaveOut !== undefined && blocked.size > 0 && blocked.size < (count ?? 0) && (
              <button
                type="button"
                onClick={() => {
                  setProblem(undefined)
                  onLeaveOut(blocked)
                }}
              >
                Leave {records(blocked.size)} out
              </button>
            )}
            <button type="button" onClick={again}>
              Check again
            </button>
          </p>
        </div>
      )}
      {failure && <ProblemView problem={failure} again={again} />}
      {failure?.status === 403 && <WhyNot collection={collection} action="delete" />}
      {isPossible && deletion?.restorable && (
        <p className="quiet">
          Can be restored until {formatTime(until)}
          {grantOf(connection, collection.name, 'restore') === 'none' && ', but not by you'}.
        </p>
      )}
      {isPossible && final && (
        <label className="check">
          <input type="checkbox" checked={isSure} onChange={() => setSure(!isSure)} /> I know that{' '}
          {deletion?.restorable ? 'not all of this can' : 'this cannot'} be undone
        </label>
      )}
    </Dialog>
  )
}

const words = { doing: 'A background job is deleting the records.', failed: 'The deletion failed.' }

const records = (count: number) => countOf(count, 'record')

function Effects({ preview: { allowed, deletes, clears, complete } }: { readonly preview: Preview }): ReactNode {
  const { catalog } = useWorkplace().connection
  const least = complete ? '' : 'at least '
  return (
    <ul>
      {[...deletes, ...clears].map(({ collection, count, ...cleared }) => (
        <li key={`${collection} ${'field' in cleared}`}>
          {'field' in cleared
            ? `${allowed ? 'Clears' : 'Would clear'} ${labelOf(String(cleared.field).replace(/_id$/, ''))} in `
            : `${allowed ? 'Deletes' : 'Would delete'} `}
          {least}
          <strong>{records(count)}</strong> of {labelOf(collection)}
          {!('field' in cleared) && catalog.collections.get(collection)?.deletion?.variant === 'hard' && ', for good'}
        </li>
      ))}
    </ul>
  )
}
