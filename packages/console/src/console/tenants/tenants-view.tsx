/** Tenants, for operators: find, create, delete and restore them (TEN-3). */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, type ReactNode, useId, useState } from 'react'
import { useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { collectionKey, type Page, type RecordData } from '../interface/records.ts'
import { useChange } from '../interface/use-change.ts'
import { Dialog } from '../ui/dialog.tsx'
import { PageButtons } from '../ui/page-buttons.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { SmallTable } from '../ui/small-table.tsx'
import { brief, formatTime } from '../ui/value.tsx'

export default function TenantsView(): ReactNode {
  const connection = useConnection()
  const { change, problem } = useChange()
  const [part, setPart] = useState('')
  const [cursor, setCursor] = useState<string>()
  const [isCreating, setCreating] = useState(false)
  const [deleting, setDeleting] = useState<RecordData>()
  const query = new URLSearchParams({
    ...{ sort: 'name', limit: '50', include_deleted: 'true' },
    ...(part !== '' && { 'name[contains]': part }),
    ...(cursor && { cursor }),
  })
  const { data, error, refetch } = useQuery<Page, Problem>({
    queryKey: [...collectionKey(connection, 'tenants'), query.toString()],
    queryFn: async ({ signal }) => (await connection.send<Page>({ path: '/tenants', query, signal })).body,
    placeholderData: (before) => before,
  })
  const restore = ({ id, name }: RecordData) =>
    change(
      { method: 'POST', path: `/tenants/${id}/restore` },
      `Restored ${brief(String(name))}: its callers are served.`,
    )
  return (
    <>
      <div className="row">
        <h1>Tenants</h1>
        <span className="spring" />
        <button type="button" className="primary" onClick={() => setCreating(true)}>
          New tenant
        </button>
      </div>
      <p className="quiet">Each tenant has a database of its own, which only its callers can read.</p>
      <div className="row toolbar">
        <input
          type="search"
          aria-label="Find a tenant by its name"
          placeholder="Find by name"
          value={part}
          onChange={(event) => {
            setPart(event.target.value)
            setCursor(undefined)
          }}
        />
      </div>
      {(problem ?? error) && <ProblemView problem={(problem ?? error) as Problem} again={() => void refetch()} />}
      <SmallTable titles={['Name', 'State', 'Bytes', 'Created', 'ID']} actions>
        {data?.data.map((tenant) => (
          <tr key={tenant.id}>
            <td>
              <bdi>{brief(String(tenant['name']))}</bdi>
            </td>
            <td>{String(tenant['state'])}</td>
            <td className="number">{tenant['bytes'] === null ? '–' : Number(tenant['bytes']).toLocaleString()}</td>
            <td className="number">{formatTime(String(tenant['created_at']))}</td>
            <td>
              <code>{tenant.id}</code>
            </td>
            <td>
              {tenant['state'] === 'deleted' ? (
                <button type="button" onClick={() => void restore(tenant)}>
                  Restore
                </button>
              ) : (
                <button type="button" className="danger" onClick={() => setDeleting(tenant)}>
                  Delete
                </button>
              )}
            </td>
          </tr>
        ))}
      </SmallTable>
      {data?.pagination.total_count === 0 && (
        <p className="quiet">No tenants{part === '' ? ' yet' : ' with this name'}.</p>
      )}
      <PageButtons pagination={data?.pagination} onTurn={setCursor} />
      {isCreating && <NewTenant onClose={() => setCreating(false)} />}
      {deleting !== undefined && <DeleteTenant tenant={deleting} onClose={() => setDeleting(undefined)} />}
    </>
  )
}

function NewTenant({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { change, problem } = useChange()
  const id = useId()
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const body = { name: String(new FormData(event.currentTarget).get('name')) }
    const created = await change({ method: 'POST', path: '/tenants', body }, 'Created.')
    if (created !== undefined) onClose()
  }
  return (
    <Dialog title="New tenant" onClose={onClose}>
      <form className="sign-in" onSubmit={create}>
        <label htmlFor={id}>Name: what keys and claims call it. It cannot be changed.</label>
        <input id={id} name="name" autoComplete="off" required maxLength={128} />
        {problem !== undefined && <ProblemView problem={problem} />}
        <button type="submit" className="primary">
          Create
        </button>
      </form>
    </Dialog>
  )
}

interface DeleteProps {
  readonly tenant: RecordData
  readonly onClose: () => void
}

function DeleteTenant({ tenant, onClose }: DeleteProps): ReactNode {
  const { change, problem } = useChange()
  const name = brief(String(tenant['name']))
  const remove = async () => {
    const deleted = await change({ method: 'DELETE', path: `/tenants/${tenant.id}` }, `Deleted ${name}.`)
    if (deleted !== undefined) onClose()
  }
  return (
    <Dialog
      title={`Delete ${name}`}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="button" className="danger" onClick={() => void remove()}>
            Delete
          </button>
        </>
      }
    >
      <p>
        Its callers are refused from now on. You can restore it until its grace period ends. Then its database is
        removed with everything in it.
      </p>
      {problem !== undefined && <ProblemView problem={problem} />}
    </Dialog>
  )
}
