/** What relations of a document add to its collections, and that there is nothing without them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldLabel, type OpenApiDocument, readCatalog } from './catalog.ts'
import { relatedCatalog, relationName } from './relations.ts'

const text = { type: 'string' }
const record = (...names: string[]) => ({ properties: Object.fromEntries(names.map((name) => [name, text])) })

/** @param related whether the server includes related records */
function catalogOf(related: boolean) {
  const authors = { name: { sort: true, filter: ['eq'] }, born: { filter: ['eq', 'gte'] }, id: { filter: ['eq'] } }
  const books = { author_id: { reference: 'authors', filter: ['eq'], sort: true }, title: {} }
  const extension = (name: string, fields: object, relations: object) => ({
    ...{ path: `/${name}`, schemas: { record: name }, made: 'by-clients', fields, search: false },
    ...(related && { relations }),
  })
  const one = { author: { to: 'one', collection: 'authors', field: 'author_id' } }
  const many = { books: { to: 'many', collection: 'books', field: 'author_id' } }
  const document = {
    info: { title: 'Library', version: '1' },
    tags: [
      { name: 'authors', 'x-collection': extension('authors', authors, many) },
      { name: 'books', 'x-collection': extension('books', books, one) },
    ],
    components: {
      schemas: { authors: record('id', 'name', 'born'), books: record('id', 'title', 'author_id') },
      parameters: related ? { ApiInclude: { schema: { type: 'array', maxItems: 8 } } } : {},
    },
  }
  return readCatalog(document as unknown as OpenApiDocument)
}

test('WHR-2: lists are filtered and sorted by the records that they refer to', () => {
  const books = relatedCatalog(catalogOf(true), () => true).collections.get('books')!
  assert.deepEqual(
    books.filters.map(({ name }) => name),
    ['author_id', 'author.name', 'author.born'],
  )
  assert.equal(books.field.get('author_id')?.sortedBy, 'author.name')
  assert.equal(books.field.get('author.name')?.sort, true)
  assert.equal(fieldLabel(books.field.get('author.born')!), 'Author: Born')
  assert.equal(relationName(books, { to: 'one', collection: 'authors', field: 'author_id' }), 'author')
})

test('without permission to read them, and without relations, lists have only their own fields', () => {
  const hidden = relatedCatalog(catalogOf(true), (name) => name === 'books').collections.get('books')!
  const older = relatedCatalog(catalogOf(false), () => true)
  for (const { field, filters } of [hidden, older.collections.get('books')!]) {
    assert.deepEqual([...field.keys()], ['id', 'title', 'author_id'])
    assert.deepEqual([filters.length, field.get('author_id')?.sortedBy], [1, undefined])
  }
  assert.equal(older.includedPaths, 0)
})
