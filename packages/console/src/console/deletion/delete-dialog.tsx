/** Deletes one record, if nobody has changed it meanwhile. */
import type { ReactNode } from 'react'
import { type Collection, namingField } from '../interface/catalog.ts'
import { Problem } from '../interface/problem.ts'
import { recordPath, type TaggedRecord } from '../interface/records.ts'
import { brief } from '../ui/value.tsx'
import { type Preview, undo, useWorkplace } from './deletion.ts'
import { DeletionDialog } from './deletion-dialog.tsx'

interface Props {
  readonly collection: Collection
  readonly record: TaggedRecord
  readonly onClose: (isDone: boolean) => void
}

export function DeleteDialog({ collection, record: { record, etag }, onClose }: Props): ReactNode {
  const workplace = useWorkplace()
  const { send } = workplace.connection
  const path = recordPath(collection.name, record.id)
  const look = async () => {
    try {
      return (await send<Preview>({ path: `${path}/deletion` })).body
    } catch (error) {
      // The record is gone, or the server has no previews: the deletion itself says which.
      if (error instanceof Problem && error.status === 404) return null
      throw error
    }
  }
  return (
    <DeletionDialog
      title={`Delete ${brief(String(record[namingField(collection)]), 60)}`}
      collection={collection}
      about={[record.id]}
      look={look}
      remove={() => send({ method: 'DELETE', path, headers: etag === undefined ? {} : { 'If-Match': etag } })}
      action={undo(workplace, collection, record.id)}
      onClose={onClose}
    />
  )
}
