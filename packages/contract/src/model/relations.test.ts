import assert from 'node:assert/strict'
import { test } from 'node:test'
import { completeCatalog } from './catalog.ts'
import type { FieldDeclaration, InterfaceDeclaration } from './declaration.ts'
import { relationsOf } from './relations.ts'

/** The relations of each collection, in words. */
function relations(resources: Readonly<Record<string, Readonly<Record<string, FieldDeclaration>>>>) {
  const declared = Object.entries(resources).map(([name, fields]) => [name, { fields }])
  const catalog = completeCatalog({ name: 'shop', resources: Object.fromEntries(declared) } as InterfaceDeclaration)
  return Object.fromEntries(
    [...catalog.resources.values()].map((resource) => [
      resource.name,
      [...relationsOf(catalog, resource).values()].map(
        ({ name, to, collection, field }) => `${name}: ${to} of ${collection} by ${field}`,
      ),
    ]),
  )
}

const text = { type: 'string' } as const

test('REL-1: a reference makes a relation in each direction', () => {
  const found = relations({
    people: { name: text },
    'line-items': {
      author_id: { reference: 'people' },
      owner: { reference: 'people', as: 'holder', inverse: 'owned' },
    },
  })
  assert.deepEqual(found, {
    people: ['owned: many of line-items by owner', 'line_items: many of line-items by author_id'],
    'line-items': ['holder: one of people by owner', 'author: one of people by author_id'],
  })
})

test('REL-1: of two references without a name neither leads back, and a name that is taken is no relation', () => {
  const found = relations({
    people: { books: text, drafts: text },
    books: { author_id: { reference: 'people' }, editor_id: { reference: 'people' } },
    drafts: {
      writer: { reference: 'people' },
      writer_id: { reference: 'people', inverse: 'sketches' },
      not_id: { reference: 'books' },
    },
  })
  assert.deepEqual(found, {
    people: ['sketches: many of drafts by writer_id'],
    books: [
      'author: one of people by author_id',
      'editor: one of people by editor_id',
      'drafts: many of drafts by not_id',
    ],
    drafts: ['writer: one of people by writer'],
  })
})

test('REL-1: a collection that refers to itself', () => {
  assert.deepEqual(relations({ nodes: { parent_id: { reference: 'nodes', optional: true } } }), {
    nodes: ['parent: one of nodes by parent_id', 'nodes: many of nodes by parent_id'],
  })
})

test('REL-1: a field that no one may read makes no relation', () => {
  const found = relations({ people: { name: text }, books: { author_id: { reference: 'people', writeOnly: true } } })
  assert.deepEqual(found, { people: [], books: [] })
})
