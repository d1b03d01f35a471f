/** Error codes of requests that permissions, conditions or stored records forbid. */
export const stateFaults = {
  FORBIDDEN: {
    status: 403,
    title: 'You may not do this',
    rule: 'AUT-4',
    meaning: 'The caller is authenticated, but lacks the permission.',
    remedy:
      'Ask the operator of the service for the permission. Do not repeat the request; the response will be the same.',
  },
  PRECONDITION_REQUIRED: {
    status: 428,
    title: 'This request must be conditional',
    rule: 'CON-7',
    meaning: 'Changes to this resource need a condition, so that no update is lost.',
    remedy: 'Read the record, and send its ETag in If-Match.',
  },
  PRECONDITION_FAILED: {
    status: 412,
    title: 'The record is not in the expected state',
    rule: 'CON-3',
    meaning: 'The record was changed since the tag or date in the condition.',
    remedy: 'Read the record again, apply the change to its current state, and send the new ETag.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    title: 'The first request with this Idempotency-Key still runs',
    rule: 'MET-9',
    meaning: 'An earlier request with this Idempotency-Key is still running.',
    remedy: 'Repeat the request in a moment with the same key: the response will be that of the first request.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'The Idempotency-Key was used for another request',
    rule: 'MET-9',
    meaning: 'An earlier request with this Idempotency-Key had another body.',
    remedy: 'Use a new key for each new creation, and the same key only to repeat a request with the same body.',
  },
  KEY_SHOWN_ONCE: {
    status: 409,
    title: 'The key was made, and is shown only once',
    rule: 'AUT-2',
    meaning: 'An earlier request with this Idempotency-Key created an API key. Only its response showed the key.',
    remedy:
      'If that response is lost, revoke the key that detail names, and create another one with a new Idempotency-Key.',
  },
  KEY_QUOTA: {
    status: 409,
    title: 'The subject has as many API keys as are allowed',
    rule: 'AUT-10',
    meaning: 'The subject has as many valid API keys as limits.keys.perSubject allows (100 by default).',
    remedy: 'Revoke keys that are no longer used (last_used_at shows which), then repeat the request.',
  },
  VALIDATION_FAILED: {
    status: 400,
    title: 'The record is not valid',
    rule: 'ERR-3',
    meaning: 'The body is JSON, but its fields break the rules of the resource.',
    remedy: 'Correct every field that errors points at.',
  },
  CONFLICT: {
    status: 409,
    title: 'The request contradicts the current state',
    rule: 'ERR-5',
    meaning:
      'Several reasons in the current state prevent the change. A single reason has its own code: one of those ' +
      'below, or the code of a declared business rule.',
    remedy: 'Resolve what errors describes, then repeat the request.',
  },
  DUPLICATE_VALUE: {
    status: 409,
    title: 'A value that must be unique is taken',
    rule: 'DEL-11',
    meaning: 'Another live record has the same value in a unique field.',
    remedy: 'Choose another value, or change the other record first.',
  },
  INVALID_TRANSITION: {
    status: 409,
    title: 'The field cannot change in this way now',
    rule: 'ERR-5',
    meaning: 'A field with declared transitions cannot change from its current value to the one sent.',
    remedy: 'Change it in steps, by the values that the current one can change to.',
  },
  NOT_DELETED: {
    status: 409,
    title: 'The record is not deleted',
    rule: 'DEL-6',
    meaning: 'The record to restore is not deleted.',
    remedy: 'Nothing needs to be done.',
  },
  REFERENCE_DELETED: {
    status: 409,
    title: 'A record that this one refers to is deleted',
    rule: 'DEL-6',
    meaning: 'The record to restore refers to a record that is deleted or purged.',
    remedy: 'Restore the referenced record first. If its deletion also deleted this record, both are restored.',
  },
  TEXT_TOO_LONG: {
    status: 409,
    title: 'A text has more bytes than records can be found by',
    rule: 'LIM-3',
    meaning: 'The record to restore has a text that is too long for an index that was declared after the deletion.',
    remedy: 'Create a new record with a shorter text. `errors` names the field, and the record if it is another one.',
  },
  BEING_DELETED: {
    status: 409,
    title: 'The record is being deleted',
    rule: 'DEL-8',
    meaning:
      'A background deletion includes the record or a record that it refers to, or has just deleted the record to ' +
      'restore.',
    remedy:
      'Wait until the job has ended. Then the record is deleted, or can be restored with everything that was ' +
      'deleted with it.',
  },
  TOO_MANY_AFFECTED: {
    status: 409,
    title: 'More records match than may be affected',
    rule: 'DEL-10',
    meaning: 'A deletion by filter would delete more records than max-affected allows; none was deleted.',
    remedy: 'Check which records match, narrow the filter, or allow the number that errors names.',
  },
  EXPORT_QUOTA: {
    status: 409,
    title: 'The caller has as many exports as allowed',
    rule: 'LIM-8',
    meaning:
      'The caller has as many exports, or as many bytes in their files, as allowed; or the file of this export ' +
      'would exceed the limit.',
    remedy:
      'Delete exports that are no longer needed by DELETE /exports/{id}, or wait: they expire a day after they were ' +
      'written. Ask for fewer records or fields.',
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
    remedy: 'First delete the records that errors names, or change their reference.',
  },
} as const
