/** The types of related records, conditions and summaries, inferred from a declaration (REL-1, WHR-2, SUM-1). */
import { expectTypeOf } from 'expect-type'
import { defineInterface, type Infer, reference, Type } from 'resourced'
import { createClient, type RelatedList, type UntypedCollection, type Where } from '../../packages/client/src/index.ts'
import type { InterfaceTypes, TypesOf } from '../../packages/client/src/interface-types.ts'

const library = defineInterface({
  name: 'library',
  resources: {
    authors: {
      fields: {
        name: Type.String({ sort: true, filter: true }),
        born: Type.Optional(Type.Integer({ filter: true, sort: true })),
        // The relation from the other side gives way to the field.
        drafts: Type.Optional(Type.Array(Type.String())),
      },
    },
    books: {
      fields: {
        title: Type.String({ sort: true, search: true }),
        status: Type.Enum(['open', 'lent'], { default: 'open' }),
        price: Type.Decimal({ precision: 9, scale: 2, filter: true }),
        pages: { type: 'integer', optional: true },
        printed_on: Type.Optional(Type.String({ format: 'date', filter: true })),
        secret: Type.Optional(Type.Enum(['x'], { writeOnly: true })),
        author_id: Type.Optional(reference('authors')),
        reviewer: reference('authors', { as: 'critic', inverse: 'reviewed_books' }),
      },
    },
    'line-items': { fields: { book: reference('books'), text: { type: 'string' } }, within: 'book' },
    drafts: { fields: { author_id: { reference: 'authors' }, not_id: { reference: 'books' } } },
    // Two references without a name lead nowhere from the other side, and a secret one from neither.
    letters: {
      fields: {
        from_id: { reference: 'authors' },
        to_id: { reference: 'authors' },
        hidden_id: { reference: 'books', writeOnly: true, optional: true },
      },
    },
  },
})

type Library = TypesOf<typeof library>
type Author = Infer<typeof library, 'authors'>
type Book = Infer<typeof library, 'books'>
type Item = Infer<typeof library, 'line-items'>
/** The properties of a type that is made of several parts. */
type Properties<T> = { readonly [Name in keyof T]: T[Name] }

expectTypeOf<Library>().toExtend<InterfaceTypes>()
expectTypeOf<Library['books']['relations']>().toEqualTypeOf<{
  readonly critic: { readonly to: 'one'; readonly collection: 'authors' }
  readonly author: { readonly to: 'one'; readonly collection: 'authors' }
  readonly line_items: { readonly to: 'many'; readonly collection: 'line-items' }
  readonly drafts: { readonly to: 'many'; readonly collection: 'drafts' }
}>()
expectTypeOf<Library['authors']['relations']>().toEqualTypeOf<{
  readonly reviewed_books: { readonly to: 'many'; readonly collection: 'books' }
  readonly books: { readonly to: 'many'; readonly collection: 'books' }
}>()
// A reference without `_id` gives its relation its own name; `not` is a word of conditions.
expectTypeOf<keyof Library['line-items']['relations']>().toEqualTypeOf<'book'>()
expectTypeOf<keyof Library['drafts']['relations']>().toEqualTypeOf<'author'>()
expectTypeOf<keyof Library['letters']['relations']>().toEqualTypeOf<'from' | 'to'>()

const client = createClient<typeof library>({ url: 'http://localhost/v1' })

const [book] = (await client.books.list({ include: ['author', 'critic.books', 'line_items'], limit: 3 })).data
type Included = NonNullable<typeof book>
expectTypeOf<Included['title']>().toEqualTypeOf<string>()
expectTypeOf<Included['author']>().toEqualTypeOf<Author | null>()
expectTypeOf<Included['line_items']>().toEqualTypeOf<RelatedList<Item>>()
expectTypeOf<Included['line_items']['total']>().toEqualTypeOf<number>()
expectTypeOf<Included['line_items']['next']>().toEqualTypeOf<string | null>()
expectTypeOf<NonNullable<Included['critic']>['name']>().toEqualTypeOf<string>()
expectTypeOf<NonNullable<Included['critic']>['books']>().toEqualTypeOf<RelatedList<Book>>()
expectTypeOf<Included>().not.toHaveProperty('drafts')

// A relation of the name of its field takes its place.
const item = await client['line-items'].get('id', { include: 'book.author' })
expectTypeOf<Properties<typeof item>['book']>().not.toEqualTypeOf<string>()
expectTypeOf<NonNullable<NonNullable<(typeof item)['book']>['author']>>().toEqualTypeOf<Author>()
for await (const { books } of client.authors.all({
  include: ['books'],
  fields: ['name'],
  'include[books][limit]': 3,
})) {
  for await (const each of books.all()) expectTypeOf(each).toEqualTypeOf<Book>()
}
const [nested] = ((await client.books.within('id')['line-items' as never]) as never as { data: Item[] }).data
expectTypeOf(nested).toEqualTypeOf<Item | undefined>()

// @ts-expect-error: there is no such relation.
client.books.list({ include: 'autor' })
// @ts-expect-error: two steps at most.
client.books.list({ include: 'author.books.author' })

const where: Where<Library['books'], Library> = {
  or: [
    { status: 'open', price: { gte: 3, not: '4.00' } },
    { author: { born: { gte: 1920, in: [1920, 1921] }, name: { startsWith: 'A' } } },
    { drafts: { none: { author: { name: 'B' } } } },
    { not: { printed_on: { null: true } }, id: { in: ['x'] }, author_id: { caller: 'id' } },
  ],
}
client.books.list({ where, 'author.born[gte]': 1920, 'drafts.author.name': 'B', sort: ['-author.name', 'title'] })
// @ts-expect-error: the value does not fit.
client.books.list({ where: { author: { born: { gte: 'x' } } } })
// @ts-expect-error: a relation to many takes some, none or every.
client.books.list({ where: { drafts: { author_id: 'x' } } })
// @ts-expect-error: pages is no filter.
client.books.list({ where: { pages: 3 } })
// @ts-expect-error: authors have no such filter.
client.books.list({ 'author.bron[gte]': 1920 })

const { data: rows } = await client.books.summary({
  group: ['status', 'author_id', 'printed_on:month', 'created_at:week'],
  sum: 'price',
  avg: ['pages', 'price'],
  max: 'printed_on',
  sort: ['-sum.price', 'status'],
  where,
  'author.name': 'A',
})
expectTypeOf<Properties<(typeof rows)[number]>>().toEqualTypeOf<{
  readonly group: {
    status: 'open' | 'lent'
    author_id: string | null
    'printed_on:month': string | null
    'created_at:week': string
  }
  readonly count: number
  readonly sum: { readonly price: string | null }
  readonly avg: { readonly pages: string | null; readonly price: string | null }
  readonly max: { readonly printed_on: string | null }
}>()
expectTypeOf<Properties<Awaited<ReturnType<typeof client.drafts.summary<never>>>['data'][number]>>().toHaveProperty(
  'count',
)
// @ts-expect-error: only whole numbers and decimals have sums.
client.books.summary({ sum: 'title' })
// @ts-expect-error: no record shows the field.
client.books.summary({ group: 'secret' })

// Without types, any names.
const untyped = createClient({ url: 'http://localhost/v1' })
const any = await untyped['books']!.list({ include: ['a', 'b.c'], where: { a: { b: 1 } }, 'a.b[gt]': 3, sort: 'a.b' })
expectTypeOf(any.data).toEqualTypeOf<readonly UntypedCollection['record'][]>()
const figures = await untyped['books']!.summary({ group: 'a', sum: ['b'] })
expectTypeOf(figures.data[0]!.group.a).toEqualTypeOf<string | boolean | null>()

const made = await client.transaction((t) => {
  const author = t.authors.create({ name: 'A' })
  const book = t.books.create({ title: author.name, price: 1, author_id: author.id, reviewer: author.id })
  // @ts-expect-error: the number of a year is no title.
  t.books.create({ title: author.born, price: 1, reviewer: author.id })
  // @ts-expect-error: authors have no such field.
  t.authors.update(author, { nam: 'B' })
  const item = t.books.within(book)['line-items'].create({ text: book.title })
  return { author, items: [item], count: 1 }
})
expectTypeOf(made.author).toEqualTypeOf<Author>()
expectTypeOf(made.items).toEqualTypeOf<readonly Item[]>()
expectTypeOf(made.count).toEqualTypeOf<number>()
