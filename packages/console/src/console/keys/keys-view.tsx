/** API keys: create one (it is shown once), see who uses which, and revoke. */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { collectionKey, type Page, type RecordData } from '../interface/records.ts'
import { useChange } from '../interface/use-change.ts'
import { Dialog } from '../ui/dialog.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { SmallTable } from '../ui/small-table.tsx'
import { brief, formatTime } from '../ui/value.tsx'

export default function KeysView(): ReactNode {
  const connection = useConnection()
  const [isCreating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<RecordData>()
  const { data, error, refetch } = useQuery<Page, Problem>({
    queryKey: [...collectionKey(connection, 'api-keys'), 'list'],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({ limit: '100', sort: '-created_at' })
      return (await connection.send<Page>({ path: '/api-keys', query, signal })).body
    },
  })
  return (
    <>
      <div className="row">
        <h1>API keys</h1>
        <span className="spring" />
        <button type="button" className="primary" onClick={() => setCreating(true)}>
          New key
        </button>
      </div>
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      <SmallTable titles={['Subject', 'Roles', 'Claims', 'Key', 'Last used', 'Expires', 'Made by']} actions>
        {data?.data.map((key) => (
          <tr key={key.id}>
            <td>
              <bdi>{brief(String(key['subject']))}</bdi>
            </td>
            <td>{Array.isArray(key['roles']) && key['roles'].length > 0 ? brief(key['roles'].join(', ')) : '–'}</td>
            <td>{key['claims'] == null ? '–' : brief(JSON.stringify(key['claims']))}</td>
            <td>
              <code>{String(key['hint'])}…</code>
            </td>
            <td className="number">{timeOr(key['last_used_at'], 'never')}</td>
            <td className="number">{key['revoked_at'] === null ? timeOr(key['expires_at'], 'never') : 'revoked'}</td>
            <td>
              <bdi>{brief(String(key['made_by'] ?? 'the command line'))}</bdi>
            </td>
            <td>
              {key['revoked_at'] === null && (
                <button type="button" className="danger" onClick={() => setRevoking(key)}>
                  Revoke
                </button>
              )}
            </td>
          </tr>
        ))}
      </SmallTable>
      {data?.pagination.next_cursor && <p className="quiet">The newest 100 of {data.pagination.total_count} keys.</p>}
      {isCreating && <NewKey onClose={() => setCreating(false)} />}
      {revoking !== undefined && <Revoke record={revoking} onClose={() => setRevoking(undefined)} />}
    </>
  )
}

function timeOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? formatTime(value) : otherwise
}

function NewKey({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { caller } = useConnection()
  const { change, problem } = useChange()
  const ids = useId()
  const [made, setMade] = useState<string>()
  const isAdministrator = caller.roles.includes('admin')
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    const [subject, roles, days] = [text('subject'), text('roles'), Number(text('days'))]
    const body = {
      ...(subject !== '' && { subject }),
      ...(roles !== '' && { roles: roles.split(/[\s,]+/) }),
      ...(days > 0 && { expires_at: new Date(Date.now() + days * 86_400_000).toISOString() }),
    }
    const created = await change<RecordData>({ method: 'POST', path: '/api-keys', body })
    if (created !== undefined) setMade(String(created.body['key']))
  }
  if (made !== undefined) return <SecretDialog title="Your new key" secret={made} onClose={onClose} />
  return (
    <Dialog title="New API key" onClose={onClose}>
      <form className="sign-in" onSubmit={create}>
        {isAdministrator && (
          <>
            <label htmlFor={`${ids}-subject`}>Subject: who will use it</label>
            <input id={`${ids}-subject`} name="subject" autoComplete="off" placeholder={caller.id} />
          </>
        )}
        <label htmlFor={`${ids}-roles`}>Roles, separated by commas</label>
        <input id={`${ids}-roles`} name="roles" autoComplete="off" placeholder={caller.roles.join(', ')} />
        <label htmlFor={`${ids}-days`}>Valid for how many days</label>
        <input id={`${ids}-days`} name="days" inputMode="numeric" pattern="[0-9]*" placeholder="as long as yours" />
        {problem !== undefined && <ProblemView problem={problem} />}
        <button type="submit" className="primary">
          Create
        </button>
      </form>
    </Dialog>
  )
}

interface RevokeProps {
  readonly record: RecordData
  readonly onClose: () => void
}

function Revoke({ record, onClose }: RevokeProps): ReactNode {
  const { change, problem } = useChange()
  const [withOthers, setWithOthers] = useState(false)
  const revoke = async () => {
    const query = withOthers ? new URLSearchParams({ descendants: 'true' }) : undefined
    const done = 'Revoked: the key is refused from now on.'
    if (await change({ method: 'DELETE', path: `/api-keys/${record.id}`, query }, done)) onClose()
  }
  return (
    <Dialog
      title={`Revoke the key of ${brief(String(record['subject']))}`}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" className="danger" onClick={() => void revoke()}>
            Revoke
          </button>
        </>
      }
    >
      <p>
        The server then refuses every request with <code>{String(record['hint'])}…</code>. You cannot undo this.
      </p>
      <label className="check">
        <input type="checkbox" checked={withOthers} onChange={() => setWithOthers(!withOthers)} /> Also revoke the keys
        that were made with it
      </label>
      {problem !== undefined && <ProblemView problem={problem} />}
    </Dialog>
  )
}
