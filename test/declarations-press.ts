/** An interface for related records: hidden records, fields and collections, deletion, and two versions. */
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'

const everybody = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const

export const press = defineInterface({
  name: 'press',
  resources: {
    authors: {
      fields: {
        name: Type.String({ sort: true }),
        hidden: Type.Boolean({ default: false, filter: true }),
        rating: Type.Optional(Type.Integer({ sort: true, filter: true })),
      },
      access: {
        ...everybody,
        ...{ read: [{ where: { hidden: false } }, 'role:admin'], readDeleted: 'role:editor' },
        fields: { rating: { read: 'role:editor' } },
      },
    },
    books: {
      fields: {
        title: Type.String({ sort: true, filter: true }),
        kind: Type.Enum(['novel', 'poetry'], { default: 'novel' }),
        price: Type.Optional(Type.Integer({ sort: true })),
        author_id: Type.Optional(reference('authors', { onDelete: 'clear' })),
        source_id: Type.Optional({ ...reference('authors', { onDelete: 'clear' }), inverse: 'sourced' }),
        editor_id: Type.Optional({
          ...reference('authors', { onDelete: 'clear' }),
          ...{ as: 'responsible', inverse: 'edited', filter: false },
        }),
      },
      within: 'author_id',
      access: { ...everybody, readDeleted: 'role:admin', fields: { source_id: { read: 'role:editor' } } },
    },
    notes: {
      fields: { text: Type.String(), writer: Type.String(), book_id: reference('books', { onDelete: 'cascade' }) },
      owner: 'writer',
      within: 'book_id',
      access: { ...everybody, read: ['owner', 'role:admin'] },
    },
    salaries: {
      fields: { amount: Type.Integer(), author_id: reference('authors', { onDelete: 'cascade' }) },
      access: { read: 'role:admin' },
    },
  },
  versions: { v1: {}, v2: {} },
  changes: [
    {
      version: 'v2',
      resource: 'books',
      was: 'works',
      rename: { heading: 'title', penned_by: 'author_id' },
      convert: {
        kind: {
          schema: { type: 'string', enum: ['NOVEL', 'POETRY'], default: 'NOVEL' },
          older: (value: string) => value.toUpperCase(),
          newer: (value: string) => value.toLowerCase(),
        },
      },
    },
    { version: 'v2', resource: 'authors', rename: { label: 'name' } },
    { version: 'v2', resource: 'notes', collection: 'added' },
  ],
})
