/** CON-3, CON-7: a write whose condition is not met changes nothing; a collection may require conditions. */
import type { Body, Case, Expectation, Step } from '../../case/case.ts'
import { common, type Draft, define, defineOne } from '../../case/define.ts'
import { done, sameBody, status } from '../../case/expect.ts'
import { after, change, deletion, one, seen } from '../../case/names.ts'
import { type More, Reference } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'

const [write, unreadable, empty, now, stale] = Reference.named('write', 'unreadable', 'empty', 'now', 'stale')

interface Write {
  readonly method: 'DELETE' | 'PUT' | 'PATCH'
  readonly sends?: Body
  /** The level of CON-3 for this method: the specification only mentions DELETE. */
  readonly level?: 'should'
}

const writes: readonly Write[] = [
  { method: 'DELETE' },
  { method: 'PUT', sends: body.example, level: 'should' },
  { method: 'PATCH', sends: body.change, level: 'should' },
]

/** Earlier than any change of a record that the checker created. */
export const longAgo = 'Sat, 01 Jan 2000 00:00:00 GMT'

/** RFC 9110 only says that a server "may" answer 412: another refusal protects the record as well. */
const failed = [412, 409]

/** Where a server requires If-Match, a date alone is no condition (RFC 6585, section 3). */
const failedWithDate = [...failed, 428]

const compare = 'Compare If-Match with the current ETag in the transaction that writes, and answer 412 if they differ.'
const whole = 'Parse If-Match as RFC 9110 section 13.1.1 defines it: *, or a list of quoted entity tags.'
const never = 'Answer 400 if If-Match cannot be parsed: a write without the condition may lose an update.'
const dates = 'Compare If-Unmodified-Since with the Last-Modified that the record has now, where there is no If-Match.'

function send(as: Reference, { method, sends }: Write, more: More = {}): Step {
  return as.send(method, one, { ...more, ...(sends === undefined ? {} : { body: sends }) })
}

type Guarded = Pick<Draft, 'title' | 'needs' | 'after' | 'level' | 'remedy'> & {
  readonly headers: Readonly<Record<string, string>>
  /** The statuses that refuse the write. Without them the write must succeed. */
  readonly refusedWith?: readonly number[]
}

/** The cases of a write with a condition, by the first part of their names. */
function guardedWrites(kind: Write): readonly Case[] {
  const { method, level } = kind
  const id = (name: string): Case['id'] => `CON-3/${name}-${method.toLowerCase()}`
  const cases: Readonly<Record<string, Guarded>> = {
    fits: {
      title: `${method} with the current entity tag succeeds`,
      after: ['CON-2/etag-stays', 'CON-2/strong-etag'],
      headers: { 'If-Match': seen.etag },
      remedy: compare,
    },
    other: {
      title: `${method} with another entity tag is refused and changes nothing`,
      after: ['CON-2/etag-stays'],
      // Some servers accept only tags of their own form.
      headers: { 'If-Match': seen.otherEtag },
      refusedWith: failed,
      remedy: compare,
    },
    'list-with': {
      title: `${method} with a list of entity tags that includes the current one succeeds`,
      after: [id('fits'), id('other')],
      headers: { 'If-Match': `${seen.otherEtag}, ${seen.etag}` },
      remedy: whole,
    },
    'list-without': {
      title: `${method} with a list of other entity tags is refused`,
      // Where no list is accepted, the refusal shows nothing about the tags in it.
      after: [id('list-with')],
      headers: { 'If-Match': `${seen.otherEtag}, ${seen.otherEtag}` },
      refusedWith: failed,
      remedy: whole,
    },
    star: {
      title: `${method} of an existing record with If-Match: * succeeds`,
      after: [id('other')],
      headers: { 'If-Match': '*' },
      remedy: whole,
    },
    weak: {
      title: `${method} with the weak form of another entity tag is refused`,
      after: [id('other'), 'CON-2/strong-etag'],
      // The weak form of the current tag may succeed: proxies that compress make tags weak.
      headers: { 'If-Match': `W/${seen.otherEtag}` },
      refusedWith: [...failed, 400],
      remedy: 'Compare the tag without W/ before it, or refuse every weak tag: it never matches by RFC 9110.',
    },
    unreadable: {
      title: `${method} with a malformed If-Match is refused`,
      after: [id('other')],
      level: 'should',
      headers: { 'If-Match': 'not-quoted' },
      // RFC 6585: a condition is required, and there is none.
      refusedWith: [400, 422, 428, ...failed],
      remedy: never,
    },
    empty: {
      title: `${method} with an empty If-Match is refused`,
      after: [id('other')],
      level: 'should',
      headers: { 'If-Match': '' },
      // RFC 6585: a condition is required, and there is none.
      refusedWith: [400, 422, 428, ...failed],
      remedy: never,
    },
    'later-date': {
      title: `${method} of a record that changed after If-Unmodified-Since is refused and changes nothing`,
      after: ['CON-2/last-modified'],
      level: 'should',
      headers: { 'If-Unmodified-Since': longAgo },
      refusedWith: failedWithDate,
      remedy: dates,
    },
    'same-date': {
      title: `${method} with the current date in If-Unmodified-Since succeeds`,
      needs: ['unconditional'],
      after: [id('later-date')],
      level: 'should',
      headers: { 'If-Unmodified-Since': seen.field('Last-Modified') },
      remedy: dates,
    },
    'tag-before-date': {
      title: `${method} ignores If-Unmodified-Since if there is If-Match`,
      after: [id('fits'), id('other'), id('later-date')],
      level: 'should',
      headers: { 'If-Match': seen.etag, 'If-Unmodified-Since': longAgo },
      remedy: 'Do not look at If-Unmodified-Since where there is an If-Match (RFC 9110 section 13.2.2).',
    },
  }
  const drafts = Object.entries(cases).map(([name, { headers, refusedWith, ...draft }]): [Case['id'], Draft] => [
    id(name),
    {
      ...(level === undefined ? {} : { level }),
      ...draft,
      steps: [create(one), setUp(seen.get(one)), send(write, kind, { headers }), after.get(one)],
      expect: refusedWith === undefined ? [done(write)] : [status(write, ...refusedWith), ...unchanged(after, seen)],
    },
  ])
  const malformed: Draft = {
    title: `${method} with an empty or malformed If-Match returns 400`,
    needs: ['read'],
    after: [id('unreadable'), id('empty')],
    level: 'should',
    steps: [
      create(one),
      send(unreadable, kind, { headers: { 'If-Match': 'not-quoted' } }),
      send(empty, kind, { headers: { 'If-Match': '' } }),
    ],
    expect: [status(unreadable, 400), status(empty, 400)],
    remedy: never,
  }
  const answered: Draft = {
    title: `${method} with another entity tag returns 412`,
    needs: ['read'],
    after: [id('other')],
    level: 'should',
    // Some servers answer 400 to tags of another form than their own.
    steps: [create(one), setUp(seen.get(one)), send(write, kind, { headers: { 'If-Match': seen.otherEtag } })],
    expect: [status(write, 412)],
    remedy: 'Answer 412 if a condition fails: clients then know that they have to read the record again.',
  }
  // In their place among the others: reports list cases in this order.
  drafts.splice(8, 0, [id('malformed'), malformed], [id('status'), answered])
  return define(Object.fromEntries(drafts))
}

/** A tag that was current before another change: the cause of lost updates. */
function staleWrite(kind: Write): Case {
  const name = kind.method.toLowerCase()
  return defineOne(`CON-3/stale-${name}`, {
    title: `${kind.method} with a stale entity tag is refused and changes nothing`,
    after: [...new Set<Case['id']>(['CON-3/fits-patch', `CON-3/fits-${name}`, `CON-3/other-${name}`])],
    ...(kind.level === undefined ? {} : { level: kind.level }),
    steps: [
      create(one),
      setUp(seen.get(one)),
      setUp(change.change(one, { headers: { 'If-Match': seen.etag } })),
      setUp(now.get(one)),
      send(stale, kind, { headers: { 'If-Match': seen.etag } }),
      after.get(one),
    ],
    expect: [status(stale, ...failed), ...unchanged(after, now)],
    remedy: compare,
  })
}

function restored(headers: Readonly<Record<string, string>>): readonly Step[] {
  return [
    create(one),
    setUp(seen.get(one)),
    setUp(deletion.delete(one, { headers: { 'If-Match': seen.etag } })),
    write.post(`${one}/restore`, undefined, { headers }),
    after.get(one),
  ]
}

const restorations = common({ level: 'should', after: ['CON-3/other-restore'] }).define({
  'CON-3/other-restore': {
    title: 'A restoration with another entity tag is refused and changes nothing',
    after: ['CON-3/fits-delete'],
    // A tag of the server's own form may be the current one after the deletion.
    steps: restored({ 'If-Match': '"of-another"' }),
    expect: [status(write, ...failed), status(after, 404)],
    remedy: compare,
  },
  'CON-3/star-restore': {
    title: 'A restoration with If-Match: * succeeds',
    steps: restored({ 'If-Match': '*' }),
    expect: [done(write), status(after, 200)],
    remedy: whole,
  },
  'CON-3/unreadable-restore': {
    title: 'A restoration with a malformed If-Match is refused',
    steps: restored({ 'If-Match': 'not-quoted' }),
    expect: [status(write, 400, 422, ...failed), status(after, 404)],
    remedy: never,
  },
  'CON-3/empty-restore': {
    title: 'A restoration with an empty If-Match is refused',
    steps: restored({ 'If-Match': '' }),
    expect: [status(write, 400, 422, ...failed), status(after, 404)],
    remedy: never,
  },
})

export const guards = [...writes.flatMap(guardedWrites), ...writes.map(staleWrite), ...restorations]

export const required = writes.flatMap((kind) => {
  const name = kind.method.toLowerCase()
  const remedy =
    'Answer 428 to PUT, PATCH and DELETE without a condition, and say in the message that If-Match is required.'
  const without = defineOne(`CON-7/${name}`, {
    title: `If conditions are required, ${kind.method} without one returns 428 and changes nothing`,
    needs: ['conditional'],
    steps: [create(one), setUp(seen.get(one)), send(write, kind, { isUnconditional: true }), after.get(one)],
    expect: [status(write, 428), ...unchanged(after, seen)],
    remedy,
  })
  const including = defineOne(`CON-7/${name}-with`, {
    title: `If conditions are required, ${kind.method} with a matching one succeeds`,
    needs: ['conditional'],
    after: [`CON-3/fits-${name}`, `CON-3/other-${name}`, without.id],
    steps: [create(one), setUp(seen.get(one)), send(write, kind, { headers: { 'If-Match': seen.etag } })],
    expect: [done(write)],
    remedy,
  })
  return [without, including]
})

/** The record is there, and as it was before. */
function unchanged(step: Reference, before: Reference): readonly Expectation[] {
  return [status(step, 200), sameBody(step, before)]
}
