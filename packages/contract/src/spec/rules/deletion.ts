/** Rules about deletion, restoration and background jobs. */
import type { RuleSection } from './rule.ts'

const deletion: RuleSection = {
  prefix: 'DEL',
  title: 'Deletion',
  rules: [
    {
      id: 'DEL-1',
      mark: 'specification',
      sentence:
        'A resource is deleted softly (unless declared otherwise) or for good. Either way GET then answers 404 and ' +
        'lists leave the record out; soft deletion keeps the data.',
    },
    {
      id: 'DEL-2',
      mark: 'specification',
      sentence:
        'A deletion answers 204 without body, or where declared 200 with exactly id and deleted_at, or 202 where it ' +
        'takes long.',
    },
    {
      id: 'DEL-3',
      mark: 'specification',
      sentence: 'Deleting once more answers 404, or 204 where that is declared.',
    },
    {
      id: 'DEL-4',
      mark: 'specification',
      sentence:
        'A deletion that dependents or a declared rule forbid changes nothing and answers 409, and errors names ' +
        'what is in the way.',
    },
    {
      id: 'DEL-5',
      mark: 'decision',
      sentence:
        'If a reference is declared as cascade, deleting its target also deletes the referring records, each by the ' +
        'variant of its own resource. A reference declared as clear becomes null. At most 1,000 records are one ' +
        'transaction, unless the deletion is a job. A job, and on SQLite or by filter a deletion of more records, ' +
        'goes in steps: others can see a part of it, and after a crash it is continued as a job.',
    },
    {
      id: 'DEL-6',
      mark: 'specification',
      isOptional: true,
      sentence:
        'POST to restore makes a soft-deleted record live again, answers 200 with it, and also restores exactly the ' +
        'records that were deleted with it. It answers 404 if the record is not retained, and 409 if it is live, if ' +
        'a unique value was taken meanwhile, or if its parent is deleted.',
    },
    {
      id: 'DEL-7',
      mark: 'specification',
      sentence:
        'After the grace period, 30 days unless declared, a purge removes the data in batches, goes on after a ' +
        'crash, and never removes a live record. From the end of the grace period no caller can reach the record. ' +
        'While the clock differs by more than a day from the last purge or the newest record, purging stops, says ' +
        'why, and waits for confirmation.',
    },
    {
      id: 'DEL-8',
      mark: 'specification',
      isOptional: true,
      sentence:
        'Long deletions answer 202 with status, job_id and status_url, with Location and Retry-After: when ' +
        'declared, when more records are deleted than the declared bound, or when the client prefers it.',
    },
    {
      id: 'DEL-9',
      mark: 'specification',
      isOptional: true,
      sentence:
        'POST to bulk-delete deletes all listed ids or none: 200 with id and deleted_at of each in the order sent, ' +
        'or one response with the reason for every id that cannot be deleted. With dry_run it deletes nothing, even ' +
        'under an Idempotency-Key, and answers 200 with what would happen (DEL-12).',
    },
    {
      id: 'DEL-10',
      mark: 'specification',
      isOptional: true,
      sentence:
        'DELETE of a collection by filter works only where declared, and only with at least one filter. It answers ' +
        '200 with the number deleted, or 202; if more records match than a stated maximum, it deletes none and ' +
        'answers 409.',
    },
    {
      id: 'DEL-11',
      mark: 'decision',
      sentence: 'Values declared unique are unique among live records only.',
    },
    {
      id: 'DEL-12',
      mark: 'beyond',
      sentence:
        'GET of /{collection}/{id}/deletion says what DELETE of the record would do now, and changes nothing: how ' +
        'many records are deleted, how many references become null, what blocks it, whether a job deletes them, and ' +
        'until when they are kept. It counts only what the caller may read. Beyond 10,000 records, counts are lower ' +
        'bounds and complete is false.',
      unobservable: 'Other servers preview deletions elsewhere, or not at all.',
    },
    {
      id: 'DEL-13',
      mark: 'decision',
      sentence:
        'A restoration of more than 5,000 records, or one for which the client prefers it, answers 202 with a job of ' +
        'kind restoration, once everything was checked. Until it ends its records cannot be changed; if something ' +
        'blocks it by then, all of them are deleted again, and the job fails.',
      unobservable: 'Other servers restore at once, or call their jobs otherwise.',
    },
  ],
}

const jobs: RuleSection = {
  prefix: 'JOB',
  title: 'Long work',
  rules: [
    {
      id: 'JOB-1',
      mark: 'specification',
      sentence:
        'GET of a job returns its id, status, address, kind, progress, times, result, and the problem if it failed.',
    },
    {
      id: 'JOB-2',
      mark: 'decision',
      sentence: 'A job is pending, running, succeeded or failed, and carries Retry-After until it is final.',
    },
    {
      id: 'JOB-3',
      mark: 'decision',
      sentence:
        'Jobs are records in the database: a crash loses none, and a running job continues after its last batch.',
      unobservable: 'Only someone who can kill the server during a job sees whether the job survives.',
    },
    {
      id: 'JOB-4',
      mark: 'decision',
      sentence:
        'Only the caller who started a job and administrators can read it; others get 403. It is kept for 30 days, ' +
        'and the jobs collection lists it.',
    },
    {
      id: 'JOB-5',
      mark: 'decision',
      sentence: 'Where several servers share a database, each batch runs on exactly one of them.',
      unobservable:
        'Responses do not say which of several servers ran a batch. Cases of DEL and JOB-2 check the result.',
    },
    {
      id: 'JOB-6',
      mark: 'beyond',
      sentence:
        'POST to exports writes a collection, filtered and sorted, to a file as JSON, NDJSON or CSV; the job ends ' +
        'with an address that supports ranges, so that an interrupted download can be continued.',
    },
  ],
}

export const deletionRules = [deletion, jobs]
