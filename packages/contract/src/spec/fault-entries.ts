/** The error codes that end a request, with everything that the interface says about each. */
import { type FaultEntry, failures } from './failure-entries.ts'

/** By code, in the order in which a request can fail. */
export const faults = {
  // The server cannot read, authenticate or process the request as sent.
  MALFORMED_REQUEST: {
    status: 400,
    title: 'The request is not well-formed HTTP',
    rule: 'ERR-5',
    meaning: 'The received bytes are not an HTTP request that can be read safely.',
    remedy: 'Send well-formed HTTP: one Host, one length, no control characters in header fields.',
  },
  MALFORMED_URL: {
    status: 400,
    title: 'The address has an invalid percent-escape',
    rule: 'RES-10',
    meaning:
      'A percent sign in the path or the query is not followed by two hexadecimal digits, or the bytes are not UTF-8.',
    remedy: 'Encode the address, in JavaScript with encodeURIComponent; a percent sign itself is %25.',
  },
  URL_TOO_LONG: {
    status: 414,
    title: 'The address is too long',
    rule: 'LIM-3',
    meaning: 'The address has more bytes than the server accepts.',
    remedy: 'Ask for fewer values at once, or split the request.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'The request headers are too large',
    rule: 'LIM-3',
    meaning: 'All header fields together have more bytes than the server accepts.',
    remedy: 'Send fewer or shorter header fields; cookies are never needed.',
  },
  HTTPS_REQUIRED: {
    status: 403,
    title: 'HTTPS is required',
    rule: 'SEC-1',
    meaning: 'The request was sent over plain HTTP.',
    remedy:
      'Use the https address. A proxy in front of the server must say in Forwarded or X-Forwarded-Proto that it ' +
      'received the request over HTTPS.',
  },
  CREDENTIAL_IN_QUERY: {
    status: 400,
    title: 'A secret was sent in the query string',
    rule: 'QRY-9',
    meaning: 'A query parameter holds a secret. Addresses are kept in logs and browser histories.',
    remedy: 'Send the credential as Authorization: Bearer, and replace the one that was exposed.',
  },
  UNAUTHENTICATED: {
    status: 401,
    title: 'A valid credential is required',
    rule: 'AUT-1',
    meaning: 'The credential is missing, unknown, expired or revoked.',
    remedy: 'Send Authorization: Bearer with a valid key.',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'There were too many requests',
    rule: 'LIM-1',
    meaning:
      'The caller sent too many requests, or the address sent too many requests without a valid credential, such as ' +
      'this one.',
    remedy: 'Wait for the seconds in Retry-After. RateLimit on every response says how many requests are left.',
  },
  ANSWERS_UNREAD: {
    status: 429,
    title: 'Too many bytes of earlier answers were not read',
    rule: 'LIM-6',
    meaning: 'More than 16 MiB of responses to this caller are on their way and have not been read.',
    remedy: 'Read the pending responses, or close their connections; then send the request again.',
  },
  TOO_MANY_STREAMS: {
    status: 429,
    title: 'The caller has as many streams as are allowed',
    rule: 'EVT-7',
    meaning: 'The caller has as many open streams of events as limits.events.streams allows (20 by default).',
    remedy: 'Close a stream that is no longer needed, or wait for the seconds in Retry-After.',
  },
  NO_TENANT: {
    status: 403,
    title: 'The credential names no tenant',
    rule: 'TEN-1',
    meaning: 'Every request belongs to a tenant, and neither the key nor a claim of the caller names one.',
    remedy: 'Use a credential that names your tenant.',
  },
  UNKNOWN_TENANT: {
    status: 403,
    title: 'There is no such tenant',
    rule: 'TEN-1',
    meaning: 'The tenant that the credential names does not exist or was deleted, or no more tenants can be created.',
    remedy: 'Ask the operator of the service to create or restore the tenant.',
  },
  VERSION_MISMATCH: {
    status: 400,
    title: 'The request names several versions',
    rule: 'VER-1',
    meaning:
      'The path, header fields or parameters name different versions of the interface, or one of them names several.',
    remedy: 'Name the version in one place, or the same version in all.',
  },
  UNKNOWN_VERSION: {
    status: 400,
    title: 'There is no such version',
    rule: 'VER-1',
    meaning: 'API-Version, the media type or the parameter version names a version that is not served.',
    remedy: 'Name one of the versions that detail lists.',
  },
  NOT_FOUND: {
    status: 404,
    title: 'Nothing is at this address',
    rule: 'ERR-5',
    meaning: 'Nothing is at the address: the path does not exist, or the record does not exist or was deleted.',
    remedy: 'Check the path and the id; a list shows which records exist.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'The address does not support this method',
    rule: 'MET-6',
    meaning: 'The address exists and does not support this method.',
    remedy: 'Use one of the methods that Allow names.',
  },
  UPDATE_BY_FILTER_NOT_DECLARED: {
    status: 405,
    title: 'The collection takes no changes by filter',
    rule: 'BLK-3',
    meaning: 'A PATCH of a collection, and its resource does not declare updates: { byFilter: true }.',
    remedy: 'Change the records one by one, or declare it.',
  },
  VERSION_RETIRED: {
    status: 410,
    title: 'The version is retired',
    rule: 'VER-4',
    meaning: 'The version was served until its sunset.',
    remedy: 'Move to the successor, which Link and detail name. If there is a guide, it explains how.',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    title: 'No representation fits the Accept header',
    rule: 'ERR-5',
    meaning: 'Accept allows none of the media types that the server can send.',
    remedy: 'Accept application/json, or leave the header field out.',
  },
  UNKNOWN_PREFERENCE: {
    status: 400,
    title: 'A preference is not understood',
    rule: 'MET-8',
    meaning: 'Prefer asks for strict handling, and for a preference that the address does not support.',
    remedy: 'Leave out the preference or handling=strict. Without handling=strict, unknown preferences are ignored.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request came too slowly',
    rule: 'LIM-3',
    meaning: 'The header fields or the body of the request arrived too slowly.',
    remedy: 'Send the request again over a connection that carries at least 1,000 bytes a second.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    title: 'The request body is too large',
    rule: 'LIM-3',
    meaning: 'The body has more bytes than the interface accepts, or more changes than a rate ever allows at once.',
    remedy: 'Send less in one request.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The media type of the body is not supported',
    rule: 'ERR-5',
    meaning: 'Content-Type is missing, or names a type that this method does not accept here.',
    remedy: 'Send application/json; PATCH also accepts application/merge-patch+json and application/json-patch+json.',
  },
  MALFORMED_JSON: {
    status: 400,
    title: 'The body is not acceptable JSON',
    rule: 'ERR-5',
    meaning:
      'The body is not JSON that can be stored unchanged: it has a syntax error, invalid UTF-8, a duplicate key, a ' +
      'number that cannot be kept exactly, or too many levels.',
    remedy: 'Correct what errors points at; send very large numbers as strings where the field allows it.',
  },
  TOO_MANY_MEMBERS: {
    status: 400,
    title: 'The body has too many members',
    rule: 'LIM-3',
    meaning:
      'The members of all objects and the items of all arrays in the body are more than limits.bodyMembers allows ' +
      '(20,000 by default, and in a bulk deletion as many ids as it may have).',
    remedy: 'Send less in one request. A text that holds the data counts as one member.',
  },
  MALFORMED_CONDITION: {
    status: 400,
    title: 'A condition header cannot be read',
    rule: 'CON-3',
    meaning: 'If-Match is empty or cannot be read, so the condition cannot be checked.',
    remedy: 'Send entity tags exactly as they were received, quotes included, or *.',
  },
  INVALID_QUERY: {
    status: 400,
    title: 'The query parameters are not valid',
    rule: 'QRY-8',
    meaning: 'One or more query parameters are unknown, have a value of the wrong type, or do not go together.',
    remedy: 'Correct every parameter that errors names; the OpenAPI document lists the parameters that exist.',
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    title: 'The range lies beyond the representation',
    rule: 'HED-3',
    meaning: 'Range begins beyond the end of the representation.',
    remedy: 'Content-Range says how long the representation is. Ask for an earlier range, or leave Range out.',
  },
  INVALID_IDEMPOTENCY_KEY: {
    status: 400,
    title: 'The Idempotency-Key header cannot be read',
    rule: 'MET-9',
    meaning: 'Idempotency-Key is empty, too long, or not a single string.',
    remedy: 'Send a string of at most 255 characters in quotation marks, such as a UUID.',
  },
  FILTER_REQUIRED: {
    status: 400,
    title: 'A deletion or change by filter needs a filter',
    rule: 'DEL-10',
    meaning: 'A DELETE or PATCH of a collection has no filter that says which records to delete or to change.',
    remedy: 'Add a filter. To mean every record, use one that matches everything, for instance created_at[lte].',
  },
  OPERATION_NOT_ALLOWED: {
    status: 400,
    title: 'A transaction cannot contain this operation',
    rule: 'BLK-4',
    meaning:
      'An operation of a transaction is something else than POST to a collection, PATCH of a collection with an ' +
      'array, PUT, PATCH or DELETE of a record, or the restoration of a record.',
    remedy: 'Send the operation as a request of its own. A path begins with the collection, and has no query.',
  },
  INVALID_CURSOR: {
    status: 400,
    title: 'The cursor is not valid here',
    rule: 'PAG-5',
    meaning: 'The cursor was changed, or belongs to another collection, sort or filter.',
    remedy: 'Repeat the sort and the filters that the cursor came with, or start again without cursor.',
  },
  EVENTS_EXPIRED: {
    status: 410,
    title: 'The events are no longer kept',
    rule: 'EVT-5',
    meaning:
      'The cursor, after or Last-Event-ID continues after an event that is older than limits.events.retention, or ' +
      'that the database has lost: after a failover without the last changes, or in an older copy.',
    remedy: 'Read the records again, and then follow the events without a cursor, after or Last-Event-ID.',
  },
  PAGE_TOO_LARGE: {
    status: 400,
    title: 'The records of the page are too large together',
    rule: 'LIM-6',
    meaning: 'A page was asked for by number or offset, and its records have more bytes together than a page may have.',
    remedy:
      'Ask for as many records as errors says, for fewer fields, or by cursor: a page by cursor ends early and says ' +
      'where to continue.',
  },
  INCLUDE_TOO_LARGE: {
    status: 400,
    title: 'The related records are too many or too large',
    rule: 'REL-5',
    meaning:
      'A response would have more included records than limits.include.records allows (1,000 by default), or more ' +
      'bytes of records than a page may have.',
    remedy: 'Lower the parameters that errors names, each to its number, or ask for a list by cursor.',
  },
  // Permissions, conditions or stored records forbid the request.
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
    title: 'The key or secret was made, and is shown only once',
    rule: 'AUT-2',
    meaning:
      'An earlier request with this Idempotency-Key created an API key or a webhook. Only its response showed the ' +
      'key or the secret.',
    remedy: 'If that response is lost, delete what detail names, and create another one with a new Idempotency-Key.',
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
  BEING_CHANGED: {
    status: 409,
    title: 'The record is being changed',
    rule: 'BLK-3',
    meaning: 'A background change by filter includes the record, or another record that the request would change.',
    remedy: 'Wait until the job has ended, then send the request again.',
  },
  TOO_MANY_AFFECTED: {
    status: 409,
    title: 'More records match than may be affected',
    rule: 'DEL-10',
    meaning:
      'A deletion or change by filter would concern more records than max-affected allows; none was deleted or ' +
      'changed.',
    remedy: 'Check which records match, narrow the filter, or allow the number that errors names.',
  },
  TRANSACTION_TOO_LARGE: {
    status: 409,
    title: 'The transaction would change too many records',
    rule: 'BLK-4',
    meaning:
      'All operations of the transaction together would change more than 1,000 records, or one of them would be a ' +
      'background job.',
    remedy: 'Send fewer operations at once. A large deletion or restoration is a request of its own.',
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
    meaning:
      'Live records refer to this one, and their reference forbids its deletion. Without count in errors, you may ' +
      'not read all of them.',
    remedy: 'First delete the records that errors names, or change their reference.',
  },
  ...failures,
} as const satisfies Record<string, FaultEntry>
