/** How a collection is asked: filters, order, search, and pages. */
import type { RuleSection } from './rule.ts'

export const queries: RuleSection = {
  prefix: 'QRY',
  title: 'Collection parameters',
  rules: [
    {
      id: 'QRY-1',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A field name as parameter filters by equality, its value read by the type of the field. Given several times, any of the values matches.',
    },
    {
      id: 'QRY-2',
      mark: 'beyond',
      level: 'may',
      held: true,
      sentence:
        'A field name with an operator in brackets compares otherwise: gt, gte, lt, lte, not, in, contains, starts_with and null.',
    },
    {
      id: 'QRY-3',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'sort orders by a field, descending with a minus before it, or by several, separated by commas. The id breaks what ties remain, so the order is total.',
    },
    {
      id: 'QRY-4',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence: 'fields names what is returned, on collections and on single records; the id always comes along.',
    },
    {
      id: 'QRY-5',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'q searches the fields declared for it: each word must match, regardless of case and diacritics, and the last may be only begun.',
    },
    {
      id: 'QRY-6',
      mark: 'specification',
      level: 'may',
      held: true,
      sentence:
        'include_deleted=true adds soft-deleted records for callers who may read them; for others it is refused with 403.',
    },
    {
      id: 'QRY-7',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence:
        'Only declared fields can be filtered or sorted by, each with an index behind it. References, enums, booleans, created_at and updated_at are among them unless declared otherwise.',
    },
    {
      id: 'QRY-8',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence:
        'Unknown parameters, unknown fields, values of the wrong type and operators that do not fit are refused with 400, all of them in one answer.',
    },
    {
      id: 'QRY-9',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'Secrets do not travel in the query string: access_token, api_key, token, password and secret are refused there with CREDENTIAL_IN_QUERY, and so is whatever has the form of an API key or JWT, under any name; their values are never logged.',
    },
  ],
}

export const pages: RuleSection = {
  prefix: 'PAG',
  title: 'Pages',
  rules: [
    {
      id: 'PAG-1',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A collection always comes in pages, of 20 records unless asked otherwise and of 100 at most; both can be declared. A size that is not a whole number from 1 to the maximum is refused with 400.',
    },
    {
      id: 'PAG-2',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A page is asked for by page and per_page, by offset and limit, or by cursor and limit, never mixed (400). Without any of them, or with limit alone, the first page of the cursor style comes.',
    },
    {
      id: 'PAG-3',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence:
        'A page is an object with data and pagination. pagination has total_count, and by style: page, per_page and total_pages; offset and limit; or limit, next_cursor and previous_cursor, which are null at an end.',
    },
    {
      id: 'PAG-4',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence: 'total_count is the exact number of records that match and that the caller may see.',
    },
    {
      id: 'PAG-5',
      mark: 'specification',
      level: 'must',
      held: true,
      sentence:
        'A cursor leads forward or backward only. It is opaque, cannot be forged, belongs to its sort and filters (anything else is INVALID_CURSOR, 400), and grants no access of its own.',
    },
    {
      id: 'PAG-6',
      mark: 'decision',
      level: 'should',
      held: true,
      sentence:
        'Following cursors visits each record that was there throughout exactly once, whatever is added or removed meanwhile.',
    },
    {
      id: 'PAG-7',
      mark: 'beyond',
      level: 'may',
      held: true,
      sentence:
        'Link (RFC 8288) names the first, previous, next and last page as far as the style has them, and X-Total-Count repeats the total. A page past the end is an empty one, with 200.',
    },
  ],
}
