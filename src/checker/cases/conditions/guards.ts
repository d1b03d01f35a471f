/** CON-3: a write whose condition does not fit changes nothing. */
import type { Case, Expectation, Need, Request, Step } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { done, sameBody, status } from '../../case/expect.ts'
import { after, change, deletion, empty, one, seen } from '../../case/names.ts'
import { references } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'

const [writeStep, unreadable, now, staleStep] = references('write', 'unreadable', 'now', 'stale')

/** A write that can be guarded. */
interface Write {
  readonly method: 'DELETE' | 'PUT' | 'PATCH'
  readonly needs: readonly Need[]
  readonly sends?: Request['body']
  /** The specification speaks of DELETE alone. */
  readonly level?: 'should'
}

const writes: readonly Write[] = [
  { method: 'DELETE', needs: ['create', 'read', 'delete'] },
  { method: 'PUT', needs: ['create', 'read', 'replace'], sends: body.example, level: 'should' },
  { method: 'PATCH', needs: ['create', 'read', 'update', 'change'], sends: body.change, level: 'should' },
]

/** Long ago, in all likelihood. */
export const longAgo = 'Sat, 01 Jan 2000 00:00:00 GMT'

const compare =
  'Compare If-Match with the entity tag that the record has now, in the transaction that writes, and answer 412 where they differ.'
const whole =
  'Read If-Match as RFC 9110 section 13.1.1 says: * for any state, or a list of quoted entity tags with commas between them.'
const never =
  'Answer 400 where If-Match is there and cannot be read: whoever sends it wants a guard, and a write without one may lose what others wrote.'
const dates = 'Compare If-Unmodified-Since with the Last-Modified that the record has now, where there is no If-Match.'

function casesOf({ method, needs, sends, level }: Write): Case[] {
  const name = method.toLowerCase()
  const id = (what: string): Case['id'] => `CON-3/${what}-${name}`
  const common = { kind: 'changing' as const, needs, ...(level === undefined ? {} : { level }) }
  const write = (headers: Record<string, string>): Step =>
    writeStep.send(method, one, { headers, ...(sends === undefined ? {} : { body: sends }) })
  const guarded = (headers: Record<string, string>): Step[] => [
    create(one),
    setUp(seen.get(one)),
    write(headers),
    after.get(one),
  ]
  const isDone: Expectation[] = [done(writeStep)]
  const isRefused = (...statuses: number[]): Expectation[] => [
    status(writeStep, ...statuses),
    status(after, 200),
    sameBody(after, seen),
  ]
  const cases: Omit<Case, 'kind' | 'needs'>[] = [
    {
      id: id('fits'),
      title: `${method} with the entity tag that the record has is carried out`,
      after: ['CON-2/etag-stays'],
      steps: guarded({ 'If-Match': seen.etag }),
      ...{ expect: isDone, remedy: compare },
    },
    {
      id: id('other'),
      title: `${method} with an entity tag that the record never had is refused, and changes nothing`,
      after: ['CON-2/etag-stays'],
      steps: guarded({ 'If-Match': '"of-another"' }),
      ...{ expect: isRefused(412), remedy: compare },
    },
    {
      id: id('list-with'),
      title: `${method} with a list of entity tags that holds the record’s is carried out`,
      after: [id('fits'), id('other')],
      steps: guarded({ 'If-Match': `"of-another", ${seen.etag}` }),
      ...{ expect: isDone, remedy: whole },
    },
    {
      id: id('list-without'),
      title: `${method} with a list of entity tags that lacks the record’s is refused`,
      after: [id('other')],
      steps: guarded({ 'If-Match': '"of-another", "of-a-third"' }),
      ...{ expect: isRefused(412), remedy: whole },
    },
    {
      id: id('star'),
      title: `${method} with If-Match: * is carried out where the record is there`,
      after: [id('other')],
      steps: guarded({ 'If-Match': '*' }),
      ...{ expect: isDone, remedy: whole },
    },
    {
      id: id('weak'),
      title: `${method} with the record’s entity tag as a weak one is refused: If-Match compares strongly`,
      after: [id('other')],
      steps: guarded({ 'If-Match': `W/${seen.etag}` }),
      ...{ expect: isRefused(412), remedy: 'Compare strongly: a tag with W/ before it never fits If-Match.' },
    },
    {
      id: id('unreadable'),
      title: `${method} with an If-Match that cannot be read is not taken for one without`,
      after: [id('other')],
      ...{ level: 'should', steps: guarded({ 'If-Match': 'not-quoted' }), expect: isRefused(400, 412), remedy: never },
    },
    {
      id: id('empty'),
      title: `${method} with an If-Match that is empty is not taken for one without`,
      after: [id('other')],
      ...{ level: 'should', steps: guarded({ 'If-Match': '' }), expect: isRefused(400, 412), remedy: never },
    },
    {
      id: id('malformed'),
      title: `${method} with an If-Match that is empty or cannot be read is a bad request`,
      after: [id('unreadable'), id('empty')],
      level: 'should',
      steps: [
        create(one),
        unreadable.send(method, one, { headers: { 'If-Match': 'not-quoted' }, ...(sends ? { body: sends } : {}) }),
        empty.send(method, one, { headers: { 'If-Match': '' }, ...(sends ? { body: sends } : {}) }),
      ],
      ...{ expect: [status(unreadable, 400), status(empty, 400)], remedy: never },
    },
    {
      id: id('later-date'),
      title: `${method} of what was changed after If-Unmodified-Since is refused, and changes nothing`,
      after: ['CON-2/last-modified'],
      level: 'should',
      steps: guarded({ 'If-Unmodified-Since': longAgo }),
      ...{ expect: isRefused(412), remedy: dates },
    },
    {
      id: id('same-date'),
      title: `${method} with If-Unmodified-Since is carried out where the record has that date`,
      after: [id('later-date')],
      level: 'should',
      steps: guarded({ 'If-Unmodified-Since': seen.field('Last-Modified') }),
      ...{ expect: isDone, remedy: dates },
    },
    {
      id: id('tag-before-date'),
      title: `${method} goes by If-Match alone where If-Unmodified-Since is there too`,
      after: [id('fits'), id('other'), id('later-date')],
      level: 'should',
      steps: guarded({ 'If-Match': seen.etag, 'If-Unmodified-Since': longAgo }),
      ...{
        expect: isDone,
        remedy: 'Do not look at If-Unmodified-Since where there is an If-Match (RFC 9110 section 13.2.2).',
      },
    },
  ]
  return cases.map((each) => ({ ...common, ...each }))
}

/** A tag that was good once: what lost updates are made of. */
const stale = ({ method, needs, sends, level }: Write): Case => {
  const name = method.toLowerCase()
  return {
    id: `CON-3/stale-${name}`,
    title: `${method} with an entity tag that is out of date is refused, and the record stays as it is`,
    kind: 'changing',
    needs: [...new Set<Need>([...needs, 'update', 'change'])],
    after: [...new Set<Case['id']>(['CON-3/fits-patch', `CON-3/other-${name}`])],
    ...(level === undefined ? {} : { level }),
    steps: [
      create(one),
      setUp(seen.get(one)),
      setUp(change.patch(one, body.change, { headers: { 'If-Match': seen.etag } })),
      setUp(now.get(one)),
      staleStep.send(method, one, { headers: { 'If-Match': seen.etag }, ...(sends ? { body: sends } : {}) }),
      after.get(one),
    ],
    expect: [status(staleStep, 412), status(after, 200), sameBody(after, now)],
    remedy: compare,
  }
}

const restored = (headers: Record<string, string>): Step[] => [
  create(one),
  setUp(seen.get(one)),
  setUp(deletion.delete(one, { headers: { 'If-Match': seen.etag } })),
  writeStep.post(`${one}/restore`, undefined, { headers }),
  after.get(one),
]

const restoring = {
  kind: 'changing' as const,
  needs: ['create', 'read', 'delete', 'restore'] as const,
  level: 'should' as const,
}

const restorations: readonly Case[] = define({
  'CON-3/other-restore': {
    title: 'A restoration with an entity tag that the record never had is refused, and it stays deleted',
    ...restoring,
    after: ['CON-3/fits-delete'],
    steps: restored({ 'If-Match': '"of-another"' }),
    expect: [status(writeStep, 412), status(after, 404)],
    remedy: compare,
  },
  'CON-3/star-restore': {
    title: 'A restoration with If-Match: * is carried out',
    ...restoring,
    after: ['CON-3/other-restore'],
    steps: restored({ 'If-Match': '*' }),
    expect: [done(writeStep), status(after, 200)],
    remedy: whole,
  },
  'CON-3/unreadable-restore': {
    title: 'A restoration with an If-Match that cannot be read is not taken for one without',
    ...restoring,
    after: ['CON-3/other-restore'],
    steps: restored({ 'If-Match': 'not-quoted' }),
    expect: [status(writeStep, 400, 412), status(after, 404)],
    remedy: never,
  },
  'CON-3/empty-restore': {
    title: 'A restoration with an If-Match that is empty is not taken for one without',
    ...restoring,
    after: ['CON-3/other-restore'],
    steps: restored({ 'If-Match': '' }),
    expect: [status(writeStep, 400, 412), status(after, 404)],
    remedy: never,
  },
})

export const guards: readonly Case[] = [...writes.flatMap(casesOf), ...writes.map(stale), ...restorations]
