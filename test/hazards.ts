/** Bodies that no request may get through with, each with its answer. */
/** The hazards of a body, sent to a record that exists: each is refused, and nothing has changed. */
export interface Hazard {
  readonly name: string
  readonly body: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  readonly status?: number
  readonly code?: string
  readonly errors?: readonly string[]
}

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))))
export const nested = (depth: number, open: string, close: string) => open.repeat(depth) + close.repeat(depth)
const invalid = (...errors: string[]) => ({ code: 'VALIDATION_FAILED', errors })

export const hazards: readonly Hazard[] = [
  { name: 'a key twice', body: '{"title":"a","title":"b"}', errors: ['DUPLICATE_KEY /title'] },
  { name: 'a key twice, the same value', body: '{"title":"a","title":"a"}', errors: ['DUPLICATE_KEY /title'] },
  { name: 'a key twice, escaped', body: '{"title":"a","t\\u0069tle":"b"}', errors: ['DUPLICATE_KEY /title'] },
  {
    name: 'a key twice, nested',
    body: '{"title":"a","payload":{"x":[{"y":1,"y":2}]}}',
    errors: ['DUPLICATE_KEY /payload/x/0/y'],
  },
  {
    name: '__proto__ at the top',
    body: '{"title":"a","__proto__":{"stage":"used"}}',
    errors: ['UNSAFE_KEY /__proto__'],
  },
  { name: '__proto__ alone', body: '{"__proto__":{"title":"a"}}', errors: ['UNSAFE_KEY /__proto__'] },
  {
    name: '__proto__ nested',
    body: '{"title":"a","payload":{"a":{"__proto__":null}}}',
    errors: ['UNSAFE_KEY /payload/a/__proto__'],
  },
  {
    name: '__proto__ escaped',
    body: '{"title":"a","list":[{"__pr\\u006fto__":1}]}',
    errors: ['UNSAFE_KEY /list/0/__proto__'],
  },
  {
    name: 'constructor',
    body: '{"title":"a","constructor":{"prototype":{"stage":"used"}}}',
    ...invalid('UNKNOWN_FIELD /constructor'),
  },
  {
    name: 'keys that every object inherits',
    body: '{"title":"a","toString":1,"valueOf":2,"hasOwnProperty":3}',
    ...invalid('UNKNOWN_FIELD /toString', 'UNKNOWN_FIELD /valueOf', 'UNKNOWN_FIELD /hasOwnProperty'),
  },
  {
    name: 'objects that cannot become text',
    body: '{"title":{"toString":1,"valueOf":2},"moment":{"toString":1},"flag":{"valueOf":1}}',
    ...invalid('INVALID_TYPE /title', 'INVALID_TYPE /flag', 'INVALID_TYPE /moment'),
  },
  { name: 'half a surrogate pair', body: '{"title":"\\ud83d"}', errors: ['INVALID_TEXT /title'] },
  {
    name: 'a surrogate pair the wrong way round',
    body: '{"title":"a","list":["\\ude00\\ud83d"]}',
    errors: ['INVALID_TEXT /list/0'],
  },
  {
    name: 'half a surrogate pair in a key',
    body: '{"title":"a","payload":{"\\udfff":1}}',
    errors: ['INVALID_TEXT /payload'],
  },
  { name: 'half a surrogate pair as bytes', body: bytes('{"title":"', [0xed, 0xa0, 0xbd], '"}') },
  { name: 'U+0000', body: '{"title":"a\\u0000b"}', errors: ['INVALID_TEXT /title'] },
  { name: 'U+0000 in a key', body: '{"title":"a","payload":{"x\\u0000":1}}', errors: ['INVALID_TEXT /payload'] },
  { name: 'U+0000 as a byte', body: bytes('{"title":"a', [0], '"}') },
  {
    name: 'an integer beyond 2^53',
    body: '{"title":"a","count":9007199254740993}',
    errors: ['NUMBER_NOT_EXACT /count'],
  },
  {
    name: 'an integer below -2^53',
    body: '{"title":"a","count":-9007199254740993}',
    errors: ['NUMBER_NOT_EXACT /count'],
  },
  {
    name: 'an integer of a thousand digits',
    body: `{"title":"a","count":${'9'.repeat(1000)}}`,
    errors: ['NUMBER_NOT_EXACT /count'],
  },
  {
    name: 'an integer beyond 2^53, with an exponent',
    body: '{"title":"a","count":1e16}',
    ...invalid('TOO_LARGE /count'),
  },
  {
    name: 'an integer beyond 2^53, nested',
    body: '{"title":"a","payload":{"n":[18446744073709551615]}}',
    errors: ['NUMBER_NOT_EXACT /payload/n/0'],
  },
  { name: '1e400', body: '{"title":"a","ratio":1e400}', errors: ['NUMBER_NOT_EXACT /ratio'] },
  { name: '-1e400', body: '{"title":"a","ratio":-1e400}', errors: ['NUMBER_NOT_EXACT /ratio'] },
  { name: '1e-400', body: '{"title":"a","ratio":1e-400}', errors: ['NUMBER_NOT_EXACT /ratio'] },
  { name: 'a huge exponent', body: `{"title":"a","ratio":1e${'9'.repeat(500)}}`, errors: ['NUMBER_NOT_EXACT /ratio'] },
  {
    name: 'more digits than a double keeps',
    body: '{"title":"a","ratio":3.14159265358979323846}',
    errors: ['NUMBER_NOT_EXACT /ratio'],
  },
  { name: 'NaN', body: '{"title":"a","ratio":NaN}' },
  { name: 'Infinity', body: '{"title":"a","ratio":-Infinity}' },
  { name: 'a hexadecimal number', body: '{"title":"a","count":0x10}' },
  { name: 'a needless zero', body: '{"title":"a","count":010}' },
  { name: 'a plus sign', body: '{"title":"a","count":+1}' },
  { name: 'a comment', body: '{"title":"a" /* why */}' },
  { name: 'a comma too many', body: '{"title":"a",}' },
  { name: 'single quotes', body: "{'title':'a'}" },
  { name: 'a raw line break in a text', body: '{"title":"a\nb"}' },
  { name: 'something after the end', body: '{"title":"a"}{"title":"b"}' },
  {
    name: '33 levels',
    body: `{"title":"a","list":${nested(32, '[', ']')}}`,
    errors: [`TOO_DEEP /list${'/0'.repeat(31)}`],
  },
  {
    name: '5,000 levels of arrays',
    body: `{"title":"a","list":${nested(5_000, '[', ']')}}`,
    errors: [`TOO_DEEP /list${'/0'.repeat(31)}`],
  },
  {
    name: '5,000 levels of objects',
    body: `{"title":"a","payload":${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}}`,
    errors: [`TOO_DEEP /payload${'/a'.repeat(31)}`],
  },
  { name: '500,000 open brackets', body: '['.repeat(500_000) },
  { name: 'a byte order mark', body: bytes([0xef, 0xbb, 0xbf], '{"title":"a"}') },
  { name: 'UTF-16', body: Buffer.from('\ufeff{"title":"a"}', 'utf16le') },
  { name: 'invalid UTF-8', body: bytes('{"title":"', [0xff, 0xfe], '"}') },
  { name: 'an overlong encoding', body: bytes('{"title":"', [0xc0, 0xaf], '"}') },
  { name: 'UTF-8 cut in the middle of a character', body: bytes('{"title":"', [0xf0, 0x9f, 0x98], '"}') },
  { name: 'beyond U+10FFFF', body: bytes('{"title":"', [0xf4, 0x90, 0x80, 0x80], '"}') },
  { name: 'cut off', body: '{"title":"a","count":' },
  { name: 'cut off within a text', body: '{"title":"a' },
  { name: 'cut off within an escape', body: '{"title":"a\\u00' },
  { name: 'cut off after a backslash', body: '{"title":"a\\' },
  { name: 'empty', body: '' },
  { name: 'blank', body: ' \r\n\t ' },
  { name: 'no media type', body: '{"title":"a"}', headers: { 'content-type': '' }, status: 415 },
  { name: 'a form', body: 'title=a', headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 415 },
  { name: 'text', body: '{"title":"a"}', headers: { 'content-type': 'text/plain' }, status: 415 },
  { name: 'another JSON', body: '{"title":"a"}', headers: { 'content-type': 'application/vnd.api+json' }, status: 415 },
  {
    name: 'Latin-1',
    body: '{"title":"a"}',
    headers: { 'content-type': 'application/json; charset=iso-8859-1' },
    status: 415,
  },
  {
    name: 'UTF-16 by name',
    body: '{"title":"a"}',
    headers: { 'content-type': 'application/json; charset="utf-16"' },
    status: 415,
  },
  {
    name: 'two charsets',
    body: '{"title":"a"}',
    headers: { 'content-type': 'application/json; charset=utf-8; charset=utf-7' },
    status: 415,
  },
  {
    name: 'two media types',
    body: '{"title":"a"}',
    headers: { 'content-type': 'application/json, text/html' },
    status: 415,
  },
  { name: 'an array', body: '[]', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'an array of records', body: '[{"title":"a"},{"title":"b"}]', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'null', body: 'null', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'a text', body: '"title"', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'a number', body: '0', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  { name: 'true', body: 'true', ...invalid('INVALID_TYPE', 'REQUIRED /title') },
  {
    name: 'keys that look like SQL',
    body: '{"title":"a","title\\" = \'x\' --":1,"\'; drop table samples; --":2,"count) values (1":3}',
    ...invalid(
      "UNKNOWN_FIELD /title\" = 'x' --",
      "UNKNOWN_FIELD /'; drop table samples; --",
      'UNKNOWN_FIELD /count) values (1',
    ),
  },
  {
    name: 'the columns behind the fields',
    body: '{"title":"a","_revision":9,"_row":1,"_folded_title":"b","_instant_moment":"c"}',
    ...invalid(
      'UNKNOWN_FIELD /_revision',
      'UNKNOWN_FIELD /_row',
      'UNKNOWN_FIELD /_folded_title',
      'UNKNOWN_FIELD /_instant_moment',
    ),
  },
  {
    name: 'text for numbers',
    body: '{"title":"a","count":"3","ratio":"1e3","flag":"true"}',
    ...invalid('INVALID_TYPE /count', 'INVALID_TYPE /ratio', 'INVALID_TYPE /flag'),
  },
  { name: 'numbers for booleans', body: '{"title":"a","flag":1}', ...invalid('INVALID_TYPE /flag') },
  { name: 'too large', body: `{"title":"${'x'.repeat(1_048_576)}"}`, status: 413, code: 'BODY_TOO_LARGE' },
]
