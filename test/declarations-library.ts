/** An interface for queries: a filter of every kind. */

import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'

export const library = defineInterface({
  name: 'library',
  resources: {
    authors: {
      fields: { name: Type.String({ sort: true, search: true }) },
      access: { read: 'anyone', readDeleted: 'role:admin' },
    },
    books: {
      fields: {
        title: Type.String({ filter: true, sort: true, search: true }),
        kind: Type.Enum(['novel', 'poetry', 'drama'], { default: 'novel', sort: true }),
        year: Type.Optional(Type.Integer({ filter: true, sort: true })),
        price: Type.Optional(Type.Number({ filter: true, sort: true })),
        printed: Type.Optional(Type.Boolean({ sort: true })),
        acquired: Type.Optional(Type.String({ format: 'date', filter: true, sort: true })),
        released: Type.Optional(Type.String({ format: 'date-time', filter: true, sort: true })),
        author_id: Type.Optional(reference('authors')),
        summary: Type.Optional(Type.String({ search: true })),
        shelf: Type.Optional(Type.String()),
        tags: Type.Optional(Type.Array(Type.String())),
        pin: Type.Optional(Type.String({ writeOnly: true })),
      },
      within: 'author_id',
      access: { read: 'anyone', readDeleted: 'role:admin' },
    },
    notes: { fields: { text: Type.String() }, access: { read: 'anyone' } },
  },
})
