/** Rules about HTTP: caching, conditions, HEAD, ranges, OPTIONS and CORS. */
import type { RuleSection } from './rule.ts'

const conditions: RuleSection = {
  prefix: 'CON',
  title: 'Caching and conditions',
  rules: [
    {
      id: 'CON-1',
      mark: 'specification',
      sentence:
        'Every response says whether it may be cached: an authenticated read is private and must be revalidated (or ' +
        'may be kept for a declared max-age), everything else is no-store.',
    },
    {
      id: 'CON-2',
      mark: 'specification',
      sentence:
        'A single record carries a strong ETag, made from its revision, and Last-Modified. A page carries an ETag.',
    },
    {
      id: 'CON-3',
      mark: 'specification',
      sentence:
        'A write whose If-Match does not fit changes nothing and answers 412; so does If-Unmodified-Since. Stars, ' +
        'lists and weak tags mean what RFC 9110 section 13 says, except that If-Match also accepts the weak form of ' +
        'the current tag, and its form with a compression: proxies that compress change tags.',
    },
    {
      id: 'CON-4',
      mark: 'specification',
      sentence:
        'A GET or HEAD whose If-None-Match fits, or without one whose If-Modified-Since is fresh, answers 304: no ' +
        'body, and the headers that a 200 would have.',
    },
    {
      id: 'CON-5',
      mark: 'decision',
      sentence:
        'A condition is decided in the transaction of the write: if two clients send the same ETag, exactly one of ' +
        'them succeeds.',
    },
    {
      id: 'CON-6',
      mark: 'decision',
      sentence:
        'If several refusals apply, the response is the first in this order: 401, 429, the path (404, 405, 410), ' +
        'the 403 of a declared function (AUT-12), a body that cannot be read (413, 415, 400), 403, 404 of the ' +
        'record, 412, validation (400), 409.',
    },
    {
      id: 'CON-7',
      mark: 'beyond',
      sentence:
        'A resource that declares preconditions as required answers a PUT, PATCH or DELETE without condition with 428.',
    },
    {
      id: 'CON-8',
      mark: 'decision',
      sentence:
        'The tag does not depend on the fields asked for, and a tag from any read fits If-Match, also from a ' +
        'compressed one, whose tag ends with -gzip, -br or -zstd. Vary names the header fields that the response ' +
        'depends on.',
    },
  ],
}

const heads: RuleSection = {
  prefix: 'HED',
  title: 'HEAD and ranges',
  rules: [
    {
      id: 'HED-1',
      mark: 'specification',
      sentence:
        "HEAD runs everything that GET does and gives GET's status and headers, Content-Length among them, without " +
        'the body.',
    },
    {
      id: 'HED-2',
      mark: 'specification',
      isOptional: true,
      sentence: 'HEAD or GET of something that is still being prepared answers 202 with Retry-After.',
    },
    {
      id: 'HED-3',
      mark: 'specification',
      isOptional: true,
      sentence:
        'A byte range on GET or HEAD answers 206 with Content-Range, Content-Length and Accept-Ranges, or 416 where ' +
        'the range lies outside. If-Range is honoured; several ranges may be answered whole.',
    },
  ],
}

const preflight: RuleSection = {
  prefix: 'OPT',
  title: 'OPTIONS and CORS',
  rules: [
    {
      id: 'OPT-1',
      mark: 'specification',
      sentence:
        'OPTIONS of an address answers 204 with Allow. Like every method it needs authentication, and answers 404 ' +
        'if there is no such address.',
    },
    {
      id: 'OPT-2',
      mark: 'specification',
      sentence: 'OPTIONS * answers 200, and Allow names the methods that the server knows.',
    },
    {
      id: 'OPT-3',
      mark: 'specification',
      sentence:
        'A preflight answers 204 with the Access-Control fields for origin, methods, headers and age. Browsers send ' +
        'it without credentials, so it is answered before authentication.',
    },
    {
      id: 'OPT-4',
      mark: 'specification',
      sentence:
        'Access-Control-Allow-Origin repeats an origin of the allow-list, with Vary: Origin; any other origin gets ' +
        'no Access-Control field at all.',
    },
    {
      id: 'OPT-5',
      mark: 'specification',
      sentence: 'A wildcard origin together with credentials is refused at start-up.',
    },
    {
      id: 'OPT-6',
      mark: 'beyond',
      sentence:
        'Access-Control-Expose-Headers lets pages read the header fields of this interface that browsers would ' +
        'hide.',
    },
  ],
}

export const conditionRules = [conditions, heads, preflight]
