/** CON-2: by what to ask again: entity tags and dates. */

import { parseHttpDate } from '../../../http/fields/http-date.ts'
import type { Seen } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { altogether, answerOf, applicableWhere, field, finding, status, unless } from '../../case/expect.ts'
import { again, change, deletion, list, one, read, two } from '../../case/names.ts'
import { caseRecords, collection, members, type Reference } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const strong = /^"[\x21\x23-\x7e\x80-\xff]*"$/
const anyTag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

/** The entity tag in the answer of a step. */
export function tagOf(seen: Seen, step: Reference): string | undefined {
  const { answer } = seen.of(step)
  return answer && fieldOf(answer, 'ETag')
}

/** The tags of two answers differ. */
const differs = (step: Reference, other: Reference) =>
  answerOf(step, 'has another ETag than before', (answer, seen, exchange) => {
    const tag = fieldOf(answer, 'ETag')
    return tag === tagOf(seen, other) ? finding(exchange, { field: 'ETag' }, `ETag is still ${tag}`) : undefined
  })

/** The list is another: only then its tag has to be another, too. */
const isAnother = applicableWhere('the list shows it', (seen) =>
  seen.of(again).answer?.body === seen.of(list).answer?.body ? 'the list is the same as before' : undefined,
)

const mine = caseRecords
const tagsOfLists =
  'Make the tag of a list from what it holds, or from a revision of the collection that grows with every creation, change and deletion.'

export const validators = define({
  'CON-2/etag': {
    title: 'A record carries a strong ETag',
    steps: [create(one), read.get(one)],
    expect: [
      status(read, 200),
      field(read, 'ETag', 'is a strong entity tag', (value) =>
        unless(strong.test(value), `${value} is no strong entity tag: "…" without W/ before it`),
      ),
    ],
    remedy: 'Send the revision of the record in ETag, in double quotes: a number that grows with every change will do.',
  },
  'CON-2/etag-stays': {
    title: 'A record that does not change keeps its ETag',
    after: ['CON-2/etag'],
    steps: [create(one), setUp(read.get(one)), again.get(one)],
    expect: [
      field(again, 'ETag', 'is the same as before', (value, seen) => {
        const before = tagOf(seen, read)
        return value === before ? undefined : `${value} in place of ${before}`
      }),
    ],
    remedy:
      'Make the tag from the revision of the record alone: neither the time nor anything of the request goes into it.',
  },
  'CON-2/etag-changes': {
    title: 'A record that was changed has another ETag',
    after: ['CON-2/etag-stays'],
    steps: [create(one), setUp(read.get(one)), setUp(change.patch(one, body.change)), again.get(one)],
    expect: [status(again, 200), differs(again, read)],
    remedy: 'Count a revision up with every change of the record, in the same statement, and make the tag from it.',
  },
  'CON-2/etag-of-change': {
    title: 'The answer to PATCH carries the ETag that the record has then',
    after: ['CON-2/etag-changes'],
    level: 'may',
    steps: [create(one), change.patch(one, body.change), read.get(one)],
    expect: [
      field(change, 'ETag', 'is that of the record', (value, seen) => {
        const now = tagOf(seen, read)
        return value === now ? undefined : `${value}, and GET says ${now}`
      }),
    ],
    remedy:
      'Send the new ETag with the answer to a change: the client can change the record again without reading it first.',
  },
  'CON-2/last-modified': {
    title: 'A record carries Last-Modified',
    steps: [create(one), read.get(one)],
    expect: [
      status(read, 200),
      field(read, 'Last-Modified', 'is an HTTP date', (value) =>
        /^[A-Z][a-z]{2}, .* GMT$/.test(value) && parseHttpDate(value) !== undefined
          ? undefined
          : `${value} is no HTTP date such as Sun, 06 Nov 1994 08:49:37 GMT`,
      ),
    ],
    remedy:
      'Send the moment of the last change in Last-Modified, in whole seconds and always in GMT (RFC 9110 section 5.6.7).',
  },
  'CON-2/list-etag': {
    title: 'A list carries an ETag',
    steps: [list.get(collection)],
    expect: [
      status(list, 200),
      field(list, 'ETag', 'is an entity tag', (value) =>
        unless(anyTag.test(value), `${value} is no entity tag: "…", or W/"…"`),
      ),
    ],
    remedy: tagsOfLists,
  },
  'CON-2/list-etag-creation': {
    title: 'A list has another ETag when a record was created',
    after: ['CON-2/list-etag'],
    steps: [create(one), setUp(list.get(mine)), create(two), again.get(mine)],
    expect: [isAnother, differs(again, list)],
    remedy: tagsOfLists,
  },
  'CON-2/list-etag-change': {
    title: 'A list has another ETag when a record in it was changed',
    after: ['CON-2/list-etag'],
    steps: [
      create(one),
      setUp(list.get(mine)),
      setUp(change.patch(one, { ...body.change, without: [members.marker] })),
      again.get(mine),
    ],
    expect: [isAnother, differs(again, list)],
    remedy: tagsOfLists,
  },
  'CON-2/list-etag-deletion': {
    title: 'A list has another ETag when a record was deleted',
    after: ['CON-2/list-etag'],
    steps: [create(one), setUp(list.get(mine)), setUp(deletion.delete(one)), again.get(mine)],
    expect: [isAnother, differs(again, list)],
    remedy: tagsOfLists,
  },
})

/** The answer of a step carries the tag of another's. */
export function sameTag(step: Reference, other: Reference) {
  return altogether(`has the same ETag as ${other.name}`, (seen) => {
    const [tag, wanted] = [tagOf(seen, step), tagOf(seen, other)]
    return tag === wanted ? undefined : finding(seen.of(step), { field: 'ETag' }, `${tag} in place of ${wanted}`)
  })
}
