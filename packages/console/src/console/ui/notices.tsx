/** Short messages about what has happened, announced to screen readers too. */
import { type ReactNode, useEffect, useReducer, useSyncExternalStore } from 'react'
import { pauses } from '../interface/pauses.ts'
import { makeStore } from '../interface/store.ts'
import { visible } from './value.tsx'

interface Notice {
  readonly number: number
  readonly kind: 'done' | 'failed' | 'waiting'
  readonly text: string
  readonly action?: NoticeAction
}

/** A button beside a notice, such as "Undo". */
export interface NoticeAction {
  readonly label: string
  readonly run: () => void
}

const shownFor = 8_000
const notices = makeStore<readonly Notice[]>([])
let count = 0

export function notify(kind: Notice['kind'], text: string, action?: NoticeAction): () => void {
  count += 1
  const notice: Notice = { number: count, kind, text, ...(action && { action }) }
  notices.set([...notices.current(), notice])
  const remove = () => dismiss(notice.number)
  if (kind === 'done') setTimeout(remove, shownFor)
  return remove
}

export function Notices(): ReactNode {
  const shown = useSyncExternalStore(notices.subscribe, notices.current)
  return (
    <div className="notices" role="status" aria-live="polite">
      <PauseNotice />
      {shown.map(({ number, kind, text, action }) => (
        <div key={number} className={`notice ${kind}`}>
          <span>{text}</span>
          {action !== undefined && (
            <button
              type="button"
              onClick={() => {
                dismiss(number)
                action.run()
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" className="icon" aria-label="Dismiss" onClick={() => dismiss(number)}>
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}

/** One notice for all requests that wait. Only its reason is announced, not each second. */
function PauseNotice(): ReactNode {
  const pause = useSyncExternalStore(pauses.subscribe, pauses.current)
  const [, tick] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    const timer = pause && setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [pause])
  if (pause === undefined) return null
  return (
    <div className="notice waiting">
      <span>
        {visible(pause.reason)}
        <span aria-hidden="true">: continuing in {Math.max(1, Math.ceil((pause.ends - Date.now()) / 1000))} s</span>
      </span>
    </div>
  )
}

function dismiss(number: number): void {
  notices.set(notices.current().filter((notice) => notice.number !== number))
}
