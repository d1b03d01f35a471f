/** Rules about many changes in one request. */
import { beyond, section } from './rule.ts'

const unobservable = 'Other servers change many records in their own way, or not at all.'

const manyChanges = section('BLK', 'Many changes at once', {
  'BLK-1': beyond(
    'POST of a collection with an array creates all of its records or none: 201 with `{"data": [...]}` in the ' +
      'order of the request. An array has at most 1,000 records (`limits.bulk`). One response has the errors of ' +
      'all records, with pointers such as `/3/title`, in the order of CON-6 for the whole; a unique value that two ' +
      'of them share is reported at both. `Idempotency-Key` holds for the whole. Nested collections take arrays too.',
    unobservable,
  ),
  'BLK-2': beyond(
    'PATCH of a collection with an array of objects with `id` merges each, or none. PUT with `key=sku` replaces ' +
      'the record that has the value of this unique field, or creates it; PUT with `sku=ABC` does so for one ' +
      'record: 200, or 201 with Location. `If-None-Match: *` only creates, `If-Match` only replaces. ' +
      'Uniqueness is decided at the end, so records may exchange values, but not those by which access rules look ' +
      'records up. Business rules see the changes of the records before, and no record without a value that it ' +
      'exchanges. Where conditions are required, an array is 428.',
    unobservable,
  ),
  'BLK-3': beyond(
    'Where `updates: { byFilter: true }` is declared, PATCH of a collection with a filter and a merge patch ' +
      'changes every match that the caller may read and change, or none: 200 with `updated_count`, which also ' +
      'counts those that have the values already. More than `updates.above` (1,000) matches are 202 and a job, ' +
      'after every match was checked; until the job ends, other changes of them are 409 `BEING_CHANGED`, and a job ' +
      'that cannot go on restores every record and fails. Undeclared it is 405 `UPDATE_BY_FILTER_NOT_DECLARED`, a ' +
      'JSON Patch 415, an array 400. Filters, `max-affected` and `respond-async` are as for DEL-10.',
    unobservable,
  ),
  'BLK-4': beyond(
    'Transactions: `POST /transactions` with `{"operations": [{"method", "path", "body", "if_match", "as"}]}`, ' +
      'at most 100, runs all of them in order in one transaction, or none: 200 ' +
      '`{"results": [{"status", "location", "etag", "body"}]}`. Operations are POST, PUT, PATCH and DELETE of ' +
      'declared collections (with arrays too), nested collections and records, and `restore`; anything else is 400 ' +
      '`OPERATION_NOT_ALLOWED`. Each obeys every rule that it would alone, and sees what earlier ones have ' +
      'changed. In a body `{"$ref": "box.id"}` stands for a value of the result of the earlier operation with ' +
      '`"as": "box"`, as the caller sees it, in a path `{box.id}` for its id, and `{"$value": …}` for anything as ' +
      'it is. A refusal has the status of the first operation that failed, and pointers such as ' +
      '`/operations/2/body/title`. More than 1,000 changed records, cascades included, and what would be a job, ' +
      'are 409 `TRANSACTION_TOO_LARGE`. `Idempotency-Key` holds for the whole. A declared collection ' +
      '`transactions` keeps its address.',
    unobservable,
  ),
})

export const changeRules = [manyChanges]
