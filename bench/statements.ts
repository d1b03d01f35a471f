/** What our server plans for a request, by the very functions that it calls. */

import type { Catalog } from 'resourced-contract/model/resource'
import type { HttpRequest } from '../packages/server/src/http/message.ts'
import type { Read } from '../packages/server/src/plan/plan.ts'
import { planRequest } from '../packages/server/src/plan/plan-request.ts'
import { readWithoutBody } from '../packages/server/src/request/input.ts'
import { KnownQueries } from '../packages/server/src/request/list-query.ts'
import { findTarget } from '../packages/server/src/request/target.ts'

/** The plan of a GET of records, as an administrator sends it. */
export function planOf(catalog: Catalog, address: string): Read {
  const [path = '', queryText = ''] = address.split('?')
  const found = findTarget(catalog, path)
  if (found.kind !== 'found' || !('resource' in found.target)) {
    throw new Error(`${path} is no collection and no record.`)
  }
  const request = { method: 'GET', target: address, headers: {} } as HttpRequest
  const input = readWithoutBody({
    ...{ request, target: found.target, version: { catalog }, query: queryText, knownQueries: new KnownQueries() },
  })
  if (input?.kind !== 'read-page' && input?.kind !== 'read-record') throw new Error(`${address} reads no records.`)
  const preferred = { return: undefined, asynchronously: false, most: undefined }
  const caller = { id: 'bench', roles: ['admin'], claims: {}, credential: 'bench', expiresAt: Number.POSITIVE_INFINITY }
  const planning = {
    caller,
    catalog,
    versionCatalog: catalog,
    cursorSecret: new Uint8Array(32),
    now: Date.now(),
    preferred,
    webhookNetworks: [],
  }
  return planRequest({ ...planning, basePath: '/v1' }, found.target, input) as Read
}
