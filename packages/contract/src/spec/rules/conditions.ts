/** Rules about HTTP: caching, conditions, HEAD, ranges, OPTIONS and CORS. */
import { beyond, decided, demanded, optional, section } from './rule.ts'

const conditions = section('CON', 'Caching and conditions', {
  'CON-1': demanded(
    'Every response says whether it may be cached: an authenticated read is private and must be revalidated (or ' +
      'may be kept for a declared max-age), everything else is no-store.',
  ),
  'CON-2': demanded(
    'A single record carries a strong ETag, made from its revision, and Last-Modified. A page carries an ETag.',
  ),
  'CON-3': demanded(
    'A write whose If-Match does not fit changes nothing and answers 412; so does If-Unmodified-Since. Stars, ' +
      'lists and weak tags mean what RFC 9110 section 13 says, except that If-Match also accepts the weak form of ' +
      'the current tag, and its form with a compression: proxies that compress change tags.',
  ),
  'CON-4': demanded(
    'A GET or HEAD whose If-None-Match fits, or without one whose If-Modified-Since is fresh, answers 304: no ' +
      'body, and the headers that a 200 would have.',
  ),
  'CON-5': decided(
    'A condition is decided in the transaction of the write: if two clients send the same ETag, exactly one of ' +
      'them succeeds.',
  ),
  'CON-6': decided(
    'If several refusals apply, the response is the first in this order: 401, 429, the path (404, 405, 410), ' +
      'the 403 of a declared function (AUT-12), a body that cannot be read (413, 415, 400), 403, 404 of the ' +
      'record, 412, validation (400), 409.',
  ),
  'CON-7': beyond(
    'A resource that declares preconditions as required answers a PUT, PATCH or DELETE without condition with 428.',
  ),
  'CON-8': decided(
    'The tag does not depend on the fields asked for, and a tag from any read fits If-Match, also from a ' +
      'compressed one, whose tag ends with -gzip, -br or -zstd. Vary names the header fields that the response ' +
      'depends on.',
  ),
})

const heads = section('HED', 'HEAD and ranges', {
  'HED-1': demanded(
    "HEAD runs everything that GET does and gives GET's status and headers, Content-Length among them, without " +
      'the body.',
  ),
  'HED-2': optional('HEAD or GET of something that is still being prepared answers 202 with Retry-After.'),
  'HED-3': optional(
    'A byte range on GET or HEAD answers 206 with Content-Range, Content-Length and Accept-Ranges, or 416 where ' +
      'the range lies outside. If-Range is honoured; several ranges may be answered whole.',
  ),
})

const preflight = section('OPT', 'OPTIONS and CORS', {
  'OPT-1': demanded(
    'OPTIONS of an address answers 204 with Allow. Like every method it needs authentication, and answers 404 ' +
      'if there is no such address.',
  ),
  'OPT-2': demanded('OPTIONS * answers 200, and Allow names the methods that the server knows.'),
  'OPT-3': demanded(
    'A preflight answers 204 with the Access-Control fields for origin, methods, headers and age. Browsers send ' +
      'it without credentials, so it is answered before authentication.',
  ),
  'OPT-4': demanded(
    'Access-Control-Allow-Origin repeats an origin of the allow-list, with Vary: Origin; any other origin gets ' +
      'no Access-Control field at all.',
  ),
  'OPT-5': demanded('A wildcard origin together with credentials is refused at start-up.'),
  'OPT-6': beyond(
    'Access-Control-Expose-Headers lets pages read the header fields of this interface that browsers would ' + 'hide.',
  ),
})

export const conditionRules = [conditions, heads, preflight]
