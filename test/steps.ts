/** Steps that scenarios share. */
import assert from 'node:assert/strict'
import { always } from 'resourced-contract/model/predicate'
import type { Resource } from 'resourced-contract/model/resource'
import { uuidv7 } from 'uuidv7'
import type { HttpRequest } from '../packages/server/src/http/message.ts'
import type { Plan } from '../packages/server/src/plan/plan.ts'
import { type Application, assemble } from '../packages/server/src/server/app.ts'
import type { Observation } from '../packages/server/src/server/observe/observe.ts'
import type { Storage } from '../packages/server/src/storage/storage.ts'
import type { Received, Sent, Trial } from './harness.ts'

/** An id that no record has. */
export const nowhere = '01a1fde6-1be6-7f7d-a2ef-25a8bed79d72'

/**
 * Everything that is in collections, live and retained, with tags of the lists: what no refused deletion may change.
 */
export async function stateOf({ send }: Trial, collections: Iterable<string>): Promise<unknown[]> {
  const states: unknown[] = []
  for (const name of collections) {
    const list = await send({ path: `/v1/${name}?limit=100&include_deleted=true` })
    assert.equal(list.status, 200, list.text)
    states.push([name, list.json.data, (await send({ path: `/v1/${name}` })).headers.etag])
  }
  return states
}

/** How many records a collection says that it has. */
export async function countOf({ send }: Trial, collection: string, query = ''): Promise<number> {
  return (await send({ path: `/v1/${collection}${query}` })).json.pagination.total_count
}

/** Creates records without a request for each. Returns their ids. */
export async function fill({ app }: Trial, collection: string, bodies: readonly object[]): Promise<string[]> {
  const resource = app.catalog.resources.get(collection) as Resource
  const caller = { id: 'root', roles: ['admin'], claims: {} }
  const plans = bodies.map((body) => {
    const plan = { kind: 'create', resource, id: uuidv7(), parent: undefined, body, permitted: always } as const
    return { ...plan, mayAssignOwner: true, caller, now: Date.now() }
  })
  for (const outcome of await app.storage.load(plans, 'stop')) assert.equal(outcome, undefined)
  return plans.map(({ id }) => id)
}

/** The same application, with a storage that fails. */
export function failing(app: Application, fail: (plan: Plan) => unknown, seen: Observation[]): Application {
  const storage: Storage = {
    ...app.storage,
    run: async (plan) => Promise.reject(fail(plan)),
    ping: async () => Promise.reject(fail({} as Plan)),
  }
  return assemble(app.catalog, storage, { observe: (each) => seen.push(each), development: true, rateLimit: 'off' })
}

/** Asks an application that is not the trial's own; `whole` is all that a caller could read. */
export async function ask(
  app: Application,
  sent: Sent,
  key: string | undefined,
): Promise<{ received: Received; whole: string }> {
  const bytes = Buffer.from(sent.body === undefined ? '' : JSON.stringify(sent.body))
  const request: HttpRequest = {
    method: sent.method ?? (sent.body === undefined ? 'GET' : 'POST'),
    target: sent.path,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': sent.body === undefined ? undefined : 'application/json',
      ...sent.headers,
    },
    secure: true,
    address: '127.0.0.1',
    readBody: async () => bytes,
  }
  const response = await app.respond(request)
  const text = String(response.body)
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
  return {
    received: { status: response.status, headers, text, json: JSON.parse(text) },
    whole: text + JSON.stringify(response.headers),
  }
}
