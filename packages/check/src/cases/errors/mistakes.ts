/** Requests that servers have to refuse: usual mistakes of clients, and malicious input. */
import type { Case, Step } from '../../case/case.ts'
import type { Draft } from '../../case/define.ts'
import { error, odd, one } from '../../case/names.ts'
import type { Need } from '../../case/needs.ts'
import { base, collection, credentialFields, host, mark, members, paging, unusedId } from '../../case/references.ts'
import { asNobody, asOther, body, bytes, create } from '../../case/steps.ts'

/** A way to make a mistake. The response to it is called `error`. */
export interface Mistake {
  readonly name: string
  readonly title: string
  readonly needs?: readonly Need[]
  readonly after?: readonly Case['id'][]
  readonly steps: readonly Step[]
}

export const noRecord: Mistake = {
  name: 'record',
  title: 'the address of a nonexistent record',
  steps: [error.get(`${collection}/${unusedId}`)],
}

export const noPath: Mistake = {
  name: 'path',
  title: 'an unknown path',
  steps: [error.get(`${base}/no-such-${mark}`)],
}

export const malformed: Mistake = {
  name: 'malformed-json',
  title: 'a truncated body',
  steps: [error.post(collection, body.text('{"no-such'))],
}

export const invalid: Mistake = {
  name: 'validation',
  title: 'a body with invalid values',
  needs: ['mistakes'],
  steps: [error.post(collection, body.invalid)],
}

export const noCredential: Mistake = {
  name: 'no-credential',
  title: 'a request without a credential',
  needs: ['key'],
  after: ['AUT-1/creation'],
  // Many servers let everybody read.
  steps: [create(one), error.post(collection, body.example, asNobody)],
}

export const forbidden: Mistake = {
  name: 'forbidden',
  title: 'a request without permission',
  needs: ['no create'],
  after: ['AUT-3/create'],
  // The body may have to refer to a record.
  steps: [create(one), error.post(collection, body.example, asOther)],
}

/** Mistakes that can be made on every server. */
export const commonMistakes: readonly Mistake[] = [noRecord, noPath, malformed, invalid]

export function making({ needs, after, steps }: Mistake): Pick<Draft, 'needs' | 'after' | 'steps'> {
  return { steps, ...(needs === undefined ? {} : { needs }), ...(after === undefined ? {} : { after }) }
}

/** One kind of malformed input. The requests are all called `odd`. */
export interface OddInput extends Pick<Draft, 'needsOnly' | 'steps'> {
  readonly name: string
  /** As in `odd paths`. */
  readonly title: string
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
  'page=99999999999999999999999999999',
  'page=99999999999999999999999999999&per_page=1',
  'offset=99999999999999999999999999999',
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

const filters = ['', 'odd%00', 'odd%zz', '%ff%fe', "odd'", 'odd%27%20OR%20%271%27=%271', '9'.repeat(60), '%5B%5D', long]

const oddSizes = ['0', '-1', '1.5', '1e9', '9223372036854775808', '-9223372036854775809', '%00', "1'", '']

const bodies = ['{"odd"', 'null', '42', '[]', '\ufeff{"odd":1}', '{"odd":1e400}', '['.repeat(10_000)]

/** Members that no collection has, in bodies that are sound but for them. */
const unknownMembers = [
  '"__proto__":{"odd":true}',
  '"constructor":{"prototype":{"odd":true}}',
  '"odd":1e400',
  `"odd":${'9'.repeat(400)}`,
  '"odd":"\\u0000"',
  '"odd":"\\ud800"',
  '"odd\\u0000":1',
  `"odd":${'['.repeat(300)}${']'.repeat(300)}`,
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

export const oddInputs: readonly OddInput[] = [
  { name: 'paths', title: 'odd paths', steps: paths.map((path) => odd.get(`${collection}/${path}`)) },
  {
    name: 'queries',
    title: 'odd parameters',
    needsOnly: ['list'],
    steps: queries.map((query) => odd.get(`${collection}?${query}`)),
  },
  {
    name: 'sizes',
    title: 'odd sizes of pages',
    steps: oddSizes.map((size) => odd.get(`${collection}?${paging.size}=${size}`)),
  },
  {
    name: 'filters',
    title: 'odd values of a filter',
    steps: filters.map((text) => odd.get(`${collection}?${members.filter}=${text}`)),
  },
  { name: 'bodies', title: 'odd bodies', steps: bodies.map((text) => odd.post(collection, body.text(text))) },
  {
    name: 'unknown-members',
    title: 'odd members that the collection does not have',
    steps: [create(one), ...unknownMembers.map((raw) => odd.post(collection, { ...body.example, raw }))],
  },
  {
    name: 'members',
    title: 'odd values of a member',
    steps: [
      create(one),
      ...values.map((value) => odd.post(collection, { ...body.example, with: { [members.free]: value } })),
    ],
  },
  { name: 'fields', title: 'odd header fields', steps: fields.map((headers) => odd.get(collection, { headers })) },
  {
    name: 'body-fields',
    title: 'odd header fields of a sound body',
    steps: [create(one), ...bodyFields.map((headers) => odd.post(collection, body.example, { headers }))],
  },
  {
    name: 'encoding',
    title: 'a body that is no UTF-8',
    steps: [
      bytes(
        odd,
        `POST ${collection} HTTP/1.1\r\nHost: ${host}\r\n${credentialFields}Content-Type: application/json\r\n` +
          `Content-Length: ${notText.length}\r\nConnection: close\r\n\r\n${notText}`,
      ),
    ],
  },
]
