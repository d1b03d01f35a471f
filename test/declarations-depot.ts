/** A depot: unique values of several types, sequences, a rule about other records, and owners. */
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

export const depot: InterfaceDeclaration = {
  name: 'depot',
  resources: {
    shelves: { fields: { name: { type: 'string', unique: true } }, access: anyone },
    items: {
      fields: {
        sku: { type: 'string', minLength: 2, unique: true, search: true, filter: true },
        title: { type: 'string', minLength: 1 },
        slot: { type: 'integer', unique: true, optional: true },
        price: { type: 'decimal', precision: 10, scale: 2, unique: true, optional: true },
        count: { type: 'integer', default: 0 },
        number: { type: 'integer', sequence: {} },
        shelf_id: { reference: 'shelves', optional: true },
        pin: { type: 'string', optional: true, writeOnly: true, unique: true },
      },
      within: 'shelf_id',
      unique: [['shelf_id', 'title']],
      events: true,
      access: anyone,
    },
    bookings: {
      fields: {
        room: { type: 'string' },
        day: { type: 'string', format: 'date' },
        kept: { type: 'boolean', default: true },
      },
      access: anyone,
      rules: [
        {
          on: ['create', 'update'],
          code: 'ROOM_TAKEN',
          message: 'The room is taken on this day.',
          when: { kept: true },
          unless: {
            none: 'bookings',
            where: { room: { record: 'room' }, day: { record: 'day' }, kept: true, id: { not: { record: 'id' } } },
          },
        },
      ],
    },
    notes: {
      fields: {
        code: { type: 'string', unique: true },
        text: { type: 'string' },
        author: { type: 'string', readOnly: true },
      },
      owner: 'author',
      access: { read: 'owner', create: 'anyone', update: ['owner', 'role:editor'], delete: 'anyone' },
    },
    rates: {
      fields: { code: { type: 'string', unique: true }, value: { type: 'integer' } },
      preconditions: 'required',
      access: anyone,
    },
    marks: { fields: { name: { type: 'string' } }, access: { read: 'anyone', create: 'anyone' } },
  },
  limits: { bulk: 50 },
}
