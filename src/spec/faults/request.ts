/** Error codes of requests that the server cannot read, authenticate or process as sent. */
export const requestFaults = {
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
    meaning: 'The body has more bytes than the interface accepts.',
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
    title: 'A deletion by filter needs a filter',
    rule: 'DEL-10',
    meaning: 'A deletion of a collection has no filter that says which records to delete.',
    remedy: 'Add a filter. To delete everything, use one that matches everything, for instance created_at[lte].',
  },
  INVALID_CURSOR: {
    status: 400,
    title: 'The cursor is not valid here',
    rule: 'PAG-5',
    meaning: 'The cursor was changed, or belongs to another collection, sort or filter.',
    remedy: 'Repeat the sort and the filters that the cursor came with, or start again without cursor.',
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
} as const
