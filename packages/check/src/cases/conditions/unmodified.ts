/** CON-4: conditional reads. A representation that the client already has is not sent again. */
import type { Case } from '../../case/case.ts'
import { common, define } from '../../case/define.ts'
import { answerOf, finding, noBody, short, status } from '../../case/expect.ts'
import { again, change, deletion, list, one, read, two } from '../../case/names.ts'
import { answered, applicableWhere, outcomeOf, readyWhere } from '../../case/preconditions.ts'
import { collection, listWithCase, Reference } from '../../case/references.ts'
import { asNobody, create, setUp } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'
import { longAgo } from './guards.ts'
import { tagOf } from './validators.ts'

const [plainly, then] = Reference.named('plainly', 'then')

// Fields that a 304 must have if a 200 has them (RFC 9110 section 15.4.5). Date differs.
const kept = ['ETag', 'Cache-Control', 'Vary', 'Content-Location', 'Expires']

const ifNoneMatch = (tags: string) => ({ headers: { 'If-None-Match': tags } })
const ifModifiedSince = (date: string) => ({ headers: { 'If-Modified-Since': date } })

const byTag = 'Compare If-None-Match with the ETag of a 200, and answer 304 with the same header fields and no body.'
const byDate = 'Where there is no If-None-Match answer 304 when Last-Modified is not after If-Modified-Since.'

const byTags: readonly Case[] = common({
  remedy: byTag,
  expect: [status(again, 304)],
  after: ['CON-4/not-modified'],
  prepare: [create(one), setUp(read.get(one))],
}).define({
  'CON-4/not-modified': {
    title: 'GET with the current entity tag returns 304 without a body',
    after: ['CON-2/etag-stays'],
    steps: [again.get(one, ifNoneMatch(read.etag))],
    expect: [status(again, 304), noBody(again)],
  },
  'CON-4/fields': {
    title: 'A 304 has the caching header fields of a 200',
    steps: [setUp(again.get(one, ifNoneMatch(read.etag)))],
    expect: [
      answerOf(again, (answer, seen, exchange) => {
        const whole = seen.of(read).answer
        for (const name of kept) {
          const [value, wanted] = [fieldOf(answer, name), fieldOf(whole, name)]
          if (wanted !== undefined && value !== wanted) {
            return finding(exchange, { field: name }, `${name} is ${value ?? 'absent'}, with a 200 it is ${wanted}`)
          }
        }
        return undefined
      }),
    ],
    remedy: 'Send with a 304 the ETag, Cache-Control, Vary, Content-Location and Expires of a 200: caches need them.',
  },
  'CON-4/list': {
    title: 'GET with a list of entity tags that includes the current one returns 304',
    steps: [again.get(one, ifNoneMatch(`${read.otherEtag}, ${read.etag}`))],
    remedy: 'If-None-Match may hold several tags, with commas between them: look for the record’s among them.',
  },
  'CON-4/weak': {
    title: 'GET with the current entity tag as a weak one returns 304',
    after: ['CON-4/not-modified', 'CON-2/strong-etag'],
    steps: [again.get(one, ifNoneMatch(`W/${read.etag}`))],
    remedy: 'Ignore W/ when you compare If-None-Match: compression on the way makes entity tags weak.',
  },
  'CON-4/star': {
    title: 'GET of an existing record with If-None-Match: * returns 304',
    prepare: [],
    steps: [create(one), again.get(one, ifNoneMatch('*'))],
    remedy: 'Let * match any existing record (RFC 9110 section 13.1.2).',
  },
  'CON-4/other': {
    title: 'GET with another entity tag returns the record',
    // Some servers accept only tags of their own form.
    steps: [again.get(one, ifNoneMatch(read.otherEtag))],
    expect: [status(again, 200)],
  },
  'CON-4/changed': {
    title: 'GET with a stale entity tag returns the changed record',
    after: ['CON-4/not-modified', 'CON-2/etag-changes'],
    steps: [setUp(change.change(one)), again.get(one, ifNoneMatch(read.etag))],
    expect: [status(again, 200)],
  },
  'CON-4/deleted': {
    title: 'GET of a deleted record with its entity tag returns 404, not 304',
    steps: [setUp(deletion.delete(one)), plainly.get(one), again.get(one, ifNoneMatch(read.etag))],
    expect: [
      applicableWhere(answered(plainly, 404), 'without a condition it is not answered 404 either'),
      status(again, 404),
    ],
    remedy: 'Find the record first: a condition is evaluated only if the request would succeed without it.',
  },
  'CON-4/nobody': {
    title: 'GET without a credential returns 401, not 304',
    needs: ['key'],
    steps: [plainly.get(one, asNobody), again.get(one, { headers: { 'If-None-Match': read.etag }, caller: 'nobody' })],
    expect: [applicableWhere(answered(plainly, 401), 'records are read without a credential'), status(again, 401)],
    remedy: 'Evaluate conditions after authentication and authorization.',
  },
  'CON-4/head': {
    title: 'HEAD with the current entity tag returns 304',
    steps: [plainly.head(one), again.head(one, ifNoneMatch(read.etag))],
    expect: [
      applicableWhere(answered(plainly, 200), (seen) => `HEAD is answered ${outcomeOf(plainly, seen)}`),
      status(again, 304),
    ],
    remedy: 'Let HEAD run all that GET runs, and leave the body out at the very end.',
  },
})

const byDates: readonly Case[] = common({
  expect: [status(again, 200)],
  after: ['CON-4/date'],
  prepare: [create(one)],
}).define({
  'CON-4/date': {
    title: 'GET with the current date in If-Modified-Since returns 304 without a body',
    // RFC 9110 section 13.1.3: the server should answer 304.
    level: 'should',
    after: ['CON-2/last-modified'],
    steps: [setUp(read.get(one)), again.get(one, ifModifiedSince(read.field('Last-Modified')))],
    expect: [status(again, 304), noBody(again)],
    remedy: byDate,
  },
  'CON-4/head-date': {
    title: 'HEAD with the current date in If-Modified-Since returns 304',
    level: 'should',
    steps: [setUp(read.get(one)), again.head(one, ifModifiedSince(read.field('Last-Modified')))],
    expect: [status(again, 304)],
    remedy: 'Let HEAD run all that GET runs, and leave the body out at the very end.',
  },
  'CON-4/earlier-date': {
    title: 'GET of a record that changed after If-Modified-Since returns the record',
    steps: [again.get(one, ifModifiedSince(longAgo))],
    remedy: byDate,
  },
  'CON-4/no-date': {
    title: 'An If-Modified-Since that is not a date is ignored',
    steps: [again.get(one, ifModifiedSince('yesterday'))],
    remedy: 'Ignore an If-Modified-Since that is no HTTP date (RFC 9110 section 13.1.3).',
  },
  'CON-4/tag-before-date': {
    title: 'If-None-Match takes precedence over If-Modified-Since',
    after: ['CON-4/other', 'CON-4/date'],
    steps: [
      setUp(read.get(one)),
      again.get(one, {
        headers: { 'If-None-Match': read.otherEtag, 'If-Modified-Since': read.field('Last-Modified') },
      }),
    ],
    remedy: 'Ignore If-Modified-Since if there is an If-None-Match: dates miss two changes in one second.',
  },
})

const ofLists: readonly Case[] = define({
  'CON-4/collection': {
    title: 'GET of a collection with the current entity tag returns 304 without a body',
    after: ['CON-2/list-etag'],
    alone: true,
    steps: [setUp(list.get(collection)), again.get(collection, ifNoneMatch(list.etag)), setUp(then.get(collection))],
    expect: [
      readyWhere(
        (seen) => tagOf(seen, list) === tagOf(seen, then) || answered(again, 304)(seen),
        (seen) => `its tag was ${tagOf(seen, list)}, then ${tagOf(seen, then)}`,
      ),
      status(again, 304),
      noBody(again),
    ],
    remedy: byTag,
  },
  'CON-4/collection-changed': {
    title: 'GET of a collection with a stale entity tag returns the changed list',
    after: ['CON-4/collection', 'CON-2/list-etag-creation'],
    alone: true,
    steps: [create(one), setUp(list.get(listWithCase)), create(two), again.get(listWithCase, ifNoneMatch(list.etag))],
    expect: [
      status(again, 200),
      answerOf(again, (answer, seen) => {
        const id = seen.fill(two.id)
        return answer.body.includes(id) ? undefined : `no ${id} in ${short(answer.body)}`
      }),
    ],
    remedy: byTag,
  },
})

export const unmodified: readonly Case[] = [...byTags, ...byDates, ...ofLists]
