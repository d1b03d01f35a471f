/** Five collections with what people declare: references, filters, decimals, owners, rules and deletions. */
import { defineInterface } from 'resourced-contract/model/inference/define-interface'

/** The interface of a bicycle workshop. */
export const workshop = defineInterface({
  name: 'workshop',
  title: 'Bicycle workshop',
  description: 'Customers, their bicycles, and the orders to repair them.',
  resources: {
    customers: {
      description: 'People who bring bicycles.',
      fields: {
        name: {
          type: 'string',
          minLength: 1,
          maxLength: 120,
          search: true,
          sort: true,
          description: 'As on invoices.',
        },
        city: { type: 'string', maxLength: 100, optional: true },
        owner_id: { type: 'string', readOnly: true },
      },
      owner: 'owner_id',
      access: { read: 'anyone', create: 'anyone', update: ['role:staff', 'owner'], delete: 'role:staff' },
    },
    bicycles: {
      description: 'Bicycles of customers.',
      fields: {
        customer_id: { reference: 'customers', onDelete: 'cascade' },
        brand: { type: 'string', maxLength: 80, search: true, sort: true },
        kind: { enum: ['city', 'touring', 'mountain', 'road', 'cargo', 'electric'], default: 'city' },
      },
      access: { read: 'anyone', create: 'anyone', update: 'role:staff', delete: 'role:staff' },
    },
    orders: {
      description: 'Orders to repair bicycles.',
      fields: {
        number: { type: 'integer', minimum: 1, unique: true, sort: true },
        bicycle_id: { reference: 'bicycles', onDelete: 'restrict' },
        status: {
          enum: ['received', 'working', 'waiting', 'done', 'collected'],
          default: 'received',
          transitions: {
            received: ['working', 'waiting'],
            working: ['waiting', 'done'],
            waiting: ['working'],
            done: ['collected', 'working'],
            collected: [],
          },
        },
        fault: { type: 'string', minLength: 1, maxLength: 2_000, description: 'What the customer says.' },
        due_on: { type: 'string', format: 'date', optional: true, filter: true, sort: true },
      },
      within: 'bicycle_id',
      preconditions: 'required',
      deletion: { variant: 'soft', bulk: { max: 200 } },
      access: { read: 'anyone', create: 'anyone', update: 'role:staff', delete: 'role:staff' },
      rules: [
        {
          on: 'delete',
          code: 'ORDER_HAS_WORK',
          message: 'Delete the work first.',
          unless: { none: 'work-items', where: { order_id: { record: 'id' } } },
        },
      ],
    },
    parts: {
      description: 'Spare parts in stock.',
      fields: {
        sku: { type: 'string', minLength: 3, maxLength: 40, unique: true, sort: true },
        name: { type: 'string', minLength: 1, maxLength: 200, search: true, sort: true },
        category: { enum: ['brake', 'drive', 'frame', 'light', 'wheel', 'other'], default: 'other' },
        price: { type: 'decimal', precision: 10, scale: 2, filter: true, sort: true, minimum: 0 },
        stock: { type: 'integer', minimum: 0, default: 0, filter: true, sort: true },
      },
      deletion: { variant: 'hard' },
      access: { read: 'anyone', create: 'role:staff', update: 'role:staff', delete: 'role:staff' },
    },
    'work-items': {
      description: 'What was done for an order, and with which part.',
      fields: {
        order_id: { reference: 'orders', onDelete: 'cascade' },
        part_id: { reference: 'parts', onDelete: 'restrict', optional: true },
        description: { type: 'string', minLength: 1, maxLength: 1_000 },
        price: { type: 'decimal', precision: 10, scale: 2, minimum: 0 },
      },
      within: 'order_id',
      deletion: { variant: 'hard' },
      access: { read: 'anyone', create: 'role:staff', update: 'role:staff', delete: 'role:staff' },
    },
  },
})
