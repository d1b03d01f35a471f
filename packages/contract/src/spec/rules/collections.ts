/** Rules about collections: filters, order, search, pages and summaries. */
import { beyond, decided, demanded, optional, section } from './rule.ts'

const queries = section('QRY', 'Collection parameters', {
  'QRY-1': demanded(
    'A field name as parameter filters by equality, its value read by the type of the field. Given several ' +
      'times, any of the values matches.',
  ),
  'QRY-2': beyond(
    'A field name with an operator in brackets makes another comparison: gt, gte, lt, lte, not, in, contains, ' +
      'starts_with and null. A day in a filter of a date-time means that day in timezone, an IANA zone, or in UTC; ' +
      'with gt and lte it is 400.',
  ),
  'QRY-3': demanded(
    'sort orders by a field, descending with a minus before it, or by several, separated by commas. The id ' +
      'breaks remaining ties, so the order is total.',
  ),
  'QRY-4': demanded(
    'fields names the fields to return, on collections and on single records; the id is always included.',
  ),
  'QRY-5': demanded(
    'q searches the fields declared for it: each word must match, regardless of case and diacritics, and the ' +
      'last word may be a prefix.',
  ),
  'QRY-6': optional(
    'include_deleted=true adds soft-deleted records for callers who may read them; include_deleted=only returns ' +
      'these alone, also sorted by deleted_at. For other callers it is refused with 403.',
  ),
  'QRY-7': decided(
    'Only declared fields can be filtered or sorted by, each with an index behind it. References, enums, ' +
      'booleans, created_at and updated_at are among them unless declared otherwise.',
  ),
  'QRY-8': decided(
    'Unknown parameters, unknown fields, values of the wrong type and operators that do not fit are refused ' +
      'with 400, all of them in one response.',
  ),
  'QRY-9': demanded(
    'Secrets do not travel in the query string: access_token, api_key, token, password and secret are refused ' +
      'there with CREDENTIAL_IN_QUERY, and so is any value that has the form of an API key or JWT, under any ' +
      'name. Their values are never logged.',
  ),
})

/** Why clients of another server cannot observe these rules. */
const others = 'Other servers take conditions in their own way, or not at all.'

const conditions = section('WHR', 'Conditions in requests', {
  'WHR-1': beyond(
    'where=JSON, percent-encoded, on every list and deletion by filter, and the member where of QUERY, is a ' +
      'condition in the language of access rules: and, or, not and comparisons of the fields that may be filtered. ' +
      'It holds together with the other filters, and its comparisons count as filters. A mistake is 400 with a ' +
      'pointer into the condition.',
    others,
  ),
  'WHR-2': beyond(
    'Conditions reach related records, at most two steps: {"author": {"born": {"gte": 1920}}} to one, ' +
      '{"books": {"some": {…}}}, none and every to many. A filter author.born[gte]=1920 is short for it; all ' +
      'filters of one relation to many are about the same record. sort=author.name orders by a relation to one, ' +
      'and a missing record as null. Exports have such conditions too, the filters of webhooks and of events do not.',
    others,
  ),
  'WHR-3': decided(
    'In a relation only records and fields that the caller may read count, and only what is not deleted: a ' +
      'record that the caller may not read is the same as a missing one, in results, totals, entity tags and ' +
      'orders. A condition on a collection or field of which the caller may read nothing is 403.',
    others,
  ),
  'WHR-4': beyond(
    'Arrays of texts, numbers or booleans with filter: true take labels[has]=red, [has_any]=red,blue and ' +
      '[has_all]=red,blue, and in conditions has, hasAny and hasAll; without any items they find nothing. Objects ' +
      'with filter: ["/size", "/color/name"] take attributes.size[gte]=3 and attributes.color.name=red, and in ' +
      'conditions {"attributes": {"size": {"gte": 3}}}: a member is compared as a field of its schema, and a ' +
      'value of another type counts as null.',
    others,
  ),
  'WHR-5': beyond(
    'id filters like a field: id=ID, id[in]=ID,ID and id[not]=ID, and in the conditions of exports. An id that ' +
      'is no lower-case UUID is refused with 400; one of a record that is not there, or that the caller may not ' +
      'read, finds nothing.',
  ),
  'WHR-6': beyond(
    'sort=-relevance beside q orders by how well a record matches: the sum, over words and fields, of the ' +
      'weight of the field (search: {weight}) times the occurrences, at most 8, times 2 for a whole word and 1 for ' +
      'a beginning. Ids decide where records tie. What the caller may not read adds nothing. Without q it is 400.',
    others,
  ),
})

const pages = section('PAG', 'Pages', {
  'PAG-1': demanded(
    'A collection always comes in pages, of 20 records unless asked otherwise and of 100 at most; both can be ' +
      'declared. A size that is not a whole number from 1 to the maximum is refused with 400.',
  ),
  'PAG-2': demanded(
    'A page is asked for by page and per_page, by offset and limit, or by cursor and limit, never mixed (400). ' +
      'Without any of them, or with limit alone, the response is the first page in cursor style.',
  ),
  'PAG-3': decided(
    'A page is an object with data and pagination. pagination has total_count, and by style: page, per_page and ' +
      'total_pages; offset and limit; or limit, next_cursor and previous_cursor, which are null at an end.',
  ),
  'PAG-4': demanded('total_count is the exact number of records that match and that the caller may see.'),
  'PAG-5': demanded(
    'A cursor leads forward or backward only. It is opaque, cannot be forged, belongs to its sort and filters ' +
      '(with any others it is refused with 400 INVALID_CURSOR), and grants no access of its own.',
  ),
  'PAG-6': decided(
    'Following the cursors returns each record that exists throughout exactly once, whatever is added or ' +
      'removed meanwhile.',
  ),
  'PAG-7': beyond(
    'Link (RFC 8288) names the first, previous, next and last page as far as the style has them, and ' +
      'X-Total-Count repeats the total. A page past the end is an empty one, with 200.',
  ),
})

const summaries = section('SUM', 'Summaries', {
  'SUM-1': beyond(
    'GET and QUERY of /{collection}/summary take the filters, the search and the pages of the list; group, up to ' +
      'three enums, booleans, references, and dates and date-times by :year, :month, :week or :day in timezone; ' +
      'sum and avg of integers and decimals, min and max of fields with a filter or a sort; and sort by groups ' +
      'and figures. Each row has group, count and the figures. Sums and averages are exact decimal strings, null ' +
      'is a group, and cursors go with an order by groups alone.',
    'Other servers have summaries elsewhere, or none.',
  ),
  'SUM-2': decided(
    'A summary counts only records that the caller may read. A field in its filters, groups or figures that the ' +
      'caller may not read in every record is refused with 403.',
    'Other servers have summaries elsewhere, or none.',
  ),
  'SUM-3': beyond(
    'A summary that a resource declares under summaries is kept in the transaction of each change. It answers ' +
      'requests for its groups or fewer, and for longer periods in UTC, with sum and avg of its fields, filtered ' +
      'by its groups alone, of callers who may read every record. The answer is the same as without it, and its ' +
      'cost depends on the number of groups, not on that of records.',
    'The answers are those of SUM-1; only the time differs.',
  ),
})

export const collectionRules = [queries, conditions, pages, summaries]
