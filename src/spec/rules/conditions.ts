/** What HTTP itself asks for: caches, conditions, HEAD, ranges, OPTIONS and CORS. */
import type { RuleSection } from './rule.ts'

export const conditions: RuleSection = {
  prefix: 'CON',
  title: 'Caching and conditions',
  rules: [
    {
      id: 'CON-1',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'Every answer says whether it may be cached: an authenticated read is private and must be asked about again (or keeps for a declared max-age), everything else is no-store.',
    },
    {
      id: 'CON-2',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A single record carries a strong ETag, made from its revision, and Last-Modified. A page carries an ETag.',
    },
    {
      id: 'CON-3',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A write whose If-Match does not fit changes nothing and answers 412; so does If-Unmodified-Since. Stars, lists and weak tags mean what RFC 9110 section 13 says, and If-Match compares strongly.',
    },
    {
      id: 'CON-4',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A GET or HEAD whose If-None-Match fits, or without one whose If-Modified-Since is fresh, answers 304: no body, and the headers that a 200 would have.',
    },
    {
      id: 'CON-5',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence:
        'A condition is decided in the transaction of the write: of two writers who hold the same tag, exactly one succeeds.',
    },
    {
      id: 'CON-6',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence:
        'Where several refusals apply the first of this order is given: 401, 429, the path (404, 405, 410), a body that cannot be read (413, 415, 400), 403, 404 of the record, 412, validation (400), 409.',
    },
    {
      id: 'CON-7',
      mark: 'beyond',
      level: 'may',
      held: true,
      sentence:
        'A resource that declares preconditions as required answers a PUT, PATCH or DELETE without condition with 428.',
    },
    {
      id: 'CON-8',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence:
        'The tag does not depend on the fields asked for, and a tag from any read fits If-Match. Vary names what the answer depends on.',
    },
  ],
}

export const heads: RuleSection = {
  prefix: 'HED',
  title: 'HEAD and ranges',
  rules: [
    {
      id: 'HED-1',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        "HEAD runs everything that GET does and gives GET's status and headers, Content-Length among them, without the body.",
    },
    {
      id: 'HED-2',
      mark: 'specification',
      level: 'may',
      held: true,
      sentence: 'HEAD or GET of something that is still being prepared answers 202 with Retry-After.',
    },
    {
      id: 'HED-3',
      mark: 'specification',
      level: 'may',
      held: true,
      sentence:
        'A byte range on GET or HEAD answers 206 with Content-Range, Content-Length and Accept-Ranges, or 416 where the range lies outside. If-Range is honoured; several ranges may be answered whole.',
    },
  ],
}

export const preflight: RuleSection = {
  prefix: 'OPT',
  title: 'OPTIONS and CORS',
  rules: [
    {
      id: 'OPT-1',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'OPTIONS on an address answers 204 with Allow, to authenticated callers like every method; 404 where there is no such address.',
    },
    {
      id: 'OPT-2',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence: 'OPTIONS * answers 200, and Allow names the methods that the server knows.',
    },
    {
      id: 'OPT-3',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A preflight answers 204 with the Access-Control fields for origin, methods, headers and age. As browsers send it without credentials, it alone comes before authentication.',
    },
    {
      id: 'OPT-4',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'Access-Control-Allow-Origin repeats an origin of the allow-list, with Vary: Origin; any other origin gets no Access-Control field at all.',
    },
    {
      id: 'OPT-5',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence: 'A wildcard origin together with credentials is refused at start-up.',
    },
    {
      id: 'OPT-6',
      mark: 'beyond',
      level: 'may',
      held: true,
      sentence: 'Access-Control-Expose-Headers lets pages read the fields of this interface that browsers would hide.',
    },
  ],
}
