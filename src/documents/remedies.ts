/** What each fault means to a client, and what the client can do about it: the words of `docs/errors.md`. */
import type { FaultCode } from '../spec/faults.ts'

/** Words for one fault. */
export interface Remedy {
  readonly meaning: string
  readonly remedy: string
}

/** The words for every fault; a new code does not compile without its own. */
export const remedies: Readonly<Record<FaultCode, Remedy>> = {
  MALFORMED_REQUEST: {
    meaning: 'The bytes received are not an HTTP request that can be read safely.',
    remedy: 'Send well-formed HTTP: one Host, one length, no control characters in header fields.',
  },
  MALFORMED_URL: {
    meaning:
      'A percent sign in the path or the query is not followed by two hexadecimal digits, or the bytes are not UTF-8.',
    remedy: 'Encode the address, in JavaScript with encodeURIComponent; a percent sign itself is %25.',
  },
  URL_TOO_LONG: {
    meaning: 'The address has more bytes than the server reads.',
    remedy: 'Ask for fewer values at once, or split the request.',
  },
  HEADERS_TOO_LARGE: {
    meaning: 'All header fields together have more bytes than the server reads.',
    remedy: 'Send fewer or shorter header fields; cookies are never needed.',
  },
  HTTPS_REQUIRED: {
    meaning: 'The request came by plain HTTP.',
    remedy: 'Use the https address. Behind a proxy, let it say in Forwarded or X-Forwarded-Proto how the request came.',
  },
  CREDENTIAL_IN_QUERY: {
    meaning: 'A parameter that holds a secret was in the address, where logs and histories would keep it.',
    remedy: 'Send the credential as Authorization: Bearer, and replace the one that was sent.',
  },
  UNAUTHENTICATED: {
    meaning: 'There is no credential, or it is unknown, expired or revoked.',
    remedy: 'Send Authorization: Bearer with a valid key.',
  },
  RATE_LIMITED: {
    meaning:
      'The caller asked too often; or too many requests from the address came without a valid credential, as this one did.',
    remedy: 'Wait for the seconds in Retry-After. RateLimit says on every answer how many requests are left.',
  },
  ANSWERS_UNREAD: {
    meaning: 'The caller has asked for much that it has not read: over 16 MiB of answers to it are on their way.',
    remedy: 'Read the answers that are coming, or close their connections; then send the request again.',
  },
  VERSION_MISMATCH: {
    meaning:
      'The path, header fields or parameters name different versions of the interface, or one of them names several.',
    remedy: 'Name the version in one place, or the same in all.',
  },
  UNKNOWN_VERSION: {
    meaning: 'API-Version, the media type or the parameter version names a version that is not served.',
    remedy: 'Name one of those that detail lists.',
  },
  NOT_FOUND: {
    meaning: 'Nothing is at the address: there is no such path, or the record does not exist, or it was deleted.',
    remedy: 'Check the path and the id; lists say what is there.',
  },
  METHOD_NOT_ALLOWED: {
    meaning: 'The address exists and does not support this method.',
    remedy: 'Use one of the methods that Allow names.',
  },
  VERSION_RETIRED: {
    meaning: 'The version was served until its sunset, and is not any more.',
    remedy: 'Move to the successor, which Link and detail name, and the guide, where there is one, explains.',
  },
  NOT_ACCEPTABLE: {
    meaning: 'Accept admits none of the media types that the server can answer with.',
    remedy: 'Accept application/json, or leave the header field out.',
  },
  UNKNOWN_PREFERENCE: {
    meaning: 'Prefer asks for strict handling, and for something that the address does not understand.',
    remedy: 'Leave the preference out, or handling=strict: then what is not understood is ignored.',
  },
  REQUEST_TIMEOUT: {
    meaning: 'The header fields or the body of the request arrived too slowly, and the server waits no longer.',
    remedy: 'Send it again over a connection that carries at least 1,000 bytes a second.',
  },
  BODY_TOO_LARGE: {
    meaning: 'The body has more bytes than the interface accepts.',
    remedy: 'Send less in one request.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'Content-Type is missing, or names a type that this method does not read here.',
    remedy: 'Send application/json; for PATCH application/merge-patch+json or application/json-patch+json too.',
  },
  MALFORMED_JSON: {
    meaning:
      'The body is not JSON that can be kept unchanged: a syntax error, invalid UTF-8, a key given twice, a number that cannot be kept exactly, or too many levels.',
    remedy: 'Correct what errors points at; send very large numbers as strings where the field allows it.',
  },
  MALFORMED_CONDITION: {
    meaning: 'If-Match is there and is empty or cannot be read, so nobody can say whether it holds.',
    remedy: 'Send entity tags as they were received, quotes included, or *.',
  },
  INVALID_QUERY: {
    meaning: 'One or more query parameters are unknown, have a value of the wrong type, or do not go together.',
    remedy: 'Correct every parameter that errors names; the OpenAPI document lists those that exist.',
  },
  RANGE_NOT_SATISFIABLE: {
    meaning: 'Range begins beyond the end of what is at the address.',
    remedy: 'Content-Range says how long it is; ask for less, or without Range.',
  },
  INVALID_IDEMPOTENCY_KEY: {
    meaning: 'Idempotency-Key is empty, too long, or not one text.',
    remedy: 'Send a text of at most 255 characters in quotation marks, such as a UUID.',
  },
  FILTER_REQUIRED: {
    meaning: 'A collection was to be deleted without saying which records.',
    remedy: 'Add a filter. What deletes everything has to say so, for instance by created_at[lte].',
  },
  INVALID_CURSOR: {
    meaning: 'The cursor was changed, or belongs to another collection, sort or filter.',
    remedy: 'Repeat the sort and the filters that the cursor came with, or begin again without cursor.',
  },
  PAGE_TOO_LARGE: {
    meaning:
      'The records of a page that was asked for by number or offset have more bytes together than a page may have.',
    remedy:
      'Ask for as many records as errors says, for fewer fields, or by cursor: such a page ends early and says where to go on.',
  },
  FORBIDDEN: {
    meaning: 'The caller is known and may not do this.',
    remedy: 'Ask whoever runs the service for the permission; repeating the request changes nothing.',
  },
  PRECONDITION_REQUIRED: {
    meaning: 'Records of this resource change only under a condition, so that no update is lost.',
    remedy: 'Read the record, and send its ETag in If-Match.',
  },
  PRECONDITION_FAILED: {
    meaning: 'The record was changed since the tag or date in the condition.',
    remedy: 'Read the record again, apply the change to what it is now, and send the new ETag.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    meaning: 'The same request came before with this Idempotency-Key, and is not finished.',
    remedy: 'Repeat it in a moment, with the same key: the answer will be that of the first.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: 'The same Idempotency-Key came before with another body.',
    remedy: 'Take a new key for each new creation, and the same only for the very same body.',
  },
  KEY_SHOWN_ONCE: {
    meaning:
      'The request came before with this Idempotency-Key, and made an API key, which its answer alone has shown.',
    remedy:
      'Where that answer is lost, revoke the key that detail names, and ask for another with a new Idempotency-Key.',
  },
  KEY_QUOTA: {
    meaning: 'The subject has as many valid API keys as limits.keys.perSubject allows (100 unless declared).',
    remedy: 'Revoke the keys that are not used any more: last_used_at says which. Then repeat the request.',
  },
  VALIDATION_FAILED: {
    meaning: 'The body is JSON, and its fields break the rules of the resource.',
    remedy: 'Correct every field that errors points at.',
  },
  CONFLICT: {
    meaning:
      'Several things in the present state stand against the change. Where it is one alone, its own code stands here: one of those below, or the code of a declared business rule.',
    remedy: 'Resolve what errors describes, then repeat the request.',
  },
  DUPLICATE_VALUE: {
    meaning: 'Another live record has a value that must be unique.',
    remedy: 'Choose another value, or change the other record first.',
  },
  INVALID_TRANSITION: {
    meaning: 'A field with declared transitions cannot go from its present value to the one sent.',
    remedy: 'Go by way of the values that the present one leads to.',
  },
  NOT_DELETED: {
    meaning: 'What was to be restored is live.',
    remedy: 'Nothing is left to do.',
  },
  REFERENCE_DELETED: {
    meaning: 'What was to be restored refers to a record that is deleted, or gone for good.',
    remedy:
      'Restore the record that it refers to first; its deletion may have taken this one along, and then brings it back.',
  },
  TEXT_TOO_LONG: {
    meaning:
      'What was to be restored has a text that is too long for an index. The index was declared after the record was deleted.',
    remedy:
      'Create a new record with a shorter text. `errors` names the field, and the record where it is another one.',
  },
  BEING_DELETED: {
    meaning:
      'A deletion that runs as a job takes the record along, or one that it refers to, or has just deleted what would be restored.',
    remedy: 'Wait until the job is finished; then the record is gone, or can be restored with all that went along.',
  },
  TOO_MANY_AFFECTED: {
    meaning: 'A deletion by filter would delete more records than max-affected allows; none was deleted.',
    remedy: 'Look at what matches, narrow the filter, or allow as many as errors counts.',
  },
  EXPORT_QUOTA: {
    meaning:
      'The caller has as many exports as allowed, or their files have as many bytes as allowed; or the file of this export would have too many.',
    remedy:
      'Delete exports that are no longer needed by DELETE /exports/{id}, or wait until they expire a day after they were written. Ask for fewer records or fields.',
  },
  JOB_NOT_FINISHED: {
    meaning: 'The job is pending or running, so it cannot be deleted.',
    remedy: 'Wait until its status is succeeded or failed, then delete it.',
  },
  HAS_DEPENDENTS: {
    meaning: 'Live records refer to this one, and their reference forbids its deletion.',
    remedy: 'Delete or move the records that errors names first.',
  },
  INTERNAL_ERROR: {
    meaning: 'The server has a fault.',
    remedy: 'Report the request_id to whoever runs the service; reads can be repeated safely.',
  },
  STORAGE_FAILED: {
    meaning: 'The database could not carry out the request.',
    remedy: 'Try again later. Before repeating a write, read whether it happened.',
  },
  KEY_SERVER_FAILED: {
    meaning:
      'Tokens cannot be verified, because the keys of their issuer could not be fetched. The token may be right.',
    remedy: 'Try again after half a minute with the same token, or use an API key.',
  },
  RATE_LIMIT_FAILED: {
    meaning: 'What counts requests for all servers cannot be reached, and this one is told to refuse them then.',
    remedy: 'Try again shortly. Nothing was changed.',
  },
  EXPORT_SPACE: {
    meaning: 'The exports of all callers take all the space that exports may have.',
    remedy: 'Wait until other exports expire, then ask for a new export; or delete exports of your own.',
  },
  OVERLOADED: {
    meaning: 'The server has more to do than it can finish in time. Nothing was changed.',
    remedy: 'Try again after the seconds in Retry-After.',
  },
  MAINTENANCE: {
    meaning: 'Whoever runs the service is working on it; detail says what they tell about it. Nothing was changed.',
    remedy: 'Try again after the seconds in Retry-After. What was answered before holds, and jobs go on afterwards.',
  },
  NOT_READY: {
    meaning: 'The database does not answer, or takes no changes: its disk is full, or it is read-only or away.',
    remedy:
      'Send requests to another server, and ask again after the seconds in Retry-After. Operators find the reason in the log.',
  },
  SHUTTING_DOWN: {
    meaning: 'The server is stopping or restarting. Nothing was changed.',
    remedy: 'Try again after the seconds in Retry-After.',
  },
}
