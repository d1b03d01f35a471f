/** An interface whose lists are filtered by arrays, and by members of objects. */
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import * as Type from 'resourced-contract/model/type'

/** Goods in two versions: the older one has other names of the collection and of the object. */
export const market = defineInterface({
  name: 'market',
  resources: {
    goods: {
      fields: {
        title: Type.String({ search: true, sort: true }),
        labels: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }), { filter: true })),
        sizes: Type.Optional(Type.Array(Type.Number(), { filter: true })),
        flags: Type.Optional(Type.Array(Type.Boolean(), { filter: true })),
        kinds: Type.Optional(Type.Array(Type.Enum(['new', 'old']), { filter: true })),
        attributes: Type.Optional(
          Type.Object(
            {
              size: Type.Optional(Type.Integer()),
              ok: Type.Optional(Type.Boolean()),
              made_at: Type.Optional(Type.String({ format: 'date-time' })),
              color: Type.Optional(Type.Object({ name: Type.Optional(Type.String()), shade: Type.Integer() })),
              state: Type.Optional(Type.Enum(['raw', 'done'])),
            },
            { filter: ['/size', '/ok', '/made_at', '/color/name', '/state'] },
          ),
        ),
        notes: Type.Optional(Type.Array(Type.String(), { filter: true })),
      },
      access: {
        read: ['role:admin', { where: { labels: { has: 'open' } } }, { where: { attributes: { state: 'done' } } }],
        create: 'anyone',
        update: ['role:admin', { where: { labels: { hasAll: ['open', 'mine'] } } }],
        delete: ['role:admin', { where: { attributes: { size: { lt: 10 } } } }],
        fields: {
          notes: { read: { where: { labels: { has: 'public' } } } },
          attributes: { read: ['role:admin', { where: { labels: { hasAny: ['open', 'public'] } } }] },
        },
      },
      deletion: { byFilter: true },
      events: true,
      rules: [
        {
          on: ['create', 'update'],
          code: 'TOO_LARGE_FOR_A_LETTER',
          message: 'A letter cannot be larger than 100.',
          when: { labels: { has: 'letter' } },
          unless: { where: { attributes: { size: { lte: 100 } } } },
        },
        {
          on: 'create',
          code: 'LABEL_RESERVED',
          message: 'Another record reserves the label.',
          when: { labels: { has: 'reserved' } },
          unless: { none: 'goods', where: { labels: { has: 'reserver' } } },
        },
      ],
    },
  },
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'goods', was: 'articles', rename: { props: 'attributes', tags: 'labels' } }],
})
