/** Error codes of requests that permissions, conditions or the stored records forbid. */
export const stateFaults = {
  FORBIDDEN: {
    status: 403,
    title: 'You may not do this',
    rule: 'AUT-4',
    meaning: 'The caller is known and may not do this.',
    remedy: 'Ask whoever runs the service for the permission; repeating the request changes nothing.',
  },
  PRECONDITION_REQUIRED: {
    status: 428,
    title: 'This request must be conditional',
    rule: 'CON-7',
    meaning: 'Records of this resource change only under a condition, so that no update is lost.',
    remedy: 'Read the record, and send its ETag in If-Match.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    title: 'The record is not in the expected state',
    rule: 'CON-3',
    meaning: 'The record was changed since the tag or date in the condition.',
    remedy: 'Read the record again, apply the change to what it is now, and send the new ETag.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    title: 'The first request with this Idempotency-Key still runs',
    rule: 'MET-9',
    meaning: 'The same request came before with this Idempotency-Key, and is not finished.',
    remedy: 'Repeat it in a moment, with the same key: the answer will be that of the first.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    rule: 'MET-9',
    meaning: 'The same Idempotency-Key came before with another body.',
    remedy: 'Take a new key for each new creation, and the same only for the very same body.',
  },
  KEY_SHOWN_ONCE: {
    status: 409,
    title: 'The key was made, and is shown only once',
    rule: 'AUT-2',
    meaning:
      'The request came before with this Idempotency-Key, and made an API key, which its answer alone has shown.',
    remedy:
      'Where that answer is lost, revoke the key that detail names, and ask for another with a new Idempotency-Key.',
  },
  KEY_QUOTA: {
    status: 409,
    title: 'The subject has as many API keys as are allowed',
    rule: 'AUT-10',
    meaning: 'The subject has as many valid API keys as limits.keys.perSubject allows (100 unless declared).',
    remedy: 'Revoke the keys that are not used any more: last_used_at says which. Then repeat the request.',
  },
  VALIDATION_FAILED: {
    status: 400,
    title: 'The record is not valid',
    rule: 'ERR-3',
    meaning: 'The body is JSON, and its fields break the rules of the resource.',
    remedy: 'Correct every field that errors points at.',
  },
  CONFLICT: {
    status: 409,
    title: 'The request contradicts the current state',
    rule: 'ERR-5',
    meaning:
      'Several things in the present state stand against the change. Where it is one alone, its own code stands here: one of those below, or the code of a declared business rule.',
    remedy: 'Resolve what errors describes, then repeat the request.',
  },
  DUPLICATE_VALUE: {
    status: 409,
    title: 'A value that must be unique is taken',
    rule: 'DEL-11',
    meaning: 'Another live record has a value that must be unique.',
    remedy: 'Choose another value, or change the other record first.',
  },
  INVALID_TRANSITION: {
    status: 409,
    title: 'The field cannot change in this way now',
    rule: 'ERR-5',
    meaning: 'A field with declared transitions cannot go from its present value to the one sent.',
    remedy: 'Go by way of the values that the present one leads to.',
  },
  NOT_DELETED: {
    status: 409,
    title: 'The record is not deleted',
    rule: 'DEL-6',
    meaning: 'What was to be restored is live.',
    remedy: 'Nothing is left to do.',
  },
  REFERENCE_DELETED: {
    status: 409,
    title: 'A record that this one refers to is deleted',
    rule: 'DEL-6',
    meaning: 'What was to be restored refers to a record that is deleted, or gone for good.',
    remedy:
      'Restore the record that it refers to first; its deletion may have taken this one along, and then brings it back.',
  },
  TEXT_TOO_LONG: {
    status: 409,
    title: 'A text has more bytes than records can be found by',
    rule: 'LIM-3',
    meaning:
      'What was to be restored has a text that is too long for an index. The index was declared after the record was deleted.',
    remedy:
      'Create a new record with a shorter text. `errors` names the field, and the record where it is another one.',
  },
  BEING_DELETED: {
    status: 409,
    title: 'The record is being deleted',
    rule: 'DEL-8',
    meaning:
      'A deletion that runs as a job takes the record along, or one that it refers to, or has just deleted what would be restored.',
    remedy: 'Wait until the job is finished; then the record is gone, or can be restored with all that went along.',
  },
  TOO_MANY_AFFECTED: {
    status: 409,
    title: 'More records match than may be affected',
    rule: 'DEL-10',
    meaning: 'A deletion by filter would delete more records than max-affected allows; none was deleted.',
    remedy: 'Look at what matches, narrow the filter, or allow as many as errors counts.',
  },
  EXPORT_QUOTA: {
    status: 409,
    title: 'The caller has as many exports as allowed',
    rule: 'LIM-8',
    meaning:
      'The caller has as many exports as allowed, or their files have as many bytes as allowed; or the file of this export would have too many.',
    remedy:
      'Delete exports that are no longer needed by DELETE /exports/{id}, or wait until they expire a day after they were written. Ask for fewer records or fields.',
  },
  JOB_NOT_FINISHED: {
    status: 409,
    title: 'The job has not ended yet',
    rule: 'LIM-8',
    meaning: 'The job is pending or running, so it cannot be deleted.',
    remedy: 'Wait until its status is succeeded or failed, then delete it.',
  },
  HAS_DEPENDENTS: {
    status: 409,
    title: 'Other records depend on this one',
    rule: 'DEL-4',
    meaning: 'Live records refer to this one, and their reference forbids its deletion.',
    remedy: 'Delete or move the records that errors names first.',
  },
} as const
