/**
 * REL-4 with random rules, records, callers and paths. Lists and records of the same caller say what a response may
 * include: each is decided by itself, and other tests compare them with the rules. `RELATED_RUNS=100` tries more.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { AccessRule, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { type Trial, trial } from '../harness.ts'

// biome-ignore lint/suspicious/noExplicitAny: records of every collection
type Json = any

const names = ['authors', 'books', 'notes'] as const
type Name = (typeof names)[number]

const relations = {
  authors: { books: 'books', edited: 'books', notes: 'notes' },
  books: { author: 'authors', editor: 'authors', notes: 'notes' },
  notes: { book: 'books', author: 'authors' },
} as const

/** The references by the relations that they make: to one by their own collection, to many by the other. */
const fieldOf: Readonly<Record<string, string>> = { author: 'author_id', editor: 'editor_id', book: 'book_id' }
const backOf: Readonly<Record<string, string>> = {
  ...{ 'authors.books': 'author_id', 'authors.edited': 'editor_id', 'authors.notes': 'author_id' },
  'books.notes': 'book_id',
}

const readers = ['ann', 'eve', 'root'] as const
const owned = fc.constantFrom<AccessRule>('anyone', 'role:editor', 'owner', { where: { hidden: false } })
const rules = fc.array(owned, { minLength: 1, maxLength: 2 })
const through = fc.option(fc.constantFrom<AccessRule>({ through: 'author_id', action: 'read' }), { nil: undefined })

interface World {
  readonly read: Readonly<Record<Name, readonly AccessRule[]>>
  readonly readDeleted: Readonly<Record<Name, AccessRule>>
  readonly fields: Readonly<Record<'author_id' | 'editor_id' | 'book_id' | 'hidden', AccessRule | undefined>>
  readonly records: readonly { owner: string; hidden: boolean; of: number; by: number; isDeleted: boolean }[]
}

const option = fc.option(owned, { nil: undefined })
const worlds: fc.Arbitrary<World> = fc.record({
  read: fc.record({
    authors: rules,
    books: fc.tuple(rules, through).map(([own, more]) => (more === undefined ? own : [more])),
    notes: rules,
  }),
  readDeleted: fc.record({ authors: owned, books: owned, notes: owned }),
  fields: fc.record({ author_id: option, editor_id: option, book_id: option, hidden: option }),
  records: fc.array(
    fc.record({
      owner: fc.constantFrom('ann', 'eve'),
      hidden: fc.boolean(),
      of: fc.nat(50),
      by: fc.nat(50),
      isDeleted: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
    }),
    { minLength: 8, maxLength: 24 },
  ),
})

function declarationOf({ read, readDeleted, fields }: World): InterfaceDeclaration {
  const reference = (collection: string, more: object = {}) => ({
    ...{ reference: collection, optional: true, onDelete: 'clear' as const, requires: 'none' as const },
    ...more,
  })
  const own = { who: { type: 'string' }, hidden: { type: 'boolean', default: false } } as const
  const resourceOf = (name: Name, references: object) => {
    const restricted = Object.entries(fields).filter(([field]) => field in references || field in own)
    const access = restricted.flatMap(([field, rule]) => (rule === undefined ? [] : [[field, { read: rule }]]))
    return {
      fields: { ...own, ...references },
      owner: 'who',
      access: { read: read[name], readDeleted: readDeleted[name], fields: Object.fromEntries(access) },
    }
  }
  return {
    name: 'random',
    resources: {
      authors: resourceOf('authors', {}),
      books: resourceOf('books', {
        author_id: reference('authors'),
        editor_id: reference('authors', { inverse: 'edited' }),
      }),
      notes: resourceOf('notes', { book_id: reference('books'), author_id: reference('authors') }),
    },
  } as unknown as InterfaceDeclaration
}

async function fill({ make, send }: Trial, { records }: World): Promise<void> {
  const made: Record<Name, string[]> = { authors: [], books: [], notes: [] }
  const deleted: string[] = []
  for (const [index, { owner, hidden, of, by, isDeleted }] of records.entries()) {
    const name = names[index % 3] as Name
    const author = made.authors[of % Math.max(1, made.authors.length)] ?? null
    const references = {
      authors: {},
      books: { author_id: author, editor_id: made.authors[by % Math.max(1, made.authors.length)] ?? null },
      notes: { book_id: made.books[by % Math.max(1, made.books.length)] ?? null, author_id: author },
    }
    const { id } = await make(name, { who: owner, hidden, ...references[name] })
    made[name].push(id)
    if (isDeleted) deleted.push(`/v1/${name}/${id}`)
  }
  for (const path of deleted) assert.equal((await send({ method: 'DELETE', path })).status, 204)
}

/** The records of a collection that a caller may read, by id; with deleted ones where they may read those too. */
async function readable({ send }: Trial, collection: string, as: string, bin: boolean): Promise<Map<string, Json>> {
  const list = async (more: string) => (await send({ path: `/v1/${collection}?limit=100${more}`, as })).json
  const all = bin ? ((await list('&include_deleted=true')).data ?? (await list('')).data) : (await list('')).data
  return new Map((all ?? []).map((record: Json) => [record.id, record]))
}

async function compare(current: Trial, name: Name, path: string, as: string, bin: boolean): Promise<void> {
  const { send } = current
  const answer = await send({ path: `/v1/${name}?limit=100&include=${path}${bin ? '&include_deleted=true' : ''}`, as })
  // Who may read nothing of the collection, or no deleted ones, is refused as without related records.
  if (answer.status === 403) return
  assert.equal(answer.status, 200, answer.text)
  const { data, included, related } = answer.json
  const expected = new Map<string, Map<string, Json>>()
  let [collection, records]: [string, Json[]] = [name, data]
  const steps = path.split('.')
  for (const [index, step] of steps.entries()) {
    const target = (relations as Json)[collection][step] as string
    const all = await readable(current, target, as, bin)
    const field = fieldOf[step]
    const back = String(backOf[`${collection}.${step}`])
    const reached = (record: Json) =>
      field === undefined ? [...all.values()].filter((each) => each[back] === record.id) : [all.get(record[field])]
    const found = records.map((record) => reached(record).filter((each) => each !== undefined))
    if (field === undefined) {
      const own = related[steps.slice(0, index + 1).join('.')]
      assert.deepEqual(Object.keys(own).sort(), records.map(({ id }) => id).sort())
      for (const [place, { id }] of records.entries()) {
        const ids = (found[place] as Json[]).map((each) => each.id)
        assert.deepEqual([own[id].ids, own[id].total_count, own[id].next], [ids, ids.length, null])
      }
    }
    const next = expected.get(target) ?? new Map<string, Json>()
    for (const record of found.flat()) next.set(record.id, record)
    expected.set(target, next)
    records = [...new Map(found.flat().map((record: Json) => [record.id, record])).values()]
    collection = target
  }
  const plain = [...expected].map(([target, all]) => [target, Object.fromEntries(all)] as const)
  assert.deepEqual(included, Object.fromEntries(plain.filter(([, all]) => Object.keys(all).length > 0)), path)
}

const paths = names.flatMap((name) =>
  Object.entries(relations[name]).flatMap(([step, target]): (readonly [Name, string])[] => [
    [name, step],
    ...Object.keys(relations[target]).map((next) => [name, `${step}.${next}`] as const),
  ]),
)

it('REL-4: related records are those that lists and records of the same caller have', async () => {
  await fc.assert(
    fc.asyncProperty(worlds, async (world) => {
      const current = await trial(declarationOf(world), { memory: true })
      try {
        await fill(current, world)
        for (const as of readers)
          for (const [name, path] of paths) for (const bin of [false, true]) await compare(current, name, path, as, bin)
      } finally {
        await current.close()
      }
    }),
    { numRuns: Number(process.env['RELATED_RUNS'] ?? 2), endOnFailure: true },
  )
})
