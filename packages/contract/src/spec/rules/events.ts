/** Rules about events: the outbox, streams, webhooks, and functions that run after a change. The history of records. */
import { beyond, section } from './rule.ts'

const events = section('EVT', 'Events', {
  'EVT-1': beyond(
    'A resource that is declared with events has one event for each change of each record, written in the ' +
      'transaction of the change: created, updated, deleted, restored, purged. Cascades, jobs and imports have ' +
      'them too. No acknowledged change lacks its event, and no event lacks its change.',
  ),
  'EVT-2': beyond(
    'GET /events is a collection like any other, in the order of the events: those of a record are in the order ' +
      'of its changes, and no event appears later before one that a reader has seen. It is filtered by collection, ' +
      'record, kind and created_at.',
  ),
  'EVT-3': beyond(
    'An event has id, collection, record, kind, data, request_id, created_at and updated_at. data is the record ' +
      'after the change as the version of the client shows it, and null where the record was deleted or purged. ' +
      'request_id is the `X-Request-Id` of the request that made the change, which the server chooses: the events ' +
      'of an array, a transaction, a cascade or a job have the same. It is null where no request made the change.',
  ),
  'EVT-4': beyond(
    'A caller gets an event only if the caller may read the record at that moment, both as the event shows it ' +
      'and as it is. Of a deleted record, only deletions remain for callers who may not read deleted records, and ' +
      'of a purged one the last of them.',
  ),
  'EVT-5': beyond(
    'Events are kept for the declared time, seven days by default. A request that continues after an event ' +
      'that is no longer kept gets 410 EVENTS_EXPIRED.',
  ),
  'EVT-6': beyond(
    'GET /events with Accept: text/event-stream is a stream of server-sent events with id, event and data, which ' +
      'Last-Event-ID resumes without a loss. Heartbeats keep it open.',
  ),
  'EVT-7': beyond(
    'A stream ends when its credential does. A caller has at most 20 streams (429 beyond), and a client that ' +
      'reads too slowly is disconnected.',
  ),
  'EVT-8': beyond(
    'A webhook is a record of /webhooks: address, events, filter, active. Its secret is in the response that ' +
      'creates it, and in no other. A rotated secret signs together with the new one for a day. It ends with the ' +
      'credential that made it, unless that is a token whose caller may make lasting keys (AUT-10). Its maker ' +
      'turns it on again with another one.',
  ),
  'EVT-9': beyond(
    'A delivery is a POST of a CloudEvents 1.0 event, signed as Standard Webhooks defines, with the request_id ' +
      'of the event as correlationid. Deliveries of one ' +
      'record are in order and at least once. A failed one is repeated for three days; 410 turns the webhook off.',
    'The checker makes no webhook that sends: its requests could reach a server that nobody asked.',
  ),
  'EVT-10': beyond(
    'Webhooks never reach private, loopback or link-local addresses, also not by name or by redirect, unless the ' +
      'operator allows the network. A URL with such an address, or with localhost, is refused: 400.',
    'It needs a receiver in the private network of the server.',
  ),
  'EVT-11': beyond(
    'Deliveries are a collection with their attempts and answers, and can be made again by POST /deliveries. A ' +
      'delivery shows only what its webhook may read at that moment. Its maker reads it, and administrators who ' +
      'may read the event.',
    'The checker makes no webhook that sends: its requests could reach a server that nobody asked.',
  ),
  'EVT-12': beyond(
    'Functions that are declared on created, updated, deleted, restored and purged run after the commit, at ' +
      'least once and in order for each record, on one of the servers. A function that keeps failing leaves a ' +
      'failed delivery, which can be made again.',
    'Clients do not see what functions of the server do.',
  ),
})

const noHistories = 'The checker has no cases of histories yet.'

const history = section('HIS', 'History', {
  'HIS-1': beyond(
    'A resource with `history: true` or `{ keep: P1Y }` keeps each state of each record in the transaction of ' +
      'its change, with the kind of the change, its time, caller, request and version. The first change of a ' +
      'record that was there before keeps the state before it too. With `keep`, a state is removed when its ' +
      'successor is older; the present one stays.',
    noHistories,
  ),
  'HIS-2': beyond(
    'States are listed at `/{collection}/{id}/revisions`, the newest first, and `/revisions/{id}` is one. A ' +
      'state is listed, counted and shown if `read` and `readHistory` (undeclared: administrators) permit the ' +
      'record as it is and as the state shows it; fields likewise. The history of a deleted record needs ' +
      '`include_deleted` and `readDeleted`.',
    noHistories,
  ),
  'HIS-3': beyond(
    'A record with `Accept-Datetime` is in the state that it had at the end of that second (RFC 7089): 200 with ' +
      '`Memento-Datetime` and `Link`, 404 where there was none, and the present state for a time in the future. ' +
      'A plain GET has `Vary: Accept-Datetime` too. The list is a time map as `application/link-format`. A ' +
      'malformed time, and a list with one, are 400 `MALFORMED_CONDITION`.',
    noHistories,
  ),
  'HIS-4': beyond(
    'A purge, a hard deletion, and `DELETE /{collection}/{id}/revisions` by callers who may `delete` and ' +
      '`readHistory`, erase former states: in the history, in `data` of events, and in kept responses. DELETE ' +
      'obeys `If-Match` of the record, is 204, and leaves the present state and the tag. While a job changes the ' +
      'record by a filter, it is 409 `BEING_CHANGED`. On SQLite the bytes are gone within a minute, on PostgreSQL ' +
      'with the next vacuum.',
    noHistories,
  ),
})

/** The sections about events and histories. */
export const eventRules = [events, history]
