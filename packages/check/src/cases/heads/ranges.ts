/** HED-3: range requests. */
import type { Case, Expectation, Observations, Step } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { answerOf, fieldIs, finding, noField, short, status, unless } from '../../case/expect.ts'
import { one, read, whole } from '../../case/names.ts'
import { answered } from '../../case/preconditions.ts'
import { Reference } from '../../case/references.ts'
import { create, setUp } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const [partStep] = Reference.named('part')

/** Cases that apply only if the server supports ranges. */
const offered = { after: ['HED-3/part'], level: 'should' } as const

const part = (range: string, more: Record<string, string> = {}, method = 'GET'): Step[] => [
  create(one),
  setUp(whole.get(one)),
  partStep.send(method, one, { headers: { Range: range, ...more } }),
]

function bytesOf(seen: Observations): Buffer {
  return Buffer.from(seen.of(whole).answer?.body ?? '')
}

/** The body is this part of the representation. */
function isSlice(range: (length: number) => readonly [start: number, end: number]): Expectation {
  return answerOf(partStep, ({ body }, seen) => {
    const bytes = bytesOf(seen)
    const [start, end] = range(bytes.length)
    const wanted = bytes.subarray(start, end + 1).toString()
    return unless(body === wanted, `${short(body)} in place of ${short(wanted)}`)
  })
}

/** The response is a 206 with this range of the representation. */
function isPart(range: (length: number) => readonly [start: number, end: number], withBody = true): Expectation[] {
  return [
    status(partStep, 206),
    fieldIs(partStep, 'Content-Range', (seen) => {
      const { length } = bytesOf(seen)
      return `bytes ${range(length).join('-')}/${length}`
    }),
    ...(withBody ? [isSlice(range)] : []),
  ]
}

/** The response is the whole representation. */
const isWhole: Expectation[] = [status(partStep, 200), isSlice((length) => [0, length - 1])]

const wholeIn: Expectation = (seen) => isWhole.map((test) => test(seen)).find((each) => each !== undefined)

const remedy = 'Answer 206 with the requested bytes, both ends included, and Content-Range: bytes FIRST-LAST/LENGTH.'

const parts: readonly Case[] = common({ remedy }).define({
  'HED-3/announced': {
    title: 'A record has Accept-Ranges: bytes',
    steps: [create(one), read.get(one)],
    expect: [status(read, 200), fieldIs(read, 'Accept-Ranges', 'bytes')],
    remedy: 'Send Accept-Ranges: bytes where parts can be had: clients go on with a broken download only then.',
  },
  'HED-3/part': {
    title: 'GET with a byte range returns 206 with this range',
    after: ['HED-3/announced'],
    steps: part('bytes=2-9'),
    expect: isPart(() => [2, 9]),
  },
  'HED-3/length': {
    title: 'A 206 has Content-Length and Accept-Ranges',
    ...offered,
    steps: part('bytes=2-9'),
    expect: [fieldIs(partStep, 'Content-Length', '8'), fieldIs(partStep, 'Accept-Ranges', 'bytes')],
    remedy: 'Send Content-Length, of the part, and Accept-Ranges with a 206 too.',
  },
  'HED-3/rest': {
    title: 'A range without an end returns the rest',
    ...offered,
    steps: part('bytes=5-'),
    expect: isPart((length) => [5, length - 1]),
  },
  'HED-3/last': {
    title: 'A suffix range returns so many bytes at the end',
    ...offered,
    steps: part('bytes=-4'),
    expect: isPart((length) => [length - 4, length - 1]),
  },
  'HED-3/over-end': {
    title: 'A range that ends after the end returns the rest',
    ...offered,
    steps: part('bytes=3-999999999'),
    expect: isPart((length) => [3, length - 1]),
  },
  'HED-3/beyond': {
    title: 'A range that begins after the end returns 416 with the length',
    ...offered,
    steps: part('bytes=999999999-'),
    expect: [status(partStep, 416), fieldIs(partStep, 'Content-Range', (seen) => `bytes */${bytesOf(seen).length}`)],
    remedy: 'Answer 416 where the range begins after the end, with Content-Range: bytes */LENGTH.',
  },
  'HED-3/head': {
    title: 'HEAD with a range returns 206 with the header fields of the range',
    ...offered,
    level: 'may',
    steps: part('bytes=2-9', {}, 'HEAD'),
    expect: isPart(() => [2, 9], false),
    remedy: 'Let HEAD run all that GET runs, ranges too, and leave the body out at the very end.',
  },
})

const conditions: readonly Case[] = common({ expect: isWhole }).define({
  'HED-3/if-range': {
    title: 'If-Range with the current entity tag returns the range',
    ...offered,
    after: ['HED-3/part', 'CON-2/etag-stays', 'CON-2/strong-etag'],
    steps: part('bytes=2-9', { 'If-Range': whole.etag }),
    expect: isPart(() => [2, 9]),
    remedy: 'Compare If-Range strongly with the ETag, and send the part where they are the same.',
  },
  'HED-3/if-range-other': {
    title: 'If-Range with a stale entity tag returns the whole representation',
    ...offered,
    steps: part('bytes=2-9', { 'If-Range': '"of-another"' }),
    remedy: 'Send the whole with 200 if If-Range does not match: parts of two representations do not fit together.',
  },
  'HED-3/not-modified': {
    title: 'A range with a matching If-None-Match returns 304',
    ...offered,
    after: ['HED-3/part', 'CON-4/not-modified'],
    steps: part('bytes=2-9', { 'If-None-Match': whole.etag }),
    expect: [status(partStep, 304), noField(partStep, 'Content-Range')],
    remedy: 'Decide conditions before ranges (RFC 9110 section 13.2.2).',
  },
  'HED-3/unknown-unit': {
    title: 'A range of an unknown unit is ignored',
    ...offered,
    steps: part('records=0-4'),
    remedy: 'Ignore a Range whose unit is not known (RFC 9110 section 14.2).',
  },
  'HED-3/backwards': {
    title: 'A range that ends before it begins is ignored or refused',
    ...offered,
    steps: part('bytes=9-2'),
    // RFC 9110, section 14.2: a server may ignore or reject it.
    expect: [(seen) => (answered(partStep, 416, 400)(seen) ? undefined : wholeIn(seen))],
    remedy: 'Ignore a Range that cannot be read, or answer 416.',
  },
  'HED-3/several': {
    title: 'Several ranges return the whole representation or several parts',
    ...offered,
    steps: part('bytes=0-1,4-5'),
    expect: [
      answerOf(partStep, (answer, _, exchange) => {
        if (answer.status === 200) return undefined
        if (answer.status !== 206) return finding(exchange, 'status', `${answer.status} in place of 200 or 206`)
        const type = fieldOf(answer, 'Content-Type') ?? 'absent'
        if (/^multipart\/byteranges/i.test(type)) return undefined
        return finding(exchange, { field: 'Content-Type' }, `Content-Type is ${type}, not multipart/byteranges`)
      }),
    ],
    remedy: 'Answer several ranges with the whole, unless you can send multipart/byteranges.',
  },
})

export const ranges: readonly Case[] = [...parts, ...conditions]
