/** An interface for lists: a sort of every kind, values that may be missing, and rows that not everybody sees. */

import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'

export const shop = defineInterface({
  name: 'shop',
  limits: { pageSize: { default: 4, max: 7 } },
  resources: {
    shelves: { fields: { name: Type.String() }, access: { read: 'anyone' } },
    goods: {
      fields: {
        name: Type.Optional(Type.String({ filter: true, sort: true, search: true })),
        grade: Type.Optional(Type.Enum(['a', 'b', 'c'], { sort: true })),
        size: Type.Optional(Type.Integer({ filter: true, sort: true })),
        weight: Type.Optional(Type.Number({ sort: true })),
        fresh: Type.Optional(Type.Boolean({ sort: true })),
        due: Type.Optional(Type.String({ format: 'date-time', sort: true })),
        rank: Type.Integer({ sort: true, default: 0 }),
        shelf_id: Type.Optional(reference('shelves', { sort: true })),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      within: 'shelf_id',
      access: { read: ['role:admin', 'owner', { where: { grade: 'a' } }], create: 'anyone' },
    },
  },
})
