/** The requests that the console has made, newest first, as commands to run in a terminal. */
import { type ReactNode, useSyncExternalStore } from 'react'
import { asCurl, clearRequestLog, requestLog } from '../interface/request-log.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { brief } from '../ui/value.tsx'

export function RequestPanel({ onClose }: { readonly onClose: () => void }): ReactNode {
  const requests = useSyncExternalStore(requestLog.subscribe, requestLog.current)
  return (
    <aside className="requests" aria-label="Requests">
      <header>
        <h2>Requests</h2>
        <button type="button" onClick={clearRequestLog}>
          Clear
        </button>
        <button type="button" className="icon" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <p className="quiet">
        What this page has asked the server. Set <code>KEY</code> to your key to run a command.
      </p>
      <ol>
        {requests.map((request) => (
          <li key={request.number}>
            <details>
              <summary>
                <span className={`status s${String(request.status).charAt(0)}`}>{request.status ?? '…'}</span>{' '}
                {request.method} <bdi>{brief(decodeURI(new URL(request.url).pathname))}</bdi>
                {request.took !== undefined && <span className="quiet"> {request.took} ms</span>}
              </summary>
              <pre>{asCurl(request)}</pre>
              <CopyButton text={asCurl(request)} />
            </details>
          </li>
        ))}
      </ol>
    </aside>
  )
}
