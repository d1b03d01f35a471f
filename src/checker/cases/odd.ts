/** What nobody sends who means well: each is to be refused, or taken, and never to make a server fail. */
import type { Ask, Need, Step } from '../case/case.ts'
import { odd as oddStep, one } from '../case/names.ts'
import { collection, credentialFields, host, members } from '../case/references.ts'
import { body, create } from '../case/steps.ts'

/** One kind of odd input. */
export interface Odd {
  readonly name: string
  /** As in `odd paths`. */
  readonly title: string
  readonly kind: 'reading' | 'changing'
  readonly needs: readonly Need[]
  /** The requests are all called `odd`. */
  readonly steps: readonly Step[]
}

const long = 'x'.repeat(1_500)

const paths = [
  'odd%00',
  'odd%zz',
  'odd%ff%fe',
  'odd%ed%a0%80',
  "odd'",
  'odd%27%20OR%20%271%27=%271',
  '..%2f..%2fodd',
  '__proto__',
  '99999999999999999999999999999',
  'odd%5b%5d%7b%7d',
  `odd${long}`,
]

const queries = [
  'page=99999999999999999999999999999&per_page=1',
  'offset=1e309&limit=1',
  'cursor=odd%00',
  'cursor=eyJvZGQiOnt9fQ',
  "sort=odd'",
  'fields=constructor,__proto__',
  'q=odd%27%22%3B--%25_%5C',
  'odd[$ne]=1',
  'odd[]=1&odd[a][b][c]=2',
  'odd=%zz',
  `odd=${long}`,
]

const bodies = [
  '{"odd"',
  'null',
  '42',
  '[]',
  '\ufeff{"odd":1}',
  '{"__proto__":{"odd":true}}',
  '{"odd":1e400}',
  `{"odd":${'9'.repeat(400)}}`,
  '{"odd":"\\u0000"}',
  '{"odd":"\\ud800"}',
  `{"odd":${'['.repeat(300)}${']'.repeat(300)}}`,
  '['.repeat(10_000),
]

const values: readonly unknown[] = [
  null,
  {},
  [],
  1e308,
  123456789012345680000,
  '',
  'odd\u0000',
  'odd\ud800',
  "odd'); --",
  `odd${'x'.repeat(20_000)}`,
]

const fields: readonly Readonly<Record<string, string>>[] = [
  { 'If-Match': 'odd' },
  { 'If-None-Match': '"odd' },
  { 'If-Modified-Since': 'odd' },
  { Range: 'bytes=99999999999999999999999-' },
  { Accept: 'odd;;;/' },
  { 'Accept-Language': '\u00ff\u0080,;q=' },
  { 'Accept-Encoding': 'odd;q=2, *;q=0' },
  { Prefer: 'odd="' },
  { 'Content-Type': 'odd; charset="' },
]

const bodyFields: readonly Readonly<Record<string, string>>[] = [
  { 'Content-Type': 'application/json; charset=odd-99' },
  { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' },
  { 'Content-Type': 'application/json', 'Content-Encoding': 'odd' },
]

const notText = '{"odd":"\xff\xfe\xc0\x80"}'

/** All kinds. */
export const odds: readonly Odd[] = [
  {
    ...{ name: 'paths', title: 'odd paths', kind: 'reading', needs: ['read'] },
    steps: paths.map((path) => odd('GET', `${collection}/${path}`)),
  },
  {
    ...{ name: 'queries', title: 'odd parameters', kind: 'reading', needs: ['list'] },
    steps: queries.map((query) => odd('GET', `${collection}?${query}`)),
  },
  {
    ...{ name: 'bodies', title: 'odd bodies', kind: 'changing', needs: ['create'] },
    steps: bodies.map((text) => odd('POST', collection, { body: body.text(text) })),
  },
  {
    ...{ name: 'members', title: 'odd values of a member', kind: 'changing', needs: ['create', 'required'] },
    steps: [
      create(one),
      ...values.map((value) =>
        odd('POST', collection, { body: { ...body.example, with: { [members.required]: value } } }),
      ),
    ],
  },
  {
    ...{ name: 'fields', title: 'odd header fields', kind: 'changing', needs: ['create', 'list'] },
    steps: [
      ...fields.map((headers) => odd('GET', collection, { headers })),
      ...bodyFields.map((headers) => odd('POST', collection, { headers, body: body.text('{"odd":1}') })),
    ],
  },
  {
    ...{ name: 'encoding', title: 'a body that is no UTF-8', kind: 'changing', needs: ['create'] },
    steps: [
      {
        kind: 'bytes',
        as: 'odd',
        bytes:
          `POST ${collection} HTTP/1.1\r\nHost: ${host}\r\n${credentialFields}Content-Type: application/json\r\n` +
          `Content-Length: ${notText.length}\r\nConnection: close\r\n\r\n${notText}`,
      },
    ],
  },
]

function odd(method: string, to: string, more: Omit<Ask['request'], 'method' | 'to'> = {}): Ask {
  return oddStep.send(method, to, more)
}
