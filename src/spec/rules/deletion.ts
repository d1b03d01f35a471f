/** How records go, come back, and go for good; and the long work that this can be. */
import type { RuleSection } from './rule.ts'

export const deletion: RuleSection = {
  prefix: 'DEL',
  title: 'Deletion',
  rules: [
    {
      id: 'DEL-1',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A resource is deleted softly (unless declared otherwise) or for good. Either way GET then answers 404 and lists leave the record out; soft deletion keeps the data.',
    },
    {
      id: 'DEL-2',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A deletion answers 204 without body, or where declared 200 with exactly id and deleted_at, or 202 where it takes long.',
    },
    {
      id: 'DEL-3',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence: 'Deleting once more answers 404, or 204 where that is declared.',
    },
    {
      id: 'DEL-4',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A deletion that dependents or a declared rule forbid changes nothing and answers 409, and errors names what is in the way.',
    },
    {
      id: 'DEL-5',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence:
        'Declared as cascade, a reference takes the dependents along in the same transaction, each by the variant of its own resource; declared as clear, it becomes null.',
    },
    {
      id: 'DEL-6',
      mark: 'specification',
      level: 'may',
      held: true,
      sentence:
        'POST to restore answers 200 with a soft-deleted record made live again, and brings back exactly what that deletion took along. 404 where it is not retained, 409 where it is live, where a unique value was taken meanwhile, or where its parent is deleted.',
    },
    {
      id: 'DEL-7',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'After the grace period, 30 days unless declared, a purge removes the data in batches, goes on after a crash, and never takes a live record. From that moment the record is gone to every caller. While the clock differs by more than a day from the last purge or the newest record, purging stops, says why, and waits for confirmation.',
    },
    {
      id: 'DEL-8',
      mark: 'specification',
      level: 'may',
      held: true,
      sentence:
        'Long deletions answer 202 with status, job_id and status_url, with Location and Retry-After: when declared, when more records go than the declared bound, or when the client prefers it.',
    },
    {
      id: 'DEL-9',
      mark: 'specification',
      level: 'may',
      held: true,
      sentence:
        'POST to bulk-delete removes the listed ids all together or not at all: 200 with id and deleted_at of each in the order asked, or one answer with the reason for every id that cannot go.',
    },
    {
      id: 'DEL-10',
      mark: 'specification',
      level: 'may',
      held: true,
      sentence:
        'DELETE of a collection by filter works only where declared, and only with at least one filter. It answers 200 with the number deleted, or 202; a stated maximum stops it with 409 before anything goes.',
    },
    {
      id: 'DEL-11',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence: 'Values declared unique are unique among live records only.',
    },
  ],
}

export const jobs: RuleSection = {
  prefix: 'JOB',
  title: 'Long work',
  rules: [
    {
      id: 'JOB-1',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'GET of a job says its id, status, address, kind, progress, times, result, and the problem where it failed.',
    },
    {
      id: 'JOB-2',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence: 'A job is pending, running, succeeded or failed, and carries Retry-After until it is final.',
    },
    {
      id: 'JOB-3',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence: 'Jobs are records in the database: no crash loses one, and a running one goes on from its last batch.',
      unobservable: 'Only someone who can kill the server during a job sees whether the job survives.',
    },
    {
      id: 'JOB-4',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence:
        'A job is seen by who started it and by administrators, others get 403. It is kept for 30 days, and the jobs collection lists it.',
    },
    {
      id: 'JOB-5',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence: 'Where several servers share a database, each batch runs on exactly one of them.',
      unobservable:
        'Responses do not say which of several servers ran a batch. Cases of DEL and JOB-2 check the result.',
    },
    {
      id: 'JOB-6',
      mark: 'beyond',
      level: 'may',
      held: true,
      sentence:
        'POST to exports writes a collection, filtered and sorted, to a file as JSON, NDJSON or CSV; the job ends with an address that answers ranges, so that a broken download can go on.',
    },
  ],
}
