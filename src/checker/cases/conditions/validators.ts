/** CON-2: by what to ask again: entity tags and dates. */
import { parseHttpDate } from '../../../http/fields/http-date.ts'
import type { Case, Seen } from '../../case/case.ts'
import { altogether, answerOf, field, finding, onlyWhere, status } from '../../case/expect.ts'
import { given, record, when } from '../../case/steps.ts'
import { fieldOf } from '../../client/exchange.ts'

const strong = /^"[\x21\x23-\x7e\x80-\xff]*"$/
const anyTag = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/

/** The entity tag in the answer of a step. */
export function tagOf(seen: Seen, step: string): string | undefined {
  const { answer } = seen.of(step)
  return answer && fieldOf(answer, 'ETag')
}

/** The tags of two answers differ. */
const differs = (step: string, other: string) =>
  answerOf(step, 'has another ETag than before', (answer, seen, exchange) => {
    const tag = fieldOf(answer, 'ETag')
    return tag === tagOf(seen, other) ? finding(exchange, { field: 'ETag' }, `ETag is still ${tag}`) : undefined
  })

/** The list is another: only then its tag has to be another, too. */
const isAnother = onlyWhere('the list shows it', (seen) =>
  seen.of('again').answer?.body === seen.of('list').answer?.body ? 'the list is the same as before' : undefined,
)

const mine = '{collection}?{mine}'
const tagsOfLists =
  'Make the tag of a list from what it holds, or from a revision of the collection that grows with every creation, change and deletion.'

export const validators: readonly Case[] = [
  {
    id: 'CON-2/etag',
    title: 'A record carries a strong ETag',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [record(), when('read', 'GET', '{one}')],
    expect: [
      status('read', 200),
      field('read', 'ETag', 'is a strong entity tag', (value) =>
        strong.test(value) ? undefined : `${value} is no strong entity tag: "…" without W/ before it`,
      ),
    ],
    mend: 'Send the revision of the record in ETag, in double quotes: a number that grows with every change will do.',
  },
  {
    id: 'CON-2/etag-stays',
    title: 'A record that does not change keeps its ETag',
    kind: 'changing',
    needs: ['create', 'read'],
    after: ['CON-2/etag'],
    steps: [record(), given('read', 'GET', '{one}'), when('again', 'GET', '{one}')],
    expect: [
      field('again', 'ETag', 'is the same as before', (value, seen) => {
        const before = tagOf(seen, 'read')
        return value === before ? undefined : `${value} in place of ${before}`
      }),
    ],
    mend: 'Make the tag from the revision of the record alone: neither the time nor anything of the request goes into it.',
  },
  {
    id: 'CON-2/etag-changes',
    title: 'A record that was changed has another ETag',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'unconditional'],
    after: ['CON-2/etag-stays'],
    steps: [
      record(),
      given('read', 'GET', '{one}'),
      given('change', 'PATCH', '{one}', { body: { from: 'change' } }),
      when('again', 'GET', '{one}'),
    ],
    expect: [status('again', 200), differs('again', 'read')],
    mend: 'Count a revision up with every change of the record, in the same statement, and make the tag from it.',
  },
  {
    id: 'CON-2/etag-of-change',
    title: 'The answer to PATCH carries the ETag that the record has then',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'unconditional'],
    after: ['CON-2/etag-changes'],
    level: 'may',
    steps: [record(), when('change', 'PATCH', '{one}', { body: { from: 'change' } }), when('read', 'GET', '{one}')],
    expect: [
      field('change', 'ETag', 'is that of the record', (value, seen) => {
        const now = tagOf(seen, 'read')
        return value === now ? undefined : `${value}, and GET says ${now}`
      }),
    ],
    mend: 'Send the new ETag with the answer to a change: the client can change the record again without reading it first.',
  },
  {
    id: 'CON-2/last-modified',
    title: 'A record carries Last-Modified',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [record(), when('read', 'GET', '{one}')],
    expect: [
      status('read', 200),
      field('read', 'Last-Modified', 'is an HTTP date', (value) =>
        /^[A-Z][a-z]{2}, .* GMT$/.test(value) && parseHttpDate(value) !== undefined
          ? undefined
          : `${value} is no HTTP date such as Sun, 06 Nov 1994 08:49:37 GMT`,
      ),
    ],
    mend: 'Send the moment of the last change in Last-Modified, in whole seconds and always in GMT (RFC 9110 section 5.6.7).',
  },
  {
    id: 'CON-2/list-etag',
    title: 'A list carries an ETag',
    kind: 'reading',
    needs: ['list'],
    steps: [when('list', 'GET', '{collection}')],
    expect: [
      status('list', 200),
      field('list', 'ETag', 'is an entity tag', (value) =>
        anyTag.test(value) ? undefined : `${value} is no entity tag: "…", or W/"…"`,
      ),
    ],
    mend: tagsOfLists,
  },
  {
    id: 'CON-2/list-etag-creation',
    title: 'A list has another ETag when a record was created',
    kind: 'changing',
    needs: ['list', 'create', 'marker'],
    after: ['CON-2/list-etag'],
    steps: [record(), given('list', 'GET', mine), record('two'), when('again', 'GET', mine)],
    expect: [isAnother, differs('again', 'list')],
    mend: tagsOfLists,
  },
  {
    id: 'CON-2/list-etag-change',
    title: 'A list has another ETag when a record in it was changed',
    kind: 'changing',
    needs: ['list', 'create', 'update', 'change', 'marker', 'unconditional'],
    after: ['CON-2/list-etag'],
    steps: [
      record(),
      given('list', 'GET', mine),
      given('change', 'PATCH', '{one}', { body: { from: 'change', without: ['{member:marker}'] } }),
      when('again', 'GET', mine),
    ],
    expect: [isAnother, differs('again', 'list')],
    mend: tagsOfLists,
  },
  {
    id: 'CON-2/list-etag-deletion',
    title: 'A list has another ETag when a record was deleted',
    kind: 'changing',
    needs: ['list', 'create', 'delete', 'marker', 'unconditional'],
    after: ['CON-2/list-etag'],
    steps: [record(), given('list', 'GET', mine), given('deletion', 'DELETE', '{one}'), when('again', 'GET', mine)],
    expect: [isAnother, differs('again', 'list')],
    mend: tagsOfLists,
  },
]

/** The answer of a step carries the tag of another's. */
export function sameTag(step: string, other: string) {
  return altogether(`has the same ETag as ${other}`, (seen) => {
    const [tag, wanted] = [tagOf(seen, step), tagOf(seen, other)]
    return tag === wanted ? undefined : finding(seen.of(step), { field: 'ETag' }, `${tag} in place of ${wanted}`)
  })
}
