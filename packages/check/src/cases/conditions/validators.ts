/** CON-1, CON-2, CON-8: Cache-Control, entity tags, Last-Modified and Vary. */
import { parseHttpDate } from 'resourced-contract/fields/header-fields'
import type { Expectation, Observations, Step } from '../../case/case.ts'
import { common, defineEach } from '../../case/define.ts'
import { answerOf, done, elementsOf, field, fieldIs, finding, status, unless } from '../../case/expect.ts'
import { recordAt } from '../../case/expect-records.ts'
import { again, change, deletion, list, one, read, two } from '../../case/names.ts'
import type { Need } from '../../case/needs.ts'
import { answered, applicableWhere, outcomeOf } from '../../case/preconditions.ts'
import { base, collection, idMember, listWithCase, Reference } from '../../case/references.ts'
import { asNobody, body, create, setUp } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const [asked, partStep, head, xml, html, zipped] = Reference.named('asked', 'part', 'head', 'xml', 'html', 'zipped')

/** A response, and the requests that lead to it. */
interface CachedResponse {
  readonly name: string
  /** The subject of a title. */
  readonly what: string
  readonly needs?: readonly Need[]
  /** The response to `asked` is judged. */
  readonly steps: readonly Step[]
  /** The case is not applicable if the response has another status. */
  readonly status?: number
}

const reads: readonly CachedResponse[] = [
  { name: 'read', what: 'The response to GET of a record', steps: [create(one), asked.get(one)] },
  { name: 'list', what: 'The response to GET of a collection', steps: [asked.get(collection)] },
]

const others: readonly CachedResponse[] = [
  { name: 'creation', what: 'The response to a POST that creates', steps: [create(asked)] },
  { name: 'change', what: 'The response to a change', steps: [create(one), asked.change(one)] },
  { name: 'deletion', what: 'The response to DELETE', steps: [create(one), asked.delete(one)] },
  { name: 'missing', what: 'The response for an unknown path', steps: [asked.get(`${base}/no-such-thing`)] },
  {
    name: 'refused',
    what: 'The response to a request without a credential',
    needs: ['key'],
    // Many servers let everybody read.
    steps: [create(one), asked.post(collection, body.example, asNobody)],
    status: 401,
  },
  { name: 'invalid', what: 'The response to a malformed body', steps: [asked.post(collection, body.text('{'))] },
]

function directive(pattern: RegExp, message: string): Expectation {
  return field(asked, 'Cache-Control', (value) =>
    unless(
      elementsOf(value.toLowerCase()).some((each) => pattern.test(each)),
      `${value} ${message}`,
    ),
  )
}

function isAnswered(status: number | undefined): Expectation {
  const isSo = status === undefined ? () => true : answered(asked, status)
  return applicableWhere(isSo, (seen) => `it is answered ${outcomeOf(asked, seen)}`)
}

export const caching = [
  ...defineEach('CON-1/says-', [...reads, ...others], ({ what, needs = [], steps, status }) => ({
    title: `${what} says whether it may be cached`,
    needs,
    steps,
    expect: [
      isAnswered(status),
      field(asked, 'Cache-Control', (value) => unless(elementsOf(value).length > 0, 'Cache-Control is empty')),
    ],
    remedy: 'Send Cache-Control with every response: private, no-cache for reads, no-store for everything else.',
  })),
  ...defineEach('CON-1/private-', reads, ({ name, what, steps }) => ({
    title: `${what} with a credential is not for shared caches`,
    needs: ['key'],
    after: [`CON-1/says-${name}`],
    level: 'should',
    steps,
    expect: [
      field(asked, 'Cache-Control', (value, seen) => {
        const all = elementsOf(value.toLowerCase())
        if (all.some((each) => /^(?:private|no-store)$/.test(each))) return undefined
        // RFC 9111, section 3.5: shared caches keep no response to Authorization unless it permits that.
        const isSent = seen.of(asked).asked.fields.some(([name]) => name.toLowerCase() === 'authorization')
        const isPermitted = all.some((each) => /^(?:public|must-revalidate|s-maxage=.*)$/.test(each))
        return unless(isSent && !isPermitted, `${value} has neither private nor no-store`)
      }),
    ],
    remedy: 'Send private in Cache-Control: what one caller may read a shared cache must not keep for others.',
  })),
  ...defineEach('CON-1/again-', reads, ({ name, what, steps }) => ({
    title: `${what} says how long it may be cached`,
    after: [`CON-1/says-${name}`],
    level: 'should',
    steps,
    expect: [directive(/^(?:no-cache|no-store|max-age=\d+)$/, 'leaves it to caches how long they keep it')],
    remedy: 'Send no-cache in Cache-Control, or a max-age: otherwise caches guess how long the answer keeps.',
  })),
  ...defineEach('CON-1/no-store-', others, ({ name, what, needs = [], steps, status }) => ({
    title: `${what} is not to be stored`,
    needs,
    after: [`CON-1/says-${name}`],
    level: 'should',
    steps,
    expect: [isAnswered(status), directive(/^no-store$/, 'in place of no-store')],
    remedy: 'Send Cache-Control: no-store with answers to changes and with errors: nothing of them is worth keeping.',
  })),
]

const strong = /^"[\x21\x23-\x7e\x80-\xff]*"$/
const anyTag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

const isTag = (step: Reference, form = anyTag, says = '"…", or W/"…"') =>
  field(step, 'ETag', (value) => unless(form.test(value), `${value} is no entity tag of the form ${says}`))

export function tagOf(seen: Observations, step: Reference): string | undefined {
  return fieldOf(seen.of(step).answer, 'ETag')
}

const differs = (step: Reference, other: Reference) =>
  answerOf(step, (answer, seen, exchange) => {
    const tag = fieldOf(answer, 'ETag')
    return tag === tagOf(seen, other) ? finding(exchange, { field: 'ETag' }, `ETag is still ${tag}`) : undefined
  })

/** Only if the list differs, its tag must differ. */
const isAnother = applicableWhere(
  (seen) => seen.of(again).answer?.body !== seen.of(list).answer?.body,
  'the list is the same as before',
)

function showsChangeTime(seen: Observations): boolean {
  return Object.entries(recordAt(read, seen) ?? {}).some(
    ([name, value]) =>
      /updated|modified|changed/i.test(name) &&
      // Some servers write milliseconds, or seconds, since 1970.
      (typeof value === 'number' ? value > 1e9 : !Number.isNaN(Date.parse(String(value ?? '')))),
  )
}

const mine = listWithCase
const tagsOfLists =
  'Derive the ETag of a list from its content, or from a revision that grows with every write to the collection.'

export const validators = common({ remedy: tagsOfLists, expect: [isAnother, differs(again, list)] }).define({
  'CON-2/etag': {
    title: 'A record carries an ETag',
    steps: [create(one), read.get(one)],
    expect: [status(read, 200), isTag(read)],
    remedy: 'Send the revision of the record in ETag, in double quotes: a number that grows with every change will do.',
  },
  'CON-2/strong-etag': {
    title: 'The ETag of a record is strong, so that If-Match can compare it',
    after: ['CON-2/etag'],
    steps: [create(one), read.get(one)],
    expect: [isTag(read, strong, '"…" without W/ before it')],
    remedy: 'Send the revision of the record in ETag, in double quotes, without W/ before it.',
  },
  'CON-2/etag-stays': {
    title: 'The ETag of an unchanged record does not change',
    after: ['CON-2/etag'],
    steps: [create(one), setUp(read.get(one)), again.get(one)],
    expect: [fieldIs(again, 'ETag', (seen) => `${tagOf(seen, read)}`)],
    remedy: 'Derive the ETag only from the revision of the record, not from the time or the request.',
  },
  'CON-2/etag-changes': {
    title: 'A change of a record changes its ETag',
    after: ['CON-2/etag-stays'],
    steps: [create(one), setUp(read.get(one)), setUp(change.change(one)), again.get(one)],
    expect: [status(again, 200), differs(again, read)],
    remedy: 'Count a revision up with every change of the record, in the same statement, and make the tag from it.',
  },
  'CON-2/etag-of-change': {
    title: 'The response to a change has the new ETag',
    after: ['CON-2/etag-changes'],
    level: 'may',
    steps: [create(one), change.change(one), read.get(one)],
    expect: [fieldIs(change, 'ETag', (seen) => `${tagOf(seen, read)}`)],
    remedy: 'Send the new ETag with the response to a change, so that clients can change the record again.',
  },
  'CON-2/last-modified': {
    title: 'A record carries Last-Modified',
    steps: [create(one), read.get(one)],
    expect: [
      status(read, 200),
      // RFC 9110 wants it only where a date can be determined.
      applicableWhere(
        (seen) => fieldOf(seen.of(read).answer, 'Last-Modified') !== undefined || showsChangeTime(seen),
        'nothing tells when the record was changed',
      ),
      field(read, 'Last-Modified', (value) =>
        unless(
          /^[A-Z][a-z]{2}, .* GMT$/.test(value) && parseHttpDate(value) !== undefined,
          `${value} is no HTTP date such as Sun, 06 Nov 1994 08:49:37 GMT`,
        ),
      ),
    ],
    remedy: 'Send the time of the last change in Last-Modified, in whole seconds and GMT (RFC 9110 section 5.6.7).',
  },
  'CON-2/list-etag': {
    title: 'A list carries an ETag',
    steps: [list.get(collection)],
    expect: [status(list, 200), isTag(list)],
  },
  'CON-2/list-etag-creation': {
    title: 'A creation changes the ETag of a list',
    after: ['CON-2/list-etag'],
    steps: [create(one), setUp(list.get(mine)), create(two), again.get(mine)],
  },
  'CON-2/list-etag-change': {
    title: 'A change of a record changes the ETag of its list',
    after: ['CON-2/list-etag'],
    steps: [create(one), setUp(list.get(mine)), setUp(change.change(one)), again.get(mine)],
  },
  'CON-2/list-etag-deletion': {
    title: 'A deletion changes the ETag of a list',
    after: ['CON-2/list-etag'],
    steps: [create(one), setUp(list.get(mine)), setUp(deletion.delete(one)), again.get(mine)],
  },
})

function sameTag(step: Reference, other: Reference): Expectation {
  return (seen) => {
    const [tag, wanted] = [tagOf(seen, step), tagOf(seen, other)]
    return tag === wanted ? undefined : finding(seen.of(step), { field: 'ETag' }, `${tag} in place of ${wanted}`)
  }
}

const restricted = [
  applicableWhere(answered(partStep, 200), (seen) => `fields is answered ${outcomeOf(partStep, seen)}`),
  applicableWhere((seen) => seen.of(partStep).answer?.body !== seen.of(read).answer?.body, 'fields is ignored'),
]

/** Request fields of content negotiation, and steps that send them. */
const negotiated = [
  ['Accept', xml, html],
  ['Accept-Encoding', zipped],
] as const

/** Request fields that change the response to the step `read`. */
function deciding(seen: Observations): string[] {
  const kindOf = (step: Reference) => {
    const { answer } = seen.of(step)
    return JSON.stringify([
      answer?.status,
      ...['Content-Type', 'Content-Encoding'].map((name) => fieldOf(answer, name)),
    ])
  }
  const usual = kindOf(read)
  return negotiated.filter(([, ...steps]) => steps.some((step) => kindOf(step) !== usual)).map(([name]) => name)
}

const remedy =
  'Derive the ETag from the revision of the record, not from the bytes: any read gives the tag for If-Match.'

export const tags = common({ remedy }).define({
  'CON-8/fields': {
    title: 'A record has the same ETag with and without fields',
    after: ['CON-2/etag-stays'],
    steps: [create(one), setUp(read.get(one)), partStep.get(`${one}?fields=${idMember}`)],
    expect: [...restricted, sameTag(partStep, read)],
  },
  'CON-8/tag-of-fields': {
    title: 'If-Match accepts an entity tag from a read with fields',
    after: ['CON-3/fits-patch', 'CON-3/other-patch'],
    steps: [
      create(one),
      setUp(read.get(one)),
      partStep.get(`${one}?fields=${idMember}`),
      change.change(one, { headers: { 'If-Match': partStep.etag } }),
    ],
    expect: [...restricted, done(change)],
  },
  'CON-8/tag-of-head': {
    title: 'If-Match accepts an entity tag from HEAD',
    after: ['CON-3/fits-patch', 'CON-3/other-patch'],
    steps: [create(one), setUp(head.head(one)), change.change(one, { headers: { 'If-Match': head.etag } })],
    expect: [done(change)],
  },
  'CON-8/vary': {
    title: 'Vary names the request header fields that affect the response',
    steps: [
      create(one),
      setUp(read.get(one)),
      xml.get(one, { headers: { Accept: 'application/xml' } }),
      html.get(one, { headers: { Accept: 'text/html' } }),
      zipped.get(one, { headers: { 'Accept-Encoding': 'gzip' } }),
    ],
    expect: [
      applicableWhere(
        (seen) => !/\bno-store\b/i.test(fieldOf(seen.of(read).answer, 'Cache-Control') ?? ''),
        'no cache may store the response',
      ),
      applicableWhere(
        (seen) => deciding(seen).length > 0,
        'the answer is the same whatever Accept and Accept-Encoding say',
      ),
      (seen) => {
        const vary = fieldOf(seen.of(read).answer, 'Vary') ?? ''
        const named = elementsOf(vary.toLowerCase())
        const missing = deciding(seen).filter((name) => !named.includes('*') && !named.includes(name.toLowerCase()))
        if (missing.length === 0) return undefined
        const message = `Vary is ${vary || 'absent'}, and the response depends on ${missing.join(' and ')}`
        return finding(seen.of(read), { field: 'Vary' }, message)
      },
    ],
    remedy: 'List in Vary every request field that affects the response: caches would mix up formats otherwise.',
  },
})
