/** Rules about deletion, restoration and background jobs. */
import { beyond, decided, demanded, optional, section } from './rule.ts'

const deletion = section('DEL', 'Deletion', {
  'DEL-1': demanded(
    'A resource is deleted softly (unless declared otherwise) or for good. Either way GET then answers 404 and ' +
      'lists leave the record out; soft deletion keeps the data.',
  ),
  'DEL-2': demanded(
    'A deletion answers 204 without body, or where declared 200 with exactly id and deleted_at, or 202 where it ' +
      'takes long.',
  ),
  'DEL-3': demanded('Deleting once more answers 404, or 204 where that is declared.'),
  'DEL-4': demanded(
    'A deletion that dependents or a declared rule forbid changes nothing and answers 409, and errors names ' +
      'what is in the way.',
  ),
  'DEL-5': decided(
    'If a reference is declared as cascade, deleting its target also deletes the referring records, each by the ' +
      'variant of its own resource. A reference declared as clear becomes null. At most 1,000 records are one ' +
      'transaction, unless the deletion is a job. A job, and on SQLite or by filter a deletion of more records, ' +
      'goes in steps: others can see a part of it, and after a crash it is continued as a job.',
  ),
  'DEL-6': optional(
    'POST to restore makes a soft-deleted record live again, answers 200 with it, and also restores exactly the ' +
      'records that were deleted with it. It answers 404 if the record is not retained, and 409 if it is live, if ' +
      'a unique value was taken meanwhile, or if its parent is deleted.',
  ),
  'DEL-7': demanded(
    'After the grace period, 30 days unless declared, a purge removes the data in batches, goes on after a ' +
      'crash, and never removes a live record. From the end of the grace period no caller can reach the record. ' +
      'While the clock differs by more than a day from the last purge or the newest record, purging stops, says ' +
      'why, and waits for confirmation.',
  ),
  'DEL-8': optional(
    'Long deletions answer 202 with status, job_id and status_url, with Location and Retry-After: when ' +
      'declared, when more records are deleted than the declared bound, or when the client prefers it.',
  ),
  'DEL-9': optional(
    'POST to bulk-delete deletes all listed ids or none: 200 with id and deleted_at of each in the order sent, ' +
      'or one response with the reason for every id that cannot be deleted. With dry_run it deletes nothing, even ' +
      'under an Idempotency-Key, and answers 200 with what would happen (DEL-12).',
  ),
  'DEL-10': optional(
    'DELETE of a collection by filter works only where declared, and only with at least one filter. It answers ' +
      '200 with the number deleted, or 202; if more records match than a stated maximum, it deletes none and ' +
      'answers 409.',
  ),
  'DEL-11': decided('Values declared unique are unique among live records only.'),
  'DEL-12': beyond(
    'GET of /{collection}/{id}/deletion says what DELETE of the record would do now, and changes nothing: how ' +
      'many records are deleted, how many references become null, what blocks it, whether a job deletes them, and ' +
      'until when they are kept. It counts only what the caller may read. Beyond 10,000 records, counts are lower ' +
      'bounds and complete is false.',
    'Other servers preview deletions elsewhere, or not at all.',
  ),
  'DEL-13': decided(
    'A restoration of more than 5,000 records, or one for which the client prefers it, answers 202 with a job of ' +
      'kind restoration, once everything was checked. Until it ends its records cannot be changed; if something ' +
      'blocks it by then, all of them are deleted again, and the job fails.',
    'Other servers restore at once, or call their jobs otherwise.',
  ),
})

const jobs = section('JOB', 'Long work', {
  'JOB-1': demanded(
    'GET of a job returns its id, status, address, kind, progress, times, result, and the problem if it failed.',
  ),
  'JOB-2': decided('A job is pending, running, succeeded or failed, and carries Retry-After until it is final.'),
  'JOB-3': decided(
    'Jobs are records in the database: a crash loses none, and a running job continues after its last batch.',
    'Only someone who can kill the server during a job sees whether the job survives.',
  ),
  'JOB-4': decided(
    'Only the caller who started a job and administrators can read it; others get 403. It is kept for 30 days, ' +
      'and the jobs collection lists it.',
  ),
  'JOB-5': decided(
    'Where several servers share a database, each batch runs on exactly one of them.',
    'Responses do not say which of several servers ran a batch. Cases of DEL and JOB-2 check the result.',
  ),
  'JOB-6': beyond(
    'POST to exports writes a collection, filtered and sorted, to a file as JSON, NDJSON or CSV; the job ends ' +
      'with an address that supports ranges, so that an interrupted download can be continued.',
  ),
})

export const deletionRules = [deletion, jobs]
