/** Erases the former states of a record for good (HIS-4). */
import { type ReactNode, useState } from 'react'
import { useWorkplace } from '../deletion/deletion.ts'
import type { Collection } from '../interface/catalog.ts'
import { hasBin } from '../interface/connection.tsx'
import { Problem } from '../interface/problem.ts'
import { recordPath, refreshAll } from '../interface/records.ts'
import { WhyNot } from '../records/why-not.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { notify } from '../ui/notices.tsx'
import { ProblemView } from '../ui/problem-view.tsx'

interface Props {
  readonly collection: Collection
  readonly id: string
  readonly onClose: () => void
}

export function EraseDialog({ collection, id, onClose }: Props): ReactNode {
  const { connection, client } = useWorkplace()
  const [isSure, setSure] = useState(false)
  const [isRunning, setRunning] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const run = async () => {
    setRunning(true)
    setProblem(undefined)
    const query = new URLSearchParams(hasBin(connection, collection) ? { include_deleted: 'true' } : {})
    try {
      await connection.send({ method: 'DELETE', path: `${recordPath(collection.name, id)}/revisions`, query })
      onClose()
      notify('done', 'Erased the history.')
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      setRunning(false)
      setProblem(error)
    }
    await refreshAll(client, connection)
  }
  return (
    <Dialog
      title="Erase the history"
      onClose={onClose}
      closable={!isRunning}
      actions={
        <>
          <button type="button" disabled={isRunning} onClick={onClose}>
            Cancel
          </button>
          <button type="button" className="danger" disabled={isRunning || !isSure} onClick={() => void run()}>
            {isRunning ? 'Erasing…' : 'Erase'}
          </button>
        </>
      }
    >
      <p>Nobody can read the former states of this record any more. The present state stays.</p>
      {problem && <ProblemView problem={problem} again={() => void run()} />}
      {problem?.status === 403 && <WhyNot collection={collection} action="delete" />}
      <label className="check">
        <input type="checkbox" checked={isSure} onChange={() => setSure(!isSure)} /> I know that this cannot be undone
      </label>
    </Dialog>
  )
}
