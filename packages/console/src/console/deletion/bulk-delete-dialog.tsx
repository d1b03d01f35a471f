/** Deletes the selected records, or all that match the filters, after showing what goes along. */
import { type ReactNode, useRef, useState } from 'react'
import { listQuery } from '../collections/filters.ts'
import { type Collection, labelOf } from '../interface/catalog.ts'
import { Problem } from '../interface/problem.ts'
import type { ApiResponse } from '../interface/send.ts'
import { countOf } from '../ui/count-of.ts'
import { blockersIn, chunksOf, deleteChunk, previewOf } from './bulk-deletion.ts'
import { type Blocker, binAction, cascadesOf, useWorkplace } from './deletion.ts'
import { DeletionDialog } from './deletion-dialog.tsx'

interface Props {
  readonly collection: Collection
  /** The selected records; none: all that match the view's filters. */
  readonly ids: readonly string[]
  readonly view: URLSearchParams
  /** @param left the selected records that were not deleted */
  readonly onClose: (left: readonly string[]) => void
}

export function BulkDeleteDialog({ ids, view, ...rest }: Props): ReactNode {
  return ids.length > 0 ? <DeleteSelected ids={ids} {...rest} /> : <DeleteMatching view={view} {...rest} />
}

/** In as many requests as they take: each deletes all of its records or none. */
function DeleteSelected({ collection, ids, onClose }: Omit<Props, 'view'>): ReactNode {
  const { connection } = useWorkplace()
  const gone = useRef(new Set<string>())
  const [deleted, setDeleted] = useState(0)
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set())
  const wanted = ids.filter((id) => !gone.current.has(id) && !leftOut.has(id))
  const remove = async () => {
    const issues: Blocker[] = []
    let job: ApiResponse | undefined
    for (const chunk of chunksOf(wanted, collection)) {
      try {
        const response = await deleteChunk(connection, collection, chunk)
        if (response.status === 202) job = response
        for (const id of chunk) gone.current.add(id)
        setDeleted((before) => before + chunk.length)
      } catch (error) {
        if (!(error instanceof Problem) || error.status < 400 || error.status >= 500) throw error
        const { errors, code, detail } = error
        issues.push(...blockersIn(errors.length > 0 ? errors : [{ code, message: detail }], chunk))
      }
    }
    if (issues.length > 0) throw new Problem(409, { errors: issues })
    return job ?? noContent
  }
  return (
    <DeletionDialog
      title={`Delete from ${labelOf(collection.name)}`}
      collection={collection}
      about={wanted}
      count={wanted.length}
      look={() => previewOf(connection, collection, wanted)}
      remove={remove}
      action={binAction(connection, collection)}
      onClose={() => onClose(ids.filter((id) => !gone.current.has(id)))}
      onLeaveOut={(blocked) => {
        // What is not there any more does not stay selected.
        for (const [id, code] of blocked) if (code === 'NOT_FOUND') gone.current.add(id)
        setLeftOut(new Set([...leftOut, ...blocked.keys()]))
      }}
    >
      {deleted > 0 && <p role="status">{countOf(deleted, 'record')} deleted. The others stay selected.</p>}
    </DeletionDialog>
  )
}

const noContent: ApiResponse = { status: 204, headers: new Headers(), etag: undefined, body: undefined }

/** Never more records than were shown. */
function DeleteMatching({ collection, view, onClose }: Omit<Props, 'ids'>): ReactNode {
  const { connection } = useWorkplace()
  const [count, setCount] = useState(0)
  const query = listQuery(collection, view)
  query.delete('sort')
  const remove = (most: number) =>
    connection.send({
      ...{ method: 'DELETE', path: collection.path, query },
      headers: { Prefer: `handling=strict, max-affected=${most}` },
    })
  const look = async () => {
    let matching = 0
    try {
      // A deletion of no more than nothing counts what the caller may delete.
      await remove(0)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'TOO_MANY_AFFECTED') throw error
      matching = (error.errors[0] as Blocker).count ?? 0
    }
    setCount(matching)
    const deletes = [{ collection: collection.name, count: matching }]
    const complete = cascadesOf(connection, collection).length === 0
    return { allowed: matching > 0, deletes, clears: [], blocked_by: [], complete, purged_at: null }
  }
  return (
    <DeletionDialog
      title={`Delete all ${labelOf(collection.name)} that match`}
      collection={collection}
      about={[query.toString()]}
      count={count}
      look={look}
      remove={() => remove(count)}
      action={binAction(connection, collection)}
      onClose={() => onClose([])}
    />
  )
}
