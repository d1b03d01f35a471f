/** Rules about authentication and permissions. */
import { beyond, decided, demanded, section } from './rule.ts'

const callers = section('AUT', 'Callers and permissions', {
  'AUT-1': demanded(
    'Every request is authenticated by a bearer credential; a missing or invalid one is answered with 401 and ' +
      'WWW-Authenticate. There are no sessions and no cookies. Open to all are preflights, the two health ' +
      'addresses, and the static pages.',
  ),
  'AUT-2': decided(
    'Credentials are API keys, of which only a SHA-256 is stored and which expire and can be revoked, and JWT ' +
      'checked against issuer, audience and an allow-list of algorithms. An application that embeds the server may ' +
      'check credentials of its own before them.',
  ),
  'AUT-3': demanded(
    'Permissions are declared for each resource and action: read, create, update, delete, restore, readDeleted. ' +
      'What is not declared is for administrators only.',
  ),
  'AUT-4': demanded(
    'An authenticated caller without permission gets 403. Lists leave out the records that a caller may not ' +
      'read, and do not count them.',
  ),
  'AUT-5': demanded(
    'Owning a record grants no access to other records, not even to those nested under it, unless that is ' +
      'declared. A record that a caller may not read counts as not there when they refer to it, unless the ' +
      'reference declares requires: none.',
  ),
  'AUT-6': decided('The same rule decides about a single record and filters lists, and the two always agree.'),
  'AUT-7': decided(
    'The owner field is set from the caller on creation, and only an administrator may send or change it.',
  ),
  'AUT-8': decided(
    'A change is permitted only if the rule of its action allows the record as it is and as it will be. ' +
      'Creation is decided on the record as it will be; restoration on the record as it was and will be. ' +
      'Otherwise 403, and nothing changes.',
    'An OpenAPI document does not say which values of a record its access rules depend on.',
  ),
  'AUT-9': decided(
    'Data that a caller may not read influences no response to that caller beyond 403, 404 and the 409 that ' +
      'uniqueness, references or a declared rule demands: filters, sorts, search, totals, tags, conditions, ' +
      'counts, deletion by filter, bulk deletion and exports see only what the caller may read. `readDeleted` ' +
      'holds together with `read`.',
    'A record that a caller may not read cannot be told apart from one that does not exist.',
  ),
  'AUT-10': decided(
    'An API key says who made it (made_by) and expires no later than the credential that made it, whatever the ' +
      'roles, unless the declaration lets one of them make lasting keys. A subject has at most 100 valid keys ' +
      'unless declared otherwise: 409 KEY_QUOTA beyond. A caller revokes only keys whose roles they have, save ' +
      'administrators. DELETE with descendants=true revokes those made with the key too, all or none.',
    'The checker creates no API keys: a key that it then fails to revoke would stay valid.',
  ),
  'AUT-11': beyond(
    'GET /caller says who the caller is, when the credential expires, and for each action on each collection ' +
      'whether it is permitted on all records, on some or on none, with the declared rules that decide.',
    'Other servers tell their callers elsewhere, or not at all.',
  ),
  'AUT-12': beyond(
    'A declared function (authorize) may refuse requests of authenticated callers with 403, after the address is ' +
      'found and before the body is read. It grants nothing: access rules decide about the rest. If it fails, ' +
      'takes longer than the declared time or returns something invalid, the response is 502 and nothing changes.',
    'An OpenAPI document does not say what a function of the server refuses.',
  ),
  'AUT-13': beyond(
    'A field may have an access rule for reading. In records where the rule does not allow a caller to read it, ' +
      'the field is null for that caller in every response, and counts as null in filters, search and JSON Patch. ' +
      'PUT and JSON Patch keep the value unless they send another than null. Entity tags differ with what the ' +
      'caller may read. Who may read the field in no record cannot filter by it, and who may not read it in every ' +
      'record cannot sort by it: 403.',
    'A field that a caller may not read cannot be told apart from one without a value.',
  ),
  'AUT-14': beyond(
    'A field may have an access rule for writing, which must hold for the record as it is and as it will be. A ' +
      'request that sets or changes the field otherwise gets 403 FORBIDDEN, whose errors name the fields, and ' +
      'nothing changes. A value that equals the one which the caller reads is accepted, and a PUT that leaves the ' +
      'field out keeps its value.',
    'An OpenAPI document does not say which values of a record its access rules depend on.',
  ),
  'AUT-15': beyond(
    'An access rule may look up records of a collection: it permits where some, or none, of the live ones ' +
      'matches, whether or not the caller may read them. Lists, single records, nested addresses, totals and ' +
      'events follow the records as they are stored at that moment, so a right that is deleted is gone with the ' +
      'next request, and no change is the reason for its own permission. none refuses where its condition is ' +
      'unknown. Of the rules in all, each must permit.',
    'An OpenAPI document does not say which records of other collections a rule depends on.',
  ),
  'AUT-16': beyond(
    'An API key may have claims, which conditions compare as they compare those of a token. A caller gives a key ' +
      'only claims that they have themselves, with equal values; an administrator any. A key has none that were ' +
      'not asked for. They have at most 2,000 characters as JSON.',
    'The checker creates no API keys: a key that it then fails to revoke would stay valid.',
  ),
})

export const accessRules = [callers]
