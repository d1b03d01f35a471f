/** Shelves that hold the sum of their books, whose states are kept, and summaries. */
import { defineInterface } from 'resourced-contract/model/inference/define-interface'

const anyone = {
  read: 'anyone',
  create: 'anyone',
  update: 'anyone',
  delete: 'anyone',
  restore: 'anyone',
  readDeleted: 'anyone',
} as const

export const shelves = defineInterface({
  name: 'shelves',
  resources: {
    shelves: {
      fields: {
        name: { type: 'string' },
        total: { type: 'decimal', precision: 12, scale: 2, sumOf: 'books.price', sort: true },
      },
      access: anyone,
    },
    books: {
      fields: {
        title: { type: 'string', search: true },
        price: { type: 'decimal', precision: 12, scale: 2 },
        data: { type: 'object', optional: true },
        state: { enum: ['new', 'used'], default: 'new' },
        shelf_id: { reference: 'shelves', onDelete: 'cascade' },
      },
      within: 'shelf_id',
      summaries: { by_state: { group: ['state', 'shelf_id'], sum: ['price'] } },
      access: { ...anyone, readHistory: 'anyone' },
      events: true,
      history: true,
    },
  },
})
