/** Rules about related records in one response. */
import { beyond, decided, section } from './rule.ts'

const unobservable = 'Other servers include related records in their own way, or not at all.'

const related = section('REL', 'Related records', {
  'REL-1': beyond(
    'On GET, HEAD and QUERY of a record, a collection and a nested collection, ' +
      '`include=author,chapters.translator` names related records, at most two relations far and at most 8 paths ' +
      '(`limits.include.paths`). A reference ' +
      'makes a relation to one record, named as the field without `_id` or by `as`, and back a relation to many, ' +
      'named as the collection with `_` or by `inverse`. Anything else is 400, with the relations that exist.',
    unobservable,
  ),
  'REL-2': beyond(
    'A list then has `included`, the records by collection and id, each once, and `related`, for each relation ' +
      'to many `ids`, `total_count` and `next` by path and record. A single record is `data` beside them. An ' +
      'included record has the JSON of its own GET. Without `include` nothing changes.',
    unobservable,
  ),
  'REL-3': beyond(
    'Of a relation to many each record has at most 20 ids, the oldest first. The parameters ' +
      '`include[books][limit]` (0 to the largest page), `include[books][sort]`, `include[books][where]` and ' +
      '`fields[books]` change that. ' +
      'The number `total_count` is exact, and `next` is the address where a list goes on with the others; null ' +
      'where there are none.',
    unobservable,
  ),
  'REL-4': decided(
    'Each related record obeys its own rules: permissions for records and fields, versions and deletion; deleted ' +
      'ones only with `include_deleted`, for callers who may read those of their collection. What the caller may ' +
      'not read is absent and not counted, as if it were not there; a reference to it stays the id.',
    unobservable,
  ),
  'REL-5': decided(
    'A response includes at most 1,000 records (`limits.include.records`), and all its records, ids and ' +
      'addresses together have at most the bytes of a page (LIM-6). A page by cursor ends before the record that ' +
      'would pass a limit; otherwise 400 `INCLUDE_TOO_LARGE` names the parameters to lower, and the numbers that ' +
      'fit.',
    unobservable,
  ),
  'REL-6': decided(
    'The entity tag of a response with `include` changes with every part of the response, and `If-None-Match` ' +
      'gives 304. For a single record, `If-Match` takes it as the tag of the record alone.',
    unobservable,
  ),
})

export const relatedRules = [related]
