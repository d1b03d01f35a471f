/** One record: read, edit with the tag of what was read, delete, and go to what belongs to it. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { shortId } from '../collections/record-cell.tsx'
import { DeleteDialog } from '../deletion/delete-dialog.tsx'
import { History } from '../events/history.tsx'
import { draftKey, keepDraft, onlyFields, patchOf, useDraft, type Values } from '../forms/draft.ts'
import { RecordForm, sentFields } from '../forms/record-form.tsx'
import { type Collection, labelOf, namingField } from '../interface/catalog.ts'
import { type Connection, grantOf, hasBin, mayReadHistory, useConnection } from '../interface/connection.tsx'
import { own } from '../interface/own.ts'
import { Problem, type ProblemEntry } from '../interface/problem.ts'
import {
  collectionKey,
  historyAddress,
  type RecordData,
  recordPath,
  refreshAll,
  type TaggedRecord,
  useRecord,
} from '../interface/records.ts'
import { navigate } from '../shell/fragment.ts'
import { notify } from '../ui/notices.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { brief } from '../ui/value.tsx'
import { ConflictDialog } from './conflict-dialog.tsx'
import { ReadOnly } from './read-only.tsx'
import { Related } from './related.tsx'
import { WhyNot } from './why-not.tsx'

interface Props {
  readonly collection: Collection
  readonly id: string
}

export function RecordView({ collection, id }: Props): ReactNode {
  const connection = useConnection()
  const { data, error, refetch } = useRecord(collection.name, id)
  if (error !== null && data === undefined) {
    return (
      <>
        <h1>
          <a className="quiet" href={`#/${collection.name}`}>
            {labelOf(collection.name)}
          </a>{' '}
          <bdi>{brief(shortId(id))}</bdi>
        </h1>
        <ProblemView problem={error} again={() => void refetch()} />
        {error.status === 404 && hasBin(connection, collection) && (
          <p className="row">
            <a href={`#/-/bin/${collection.name}`}>Look in the recycle bin</a>
            {mayReadHistory(connection, collection) && (
              <Link to={historyAddress(collection, id)}>Look at its history</Link>
            )}
          </p>
        )}
        {error.status === 403 && <WhyNot collection={collection} action="read" />}
        <History collection={collection} id={id} />
      </>
    )
  }
  if (data === undefined) return <p className="quiet">Loading…</p>
  return (
    <LoadedRecord
      collection={collection}
      latest={data}
      isGone={error?.status === 404}
      refetch={async () => (await refetch()).error ?? undefined}
    />
  )
}

interface LoadedProps {
  readonly collection: Collection
  /** What the server has, which may become newer while somebody types. */
  readonly latest: TaggedRecord
  readonly isGone: boolean
  readonly refetch: () => Promise<Problem | undefined>
}

function LoadedRecord({ collection, latest, isGone, refetch }: LoadedProps): ReactNode {
  const connection = useConnection()
  const client = useQueryClient()
  const { id } = latest.record
  const handle = useDraft(draftKey(connection.version.name, collection.name, id), latest)
  const { draft, isChanged } = handle
  // The form stays on the record that it began with until its changes are saved or compared.
  const base = draft.begun ?? latest
  const [isComparing, setComparing] = useState(false)
  const [problem, setProblem] = useState<Problem>()
  const [isSaving, setSaving] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const mayUpdate = collection.made === 'by-clients' && grantOf(connection, collection.name, 'update') !== 'none'
  const mayDelete = collection.deletion !== undefined && grantOf(connection, collection.name, 'delete') !== 'none'
  const fields = sentFields(collection, connection.caller)
  const editable: Values = Object.fromEntries(fields.map(({ name }) => [name, own(base.record, name)]))

  const save = async () => {
    // A value that was only written in another way.
    if (Object.keys(draft.values).length === 0) return handle.clear()
    setSaving(true)
    setProblem(undefined)
    try {
      const saved = await patch(connection, collection, base, draft.values)
      client.setQueryData([...collectionKey(connection, collection.name), 'record', id], saved)
      handle.saved(draft.values, saved)
      notify('done', 'Saved.')
      void refreshAll(client, connection)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      const failed = error.status === 412 ? await refetch() : error
      setComparing(failed === undefined)
      setProblem(failed)
    } finally {
      setSaving(false)
    }
  }
  const copy = () => {
    const values = Object.entries({ ...editable, ...draft.values }).filter(([, value]) => value !== null)
    keepDraft(draftKey(connection.version.name, collection.name, '?'), {
      ...draft,
      values: Object.fromEntries(values.filter(([, value]) => value !== undefined)),
    })
    handle.clear()
    navigate(`/-/new/${collection.name}`)
  }
  return (
    <>
      <RecordHead collection={collection} record={base.record}>
        {mayReadHistory(connection, collection) && (
          <Link className="button" to={historyAddress(collection, id)}>
            History
          </Link>
        )}
        {mayDelete && (
          <button type="button" className="danger" onClick={() => setDeleting(true)}>
            Delete
          </button>
        )}
      </RecordHead>
      {(isGone || problem?.status === 404) && (
        <p className="problem" role="alert">
          This record does not exist any more.{' '}
          {isChanged && (
            <button type="button" onClick={copy}>
              Copy what you typed into a new record
            </button>
          )}
        </p>
      )}
      {isChanged && latest.etag !== base.etag && (
        <p className="problem" role="status">
          Somebody has changed this record meanwhile.{' '}
          <button type="button" onClick={() => setComparing(true)}>
            Compare
          </button>
        </p>
      )}
      {problem !== undefined && problem.errors.length === 0 && problem.status !== 404 && (
        <ProblemView problem={problem} />
      )}
      {problem?.status === 403 && <WhyNot collection={collection} action="update" />}
      <div className="record">
        <div className="card">
          {mayUpdate ? (
            <RecordForm
              collection={collection}
              fields={fields}
              base={editable}
              handle={handle}
              errors={problem?.errors ?? none}
              exists={true}
              onSubmit={() => void save()}
            >
              <div className="row form-actions">
                <button type="submit" className="primary" disabled={!isChanged || isSaving}>
                  {isSaving ? 'Saving…' : 'Save'}
                </button>
                {isChanged && (
                  <button type="button" onClick={handle.clear}>
                    Discard changes
                  </button>
                )}
              </div>
            </RecordForm>
          ) : (
            <>
              <ReadOnly collection={collection} record={base.record} names={fields.map(({ name }) => name)} />
              <WhyNot collection={collection} action="update" />
            </>
          )}
        </div>
        <aside className="card" aria-label="About this record">
          <ReadOnly
            collection={collection}
            record={base.record}
            names={collection.fields.filter((field) => !fields.includes(field)).map(({ name }) => name)}
          />
          <Related collection={collection} id={id} />
          <History collection={collection} id={id} />
        </aside>
      </div>
      {isComparing && (
        <ConflictDialog
          collection={collection}
          before={base.record}
          mine={draft.values}
          theirs={latest.record}
          onClose={() => setComparing(false)}
          onResolve={(values) => {
            // The chosen values are changes of what the server has now, and are sent with its tag.
            handle.replace(onlyFields({ ...draft, values, begun: latest }))
            setComparing(false)
          }}
        />
      )}
      {isDeleting && (
        <DeleteDialog
          collection={collection}
          record={latest}
          onClose={(isDone) => {
            setDeleting(false)
            if (!isDone) return
            handle.clear()
            navigate(`/${collection.name}`)
          }}
        />
      )}
    </>
  )
}

const none: readonly ProblemEntry[] = []

async function patch({ send }: Connection, { name }: Collection, { record, etag }: TaggedRecord, values: Values) {
  const { headers, body } = patchOf(values)
  const condition: Record<string, string> = etag === undefined ? {} : { 'If-Match': etag }
  const request = {
    method: 'PATCH',
    path: recordPath(name, record.id),
    headers: { ...condition, ...headers },
    body,
  } as const
  const saved = await send<RecordData>(request)
  return { record: saved.body, etag: saved.etag }
}

interface HeadProps {
  readonly collection: Collection
  readonly record: RecordData
  readonly children: ReactNode
}

function RecordHead({ collection, record, children }: HeadProps): ReactNode {
  const name = record[namingField(collection)]
  return (
    <div className="row">
      <h1>
        <a className="quiet" href={`#/${collection.name}`}>
          {labelOf(collection.name)}
        </a>{' '}
        <bdi>{brief(typeof name === 'string' && name.trim() !== '' ? name : shortId(record.id))}</bdi>
      </h1>
      <span className="spring" />
      <span className="row">{children}</span>
    </div>
  )
}
