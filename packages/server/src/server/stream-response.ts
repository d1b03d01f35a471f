/** The response that is a stream of events (EVT-6). */

import { allOf } from 'resourced-contract/model/predicate'
import { fault } from 'resourced-contract/spec/faults'
import { streamType } from 'resourced-contract/spec/media-types'
import type { HttpResponse, StreamBody } from '../http/message.ts'
import { planEvents } from '../plan/plan-events.ts'
import { selectionOf } from '../plan/plan-grants.ts'
import type { Caller } from '../policy/caller.ts'
import type { Selected } from '../request/list-query.ts'
import type { Accepted } from './stages.ts'
import type { StreamRequest } from './streams/event-stream.ts'

/** What a request asks of a stream. */
interface Asked {
  readonly selected: Selected
  readonly lastEventId: string | undefined
}

/**
 * Opens a stream of events.
 *
 * @throws Fault FORBIDDEN if the caller may read no events; INVALID_CURSOR, EVENTS_EXPIRED, TOO_MANY_STREAMS
 * @throws StorageFault
 */
export async function streamResponse(
  { account, app, caller, choice, givenCaller, request, versionCatalog }: Accepted,
  { selected, lastEventId }: Asked,
): Promise<HttpResponse> {
  const { catalog, streams } = app
  const resource = catalog.system.get('events')
  if (streams === undefined || resource === undefined) throw fault('INTERNAL_ERROR')
  const plan: StreamRequest['plan'] = (callerNow: Caller, after, limit) => {
    const { parts } = selectionOf({ caller: callerNow, catalog, versionCatalog }, resource, selected)
    const filter = allOf(parts.map((part) => part.filter))
    const made = planEvents({ catalog, versionCatalog, caller: callerNow, filter }, after, limit)
    return made?.permitted.kind === 'never' ? undefined : made
  }
  if (plan(caller, 0, 1) === undefined) {
    throw fault('FORBIDDEN', { detail: 'Your credential does not allow you to read events.' })
  }
  const after = await streams.positionAfter(lastEventId)
  const body: StreamBody =
    request.method === 'HEAD'
      ? unopened
      : await streams.open({
          callerId: caller.id,
          account,
          credential: streams.credentials.of(caller, request, givenCaller !== undefined),
          after,
          plan,
          version: choice.version,
        })
  return { status: 200, headers: { ...headers }, body }
}

const headers = {
  'Content-Type': streamType,
  // Compression would hold events back.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
  Vary: 'Accept',
}

/** The body of a response to HEAD, which is never opened and does not count. */
const unopened: StreamBody = { kind: 'stream', open: (sink) => sink.end(), drained() {}, closed() {} }
