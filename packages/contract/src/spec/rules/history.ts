/** The rules about the history of records. */
import type { RuleSection } from './rule.ts'

const unobservable = 'The checker has no cases of histories yet.'

const history: RuleSection = {
  prefix: 'HIS',
  title: 'History',
  rules: [
    {
      id: 'HIS-1',
      mark: 'beyond',
      sentence:
        'A resource with `history: true` or `{ keep: P1Y }` keeps each state of each record in the transaction of ' +
        'its change, with the kind of the change, its time, caller, request and version. The first change of a ' +
        'record that was there before keeps the state before it too. With `keep`, a state is removed when its ' +
        'successor is older; the present one stays.',
      unobservable,
    },
    {
      id: 'HIS-2',
      mark: 'beyond',
      sentence:
        'States are listed at `/{collection}/{id}/revisions`, the newest first, and `/revisions/{id}` is one. A ' +
        'state is listed, counted and shown if `read` and `readHistory` (undeclared: administrators) permit the ' +
        'record as it is and as the state shows it; fields likewise. The history of a deleted record needs ' +
        '`include_deleted` and `readDeleted`.',
      unobservable,
    },
    {
      id: 'HIS-3',
      mark: 'beyond',
      sentence:
        'A record with `Accept-Datetime` is in the state that it had at the end of that second (RFC 7089): 200 with ' +
        '`Memento-Datetime` and `Link`, 404 where there was none, and the present state for a time in the future. ' +
        'A plain GET has `Vary: Accept-Datetime` too. The list is a time map as `application/link-format`. A ' +
        'malformed time, and a list with one, are 400 `MALFORMED_CONDITION`.',
      unobservable,
    },
    {
      id: 'HIS-4',
      mark: 'beyond',
      sentence:
        'A purge, a hard deletion, and `DELETE /{collection}/{id}/revisions` by callers who may `delete` and ' +
        '`readHistory`, erase former states: in the history, in `data` of events, and in kept responses. DELETE ' +
        'obeys `If-Match` of the record, is 204, and leaves the present state and the tag. While a job changes the ' +
        'record by a filter, it is 409 `BEING_CHANGED`. On SQLite the bytes are gone within a minute, on PostgreSQL ' +
        'with the next vacuum.',
      unobservable,
    },
  ],
}

/** The section about history. */
export const historyRules: readonly RuleSection[] = [history]
