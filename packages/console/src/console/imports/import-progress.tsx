/** An import in progress or ended: counts, pauses, and the lines that were refused. */
import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { ProblemView } from '../ui/problem-view.tsx'
import { saveFile } from '../ui/save-file.ts'
import { SmallTable } from '../ui/small-table.tsx'
import { visible } from '../ui/value.tsx'
import { failedFile } from './failed-file.ts'
import type { ImportRun } from './import-run.ts'

/** The most refused lines that are shown; the file has all. */
const shownFailures = 100

interface Props {
  readonly run: ImportRun
  readonly onLeave: () => void
}

const words = { running: 'Importing…', paused: 'Paused', stopped: 'Stopped', ended: 'Done' }

export function ImportProgress({ run, onLeave }: Props): ReactNode {
  const { status, created, refused, problem } = useSyncExternalStore(run.state.subscribe, run.state.current)
  const { collection, source, total } = run.options
  const isOver = status === 'ended' || status === 'stopped'
  useEffect(() => {
    if (isOver) return undefined
    const warn = (event: Event) => event.preventDefault()
    addEventListener('beforeunload', warn)
    return () => removeEventListener('beforeunload', warn)
  }, [isOver])
  return (
    <>
      <div className="card">
        <p>
          <strong role="status">{words[status]}</strong> <bdi>{visible(source.file.name)}</bdi>:{' '}
          {created.toLocaleString()} created, {refused.toLocaleString()} refused.{' '}
        </p>
        {total !== undefined && !isOver && (
          <p>
            <progress aria-label="Progress" max={total} value={created + refused} /> of {total.toLocaleString()} records
          </p>
        )}
        {problem !== undefined && <ProblemView problem={problem} />}
        {status === 'stopped' && (
          <p className="quiet">
            Import the same file again within a day to go on: lines that are created are not created twice.
          </p>
        )}
        <div className="row">
          {status === 'running' && (
            <button type="button" onClick={() => run.pause()}>
              Pause
            </button>
          )}
          {status === 'paused' && (
            <button type="button" className="primary" onClick={() => run.goOn()}>
              Go on
            </button>
          )}
          {!isOver && (
            <button type="button" className="danger" onClick={() => run.stop()}>
              Stop
            </button>
          )}
          {isOver && (
            <>
              <a className="button primary" href={`#/${collection.name}?sort=-created_at`}>
                See the records
              </a>
              <button type="button" onClick={onLeave}>
                Import another file
              </button>
            </>
          )}
          {refused > 0 && (
            <button type="button" onClick={() => saveFile(...failedFile(source, run.failures))}>
              Save the refused lines
            </button>
          )}
        </div>
      </div>
      {refused > 0 && (
        <>
          <h2>Refused</h2>
          <p className="quiet">
            Correct these lines in the file that “Save the refused lines” gives you, then import that file.
            {refused > shownFailures && ` The first ${shownFailures} are shown.`}
          </p>
          <SmallTable titles={['Line', 'What is wrong']}>
            {run.failures.slice(0, shownFailures).map(({ record, errors }) => (
              <tr key={record.line}>
                <td>{record.line}</td>
                <td>
                  {errors.map(({ message, pointer }) => (
                    <div key={`${pointer} ${message}`}>
                      {pointer && !message.startsWith(`${pointer.slice(1)} `) && <code>{pointer}</code>} {message}
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </SmallTable>
        </>
      )}
    </>
  )
}
