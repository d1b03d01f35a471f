/** Creates a record. What the address says of it, such as its parent, is filled in. */
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useMemo, useRef, useState } from 'react'
import { draftKey, useDraft, type Values } from '../forms/draft.ts'
import { mayBeEmptyList } from '../forms/input-kind.ts'
import { RecordForm, sentFields } from '../forms/record-form.tsx'
import { type Collection, type Field, labelOf } from '../interface/catalog.ts'
import { grantOf, useConnection } from '../interface/connection.tsx'
import { Problem } from '../interface/problem.ts'
import { newIdempotencyKey, type RecordData, refreshAll } from '../interface/records.ts'
import { navigate, useView } from '../shell/fragment.ts'
import { notify } from '../ui/notices.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { WhyNot } from './why-not.tsx'

export default function NewRecordView({ collection }: { readonly collection: Collection }): ReactNode {
  const connection = useConnection()
  const client = useQueryClient()
  const [view] = useView()
  const handle = useDraft(draftKey(connection.version.name, collection.name, `?${view}`))
  const [problem, setProblem] = useState<Problem>()
  const [isSaving, setSaving] = useState(false)
  // A creation that is sent again after a lost response must not create a second record.
  const key = useRef({ body: '', value: '' })
  const fields = useMemo(() => sentFields(collection, connection.caller), [collection, connection])
  const base = useMemo(() => initialValues(fields, view), [fields, view])
  const create = async () => {
    const body = Object.fromEntries(
      Object.entries({ ...base, ...handle.draft.values }).filter(([, value]) => value !== undefined),
    )
    const text = JSON.stringify(body)
    if (key.current.body !== text) key.current = { body: text, value: newIdempotencyKey() }
    setSaving(true)
    setProblem(undefined)
    try {
      const headers = { 'Idempotency-Key': key.current.value }
      const created = await connection.send<RecordData>({ method: 'POST', path: collection.path, headers, body })
      handle.clear()
      notify('done', 'Created.')
      void refreshAll(client, connection)
      navigate(`/${collection.name}/${encodeURIComponent(created.body.id)}`, { replace: true })
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      // Without a response nobody knows whether the record was created: the next try keeps the key.
      if (error.status > 0) key.current = { body: '', value: '' }
      setProblem(error)
    } finally {
      setSaving(false)
    }
  }
  if (grantOf(connection, collection.name, 'create') === 'none') {
    return (
      <>
        <h1>{labelOf(collection.name)}</h1>
        <WhyNot collection={collection} action="create" />
      </>
    )
  }
  return (
    <>
      <h1>
        <a className="quiet" href={`#/${collection.name}`}>
          {labelOf(collection.name)}
        </a>{' '}
        New
      </h1>
      {problem !== undefined && problem.errors.length === 0 && <ProblemView problem={problem} />}
      {problem?.status === 403 && <WhyNot collection={collection} action="create" />}
      <div className="card form-card">
        <RecordForm
          collection={collection}
          fields={fields}
          base={base}
          handle={handle}
          errors={problem?.errors ?? []}
          exists={false}
          onSubmit={() => void create()}
        >
          <div className="row form-actions">
            <button type="submit" className="primary" disabled={isSaving}>
              {isSaving ? 'Creating…' : 'Create'}
            </button>
            <a className="button" href={`#/${collection.name}`} onClick={handle.clear}>
              Cancel
            </a>
          </div>
        </RecordForm>
      </div>
    </>
  )
}

/** The defaults, what the view was filtered by, and lists that have to be sent and may be empty. */
function initialValues(fields: readonly Field[], view: URLSearchParams): Values {
  return Object.fromEntries(
    fields.flatMap(({ name, input, schema, reference, required }) => {
      const [given, ...others] = view.getAll(name)
      const wanted = others.length > 0 ? undefined : given
      const filtered =
        reference === undefined ? schema.enum?.find((each) => each !== null && String(each) === wanted) : wanted
      const empty = required && mayBeEmptyList({ ...schema, ...input }) ? [] : undefined
      const value = (filtered ?? input?.['x-default'] ?? empty) as Values[string]
      return value === undefined || value === null ? [] : [[name, value]]
    }),
  )
}
