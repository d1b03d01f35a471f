/** Rules about errors, limits, versions, transport security, documents and operation. */
import { beyond, decided, demanded, optional, section } from './rule.ts'

const errors = section('ERR', 'Errors', {
  'ERR-1': demanded('The status shows the result of a request; an error never has a status of success.'),
  'ERR-2': decided(
    'Errors are application/problem+json (RFC 9457) with type, title, status, detail, instance, a stable code ' +
      'in upper case, the request_id, and errors where there are several.',
  ),
  'ERR-3': demanded(
    'One response reports everything that validation finds: each error has a code, a message and its place, ' +
      'which is a JSON Pointer, a query parameter or a header. At most `limits.errors` (100) are listed, and ' +
      'error_count is the number of all.',
  ),
  'ERR-4': demanded(
    'No stack trace, SQL, file path or internal name leaves the server; the log has them under the same ' +
      'request_id.',
  ),
  'ERR-5': demanded(
    'Statuses keep the meaning that the specification gives them, and validation is 400. Others (406, 413, 414, ' +
      '415, 416, 422, 428, 431) mean what RFC 9110 and RFC 6585 say.',
  ),
  'ERR-6': demanded(
    'A failing dependency of the service is 502; overload, maintenance and shutting down are 503. Both have ' +
      'Retry-After.',
    'A 502 or 503 needs a failing dependency, overload or maintenance; ordinary requests cannot cause them.',
  ),
})

const limits = section('LIM', 'Limits', {
  'LIM-1': demanded(
    'Too many requests are answered with 429 and an accurate Retry-After. Limits hold for a caller and for an ' +
      'address that fails to authenticate, and can be shared between servers; clients whose address is unknown ' +
      'count as one address. Where `limits.rate.changes` is declared, a request also counts the records that it ' +
      'changes. An operation of a transaction counts for the rate of its action as a request does. A request with ' +
      'more than a rate ever allows at once is 413.',
  ),
  'LIM-2': beyond('Authenticated responses carry RateLimit and RateLimit-Policy.'),
  'LIM-3': decided(
    'A body has at most 1 MiB, an address 8,000 bytes, the headers 16 KiB, and JSON 32 levels: beyond that 413, ' +
      '414, 431 and 400. A body has at most 20,000 members of objects and items of arrays (`limits.bodyMembers`), ' +
      'a JSON Patch 1,000 operations: beyond that 400. Text by which records are found (a filter, an order, an ' +
      'owner, a unique value) has at most 2,500 bytes, which unique fields share: beyond that 400, and 409 where a ' +
      'record with such a text would be restored. Slow senders are disconnected.',
  ),
  'LIM-4': decided(
    'Under overload, new requests are refused early with 503 and Retry-After; accepted requests are finished.',
    'A test would have to overload the server, which the checker never does.',
  ),
  'LIM-5': decided(
    'A search (`q`) has at most 32 different words, a query at most 50 filters, 1,000 values, 8 sort terms and ' +
      '200 `fields`: 400 beyond, by parameter. Each comparison of a condition (`where`) counts as a filter.',
  ),
  'LIM-6': decided(
    'A page has at most 4 MiB (`limits.pageBytes`), and one record at least. In cursor style it ends early, ' +
      'with `next`; in numbered styles 400 `PAGE_TOO_LARGE` names the `per_page` or `limit` that fits. The bytes ' +
      'of responses on their way are limited: 429 for a caller that does not read its responses, 503 for all; ' +
      'slow readers are disconnected.',
    'A page of megabytes takes megabytes of records, and harms a server without such a limit.',
  ),
  'LIM-7': decided(
    'A read may take 10 s (`limits.readTime`) of the work of the database, without the time in queues: 503 ' +
      '`READ_TOO_LONG` beyond. No other request waits for a slow read.',
    'A read of seconds takes a million records, and harms a server without such a limit.',
  ),
  'LIM-8': decided(
    'A caller has at most 20 exports and 1 GiB of them (limits.exports): 409 EXPORT_QUOTA beyond. DELETE ' +
      '/exports/{id} and DELETE /jobs/{id} of what has ended: 204.',
    'To reach the quota, the checker would use up all exports that the caller may have, some of which may be in ' +
      'use.',
  ),
})

const versions = section('VER', 'Versions', {
  'VER-1': optional(
    'The version is the first segment of the path, once. A header, the Accept field or a parameter may carry it ' +
      'instead or as well; carriers that disagree are refused with 400.',
  ),
  'VER-2': demanded(
    'Several versions are served from one database at once. The changes of a newer version are declared, and ' +
      'apply to bodies, filters, sorts, fields, error pointers and the OpenAPI document.',
  ),
  'VER-3': demanded('A deprecated version works, and says so in Deprecation, Sunset and Link.'),
  'VER-4': demanded('From its sunset a version answers 410, or 308 to its successor where declared.'),
  'VER-5': decided(
    'A declaration that would break an older version is refused by a command that names each breaking change.',
    'The rule is about a command that compares two declarations before they are served.',
  ),
})

const transport = section('SEC', 'Transport and hygiene', {
  'SEC-1': demanded(
    'Traffic is HTTPS. Without a certificate the server makes a local one and says how to trust it; plain HTTP ' +
      'is served on loopback only, and a request that a proxy received without HTTPS is refused with 403.',
  ),
  'SEC-2': decided(
    'Responses carry Strict-Transport-Security and X-Content-Type-Options: nosniff, and pages a strict ' +
      'Content-Security-Policy.',
  ),
  'SEC-3': decided('Secrets are compared in constant time, stored hashed, and appear in no log, error or metric.'),
})

const documents = section('DOC', 'Documents', {
  'DOC-1': beyond(
    'openapi.json describes each version in OpenAPI 3.1. It is valid and accurate: every response of the server ' +
      'matches it. The response to a request with parameters of x-parameters or x-ranges matches it as these ' +
      'parameters say.',
  ),
  'DOC-4': decided(
    'The pages /docs and /console are open to all, static and self-contained: their Content-Security-Policy ' +
      'allows scripts, styles, images and connections of this server only, and connections to the OpenID provider ' +
      'that people sign in with. Files have a hash in their names and may be cached forever; all files come ' +
      'compressed if the client accepts that, with ranges and entity tags.',
    'Another server may have no pages, or pages of its own.',
  ),
  'DOC-5': beyond(
    'The tag of each collection in openapi.json has the extension x-collection: references, relations, ' +
      'transitions, fixed and unique fields, filters and sorts, and what a deletion does, as data for user ' +
      'interfaces.',
    'Another server may describe its collections in its own way.',
  ),
  'DOC-6': decided(
    'Generators of clients understand openapi.json: a record has one schema in all responses, names of schemas ' +
      'and operations are unique and depend on another collection only if both would have the same name, and no ' +
      'request has a default. Parameters after which a response has fewer fields are in x-parameters, those ' +
      'after which it is a part of the representation, with this response, in x-ranges, and JSON Patch in x-content.',
    'Another server may describe its interface in its own way.',
  ),
  'DOC-7': decided(
    'Each operation in openapi.json describes its errors as 4XX and 5XX, and lists their codes in x-problems. ' +
      'x-problems of the document has the codes of every operation that needs a credential, also by method, and ' +
      'the status of each code; x-headers has the header fields that every response can have.',
    'Another server may describe its errors in its own way.',
  ),
})

const operation = section('OPS', 'Operation', {
  'OPS-1': beyond(
    'There are addresses for liveness and readiness, one JSON log line for each request with its request_id, ' +
      'and in development Server-Timing. Metrics have a listener of their own; traces appear where an ' +
      'OpenTelemetry SDK is present.',
  ),
  'OPS-2': beyond(
    'On SIGTERM the server accepts no new connection, finishes what is running, answers on open connections for ' +
      'another half second with Connection: close, and closes the database.',
    'Only someone with access to the machine can send SIGTERM.',
  ),
  'OPS-5': decided(
    'Readiness (/health/ready) is 503 while writing fails (disk full, read-only, database gone), and 200 again ' +
      'without a restart once it succeeds.',
    'Only someone who can fill the disk of the server sees whether it is ready while writing fails.',
  ),
  'OPS-6': decided(
    'A backup that is made while the server runs has every change that was acknowledged before it began, and ' +
      'opens as a database that serves the same.',
    'Only someone with access to the database can make and restore a backup.',
  ),
  'OPS-7': beyond(
    'GET /health/metrics answers administrators with the metrics of the server, of all its workers, as the text ' +
      'of Prometheus, and others with 403. An application that collects no metrics answers 404.',
    'Other servers offer their metrics elsewhere, or not at all.',
  ),
})

export const operationRules = [errors, limits, versions, transport, documents, operation]
