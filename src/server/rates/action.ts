/** Which action a request is, as far as its address and its method tell. */
import type { CountedAction } from '../../model/limits.ts'
import type { Target } from '../../request/target.ts'

const byMethod: Readonly<Record<string, CountedAction>> = {
  GET: 'read',
  HEAD: 'read',
  QUERY: 'read',
  POST: 'create',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
}

/** The action that a request is counted as; `undefined` for what is none on a resource, such as OPTIONS. */
export function actionOf(target: Target, method: string): CountedAction | undefined {
  if (target.kind === 'collection' || target.kind === 'record') return byMethod[method]
  if (method !== 'POST') return undefined
  if (target.kind === 'bulk-delete') return 'delete'
  return target.kind === 'restore' ? 'restore' : undefined
}
