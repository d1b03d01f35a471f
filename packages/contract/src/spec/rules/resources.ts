/** Rules about addresses, fields and methods. */
import { beyond, decided, demanded, section } from './rule.ts'

const resources = section('RES', 'Addresses and fields', {
  'RES-1': demanded(
    'A collection is named by a plural noun in lower case, its words joined by hyphens; a declaration with ' +
      'another form of name, or with the singular of an English noun that has another plural, does not start.',
  ),
  'RES-2': demanded(
    'The addresses are the collection, a record in it by id, and a collection nested under a record: never ' +
      'deeper. Every nested collection can also be addressed at the top level.',
  ),
  'RES-3': demanded(
    'Paths hold nouns: the only verbs are restore and bulk-delete, and no name has an extension. A collection ' +
      'cannot be called jobs, exports, api-keys, openapi.json, docs, console, health, metrics, caller or deletion; ' +
      'nor events, webhooks or deliveries where a resource has events.',
  ),
  'RES-4': demanded(
    'The server gives every record its id, a UUIDv7 in lower case. A creation with an id in its body is refused ' +
      'with 400.',
  ),
  'RES-5': demanded(
    'The server sets created_at on creation and updated_at on every change, in ISO 8601, UTC, with milliseconds.',
  ),
  'RES-6': demanded(
    'A soft-deleted record has deleted_at, and so has the body that answers a deletion; nothing else has it.',
  ),
  'RES-7': demanded('Every field name is snake_case; a declaration with another name does not start.'),
  'RES-8': demanded(
    'Records of one kind have the same form at every address: every declared field is present, and null if it ' +
      'has no value.',
  ),
  'RES-9': decided(
    'A field that the resource does not have is refused with 400, one error for each. PUT may repeat a ' +
      'read-only field with its present value; another value is refused with 400.',
  ),
  'RES-10': decided(
    'A trailing slash or an empty path segment is answered with 404, an invalid percent-escape with 400: none ' +
      'of them reaches a resource.',
  ),
  'RES-11': beyond(
    'A decimal field is a JSON string of digits with exactly `scale` of them after the point ("19.90"). It may ' +
      'be sent as such a string or as a number, with fewer digits; more digits than declared are a 400. Filters, ' +
      'sorts, uniqueness and conditions compare the numbers exactly.',
    'Servers keep decimals in other forms too, and an OpenAPI document seldom says how many digits they have.',
  ),
  'RES-12': decided(
    'Whether a number is a multiple of another (multipleOf) is decided on decimal digits: 19.99 is a multiple ' +
      'of 0.01.',
    'Few fields have a multipleOf, and which multiples a server gets wrong depends on its arithmetic.',
  ),
  'RES-13': beyond(
    'A declared function (prepare) completes each valid record that a request creates or changes, in the ' +
      'transaction of the change. References, uniqueness, transitions, permissions and business rules are decided ' +
      'on its result. If the function fails, or returns what the declaration does not allow, the response is 500 ' +
      'and nothing changes.',
    'Clients see the result, and not which part of the server has made it.',
  ),
  'RES-14': beyond(
    'A default can be an attribute of the caller (`id`, `roles`, `claims.NAME`) or the time of the request. A ' +
      'creation without the field takes it, and PATCH with null takes it anew. PUT without the field, or with ' +
      'null, keeps the value. An attribute that is missing, or does not fit the field, is no default.',
    'An OpenAPI document does not say from what a server takes a value.',
  ),
  'RES-15': beyond(
    'A field with `set` is read-only (RES-9). The server sets it from the caller or the time on every creation, ' +
      'or on every PUT and PATCH that changes another field. A caller without the attribute, where the field must ' +
      'have a value, gets 403.',
    'An OpenAPI document does not say from what a server takes a value.',
  ),
  'RES-16': beyond(
    'A sequence is a read-only number that the server assigns on creation: 1, 2, 3 and so on, for each value of ' +
      'a field or for the collection. A refused creation takes no number, so there are no gaps. The number of a ' +
      'deleted record is not assigned again.',
    'An OpenAPI document does not say from what a server takes a value.',
  ),
  'RES-17': beyond(
    'A field with sumOf holds the exact sum of a field of all live records that refer to its record, whoever may ' +
      'read them; of none, 0. It changes in the transaction of each change of these records, with the tag, ' +
      'updated_at and an event of its record. Clients never set it. A change that would make it too large is 409.',
    'Other servers have no such fields, or none that a declaration names.',
  ),
})

const methods = section('MET', 'Methods', {
  'MET-1': demanded('GET and HEAD change nothing, whatever parameters they carry.'),
  'MET-2': demanded(
    'POST to a collection creates a record each time it is sent: 201 with the whole record, and its path in ' +
      'Location.',
  ),
  'MET-3': demanded(
    'PUT replaces the whole record: a field left out falls back to its default or to null, and a required one ' +
      'left out is refused with 400. It answers 200 with the record, and sending it twice changes nothing more.',
  ),
  'MET-4': demanded(
    'PATCH changes the fields that are sent and no others, and answers 200 with the record. Plain JSON and ' +
      'application/merge-patch+json both follow RFC 7396.',
  ),
  'MET-5': demanded('DELETE removes the record, as the deletion rules say.'),
  'MET-6': demanded(
    'A method that an address does not support is answered with 405, and Allow names those that it does.',
  ),
  'MET-7': decided(
    'PUT, PATCH and DELETE of a record that does not exist answer 404: no record is ever created with an id ' +
      'that the client chose.',
  ),
  'MET-8': beyond(
    'Prefer (RFC 7240) selects whether a write returns the record or nothing, and Preference-Applied names the ' +
      'preference that was followed. Unknown preferences are ignored, or refused with 400 under handling=strict.',
  ),
  'MET-9': beyond(
    'Idempotency-Key makes a POST safe to repeat: within 24 hours the same caller gets the first response ' +
      'again. Another payload under the same key is 422, and a repeat while the first is running is 409.',
  ),
  'MET-10': beyond(
    'QUERY on a collection takes the collection parameters as a JSON body, for queries that are too long for an ' +
      'address.',
  ),
})

export const resourceRules = [resources, methods]
