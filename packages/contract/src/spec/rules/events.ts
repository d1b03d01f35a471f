/** Rules about events: the outbox, streams, webhooks, and functions that run after a change. */
import type { RuleSection } from './rule.ts'

const events: RuleSection = {
  prefix: 'EVT',
  title: 'Events',
  rules: [
    {
      id: 'EVT-1',
      mark: 'beyond',
      sentence:
        'A resource that is declared with events has one event for each change of each record, written in the ' +
        'transaction of the change: created, updated, deleted, restored, purged. Cascades, jobs and imports have ' +
        'them too. No acknowledged change lacks its event, and no event lacks its change.',
    },
    {
      id: 'EVT-2',
      mark: 'beyond',
      sentence:
        'GET /events is a collection like any other, in the order of the events: those of a record are in the order ' +
        'of its changes, and no event appears later before one that a reader has seen. It is filtered by collection, ' +
        'record, kind and created_at.',
    },
    {
      id: 'EVT-3',
      mark: 'beyond',
      sentence:
        'An event has id, collection, record, kind, data, request_id, created_at and updated_at. data is the record ' +
        'after the change as the version of the client shows it, and null where the record was deleted or purged. ' +
        'request_id is the `X-Request-Id` of the request that made the change, which the server chooses: the events ' +
        'of an array, a transaction, a cascade or a job have the same. It is null where no request made the change.',
    },
    {
      id: 'EVT-4',
      mark: 'beyond',
      sentence:
        'A caller gets an event only if the caller may read the record at that moment, both as the event shows it ' +
        'and as it is. Of a deleted record, only deletions remain for callers who may not read deleted records, and ' +
        'of a purged one the last of them.',
    },
    {
      id: 'EVT-5',
      mark: 'beyond',
      sentence:
        'Events are kept for the declared time, seven days by default. A request that continues after an event ' +
        'that is no longer kept gets 410 EVENTS_EXPIRED.',
    },
    {
      id: 'EVT-6',
      mark: 'beyond',
      sentence:
        'GET /events with Accept: text/event-stream is a stream of server-sent events with id, event and data, which ' +
        'Last-Event-ID resumes without a loss. Heartbeats keep it open.',
    },
    {
      id: 'EVT-7',
      mark: 'beyond',
      sentence:
        'A stream ends when its credential does. A caller has at most 20 streams (429 beyond), and a client that ' +
        'reads too slowly is disconnected.',
    },
    {
      id: 'EVT-8',
      mark: 'beyond',
      sentence:
        'A webhook is a record of /webhooks: address, events, filter, active. Its secret is in the response that ' +
        'creates it, and in no other. A rotated secret signs together with the new one for a day. It ends with the ' +
        'credential that made it, unless that is a token whose caller may make lasting keys (AUT-10). Its maker ' +
        'turns it on again with another one.',
    },
    {
      id: 'EVT-9',
      mark: 'beyond',
      sentence:
        'A delivery is a POST of a CloudEvents 1.0 event, signed as Standard Webhooks defines, with the request_id ' +
        'of the event as correlationid. Deliveries of one ' +
        'record are in order and at least once. A failed one is repeated for three days; 410 turns the webhook off.',
      unobservable: 'The checker makes no webhook that sends: its requests could reach a server that nobody asked.',
    },
    {
      id: 'EVT-10',
      mark: 'beyond',
      sentence:
        'Webhooks never reach private, loopback or link-local addresses, also not by name or by redirect, unless the ' +
        'operator allows the network. A URL with such an address, or with localhost, is refused: 400.',
      unobservable: 'It needs a receiver in the private network of the server.',
    },
    {
      id: 'EVT-11',
      mark: 'beyond',
      sentence:
        'Deliveries are a collection with their attempts and answers, and can be made again by POST /deliveries. A ' +
        'delivery shows only what its webhook may read at that moment. Its maker reads it, and administrators who ' +
        'may read the event.',
      unobservable: 'The checker makes no webhook that sends: its requests could reach a server that nobody asked.',
    },
    {
      id: 'EVT-12',
      mark: 'beyond',
      sentence:
        'Functions that are declared on created, updated, deleted, restored and purged run after the commit, at ' +
        'least once and in order for each record, on one of the servers. A function that keeps failing leaves a ' +
        'failed delivery, which can be made again.',
      unobservable: 'Clients do not see what functions of the server do.',
    },
  ],
}

/** The sections about events. */
export const eventRules: readonly RuleSection[] = [events]
