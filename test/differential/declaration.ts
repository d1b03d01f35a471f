/** Interfaces that have something of everything, each a little different: what differs comes from a seed. */

import type {
  AccessRule,
  DeletionDeclaration,
  InterfaceDeclaration,
  ResourceDeclaration,
} from 'resourced-contract/model/declaration'
import { reference } from 'resourced-contract/model/type'
import { Type } from '../../packages/server/src/index.ts'
import { pick, type Random } from '../durability/random.ts'

const { Optional, Decimal, String: Text, Integer, Number: Real, Boolean: Flag } = Type

const everyone: ResourceDeclaration['access'] = {
  ...{ read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' },
  readDeleted: 'anyone',
}

/** An interface with every type of field, rule, reference and deletion, in two versions. */
export function menagerie(random: Random): InterfaceDeclaration {
  const deletion = (more: DeletionDeclaration = {}): DeletionDeclaration => ({
    variant: pick(random, ['soft', 'soft', 'hard'] as const),
    answer: pick(random, ['empty', 'summary'] as const),
    repeated: pick(random, ['not-found', 'no-content'] as const),
    asynchronous: pick(random, ['never', 'never', 'always', { above: 2 }] as const),
    byFilter: random() < 0.7,
    ...more,
  })
  const onDelete = () => pick(random, ['cascade', 'clear', 'restrict'] as const)
  const read: AccessRule[] = [
    'role:admin',
    'owner',
    { through: 'den_id', action: 'read' },
    { where: { or: [{ stage: 'open' }, { count: { gt: 10 } }, { not: { name: { contains: 'É' } } }] } },
  ]
  return {
    name: 'menagerie',
    versions: { v1: {}, v2: {} },
    versionCarriers: ['path'],
    resources: {
      dens: {
        fields: {
          name: Text({ search: true, sort: true, filter: true, unique: true, minLength: 1 }),
          public: Flag({ default: false }),
          upper_id: Optional(reference('dens', { onDelete: pick(random, ['cascade', 'clear']) })),
          owner_id: Text({ readOnly: true }),
        },
        owner: 'owner_id',
        deletion: deletion(),
        access: {
          ...everyone,
          read: ['role:admin', 'owner', { where: { public: true } }, { where: { name: { startsWith: 'a' } } }],
          update: ['role:admin', 'owner', { where: { public: true } }],
        },
        rules: [
          {
            on: ['delete', 'update'],
            code: 'DEN_IN_USE',
            message: 'Something heavy is in it.',
            unless: { none: 'beasts', where: { den_id: { record: 'id' }, weight: { gt: 1e20 } } },
          },
        ],
      },
      beasts: {
        fields: {
          title: Text({ filter: true, sort: true, search: true, maxLength: 9_000 }),
          note: Optional(Text({ search: true, filter: true })),
          word: Optional(Text({ sort: true })),
          code: Optional(Text({ unique: true, filter: true })),
          count: Optional(Integer({ filter: true, sort: true })),
          ratio: Optional(Real({ filter: true, sort: true, unique: random() < 0.3 })),
          weight: Real({ filter: true, sort: true, default: 0.1 }),
          price: Optional(Decimal({ precision: 20, scale: 2, filter: true, sort: true, unique: random() < 0.3 })),
          flag: Optional(Flag({ sort: true })),
          stage: Type.Enum(['open', 'doing', 'done', 'a_b%c'], {
            ...{ default: 'open', sort: true },
            transitions: {
              open: ['doing', 'done', 'a_b%c'],
              doing: ['open', 'done'],
              done: ['open'],
              'a_b%c': ['open'],
            },
          }),
          shade: Optional(Type.Enum(['Red', 'GREEN', 'bläu'], { sort: true })),
          day: Optional(Text({ format: 'date', filter: true, sort: true })),
          hour: Optional(Text({ format: 'time', filter: true, sort: true })),
          at: Optional(Text({ format: 'date-time', filter: true, sort: true, unique: random() < 0.3 })),
          mail: Optional(Text({ format: 'email', filter: true, sort: true })),
          link: Optional(Text({ format: 'uri', filter: true })),
          payload: Optional(Type.Object({})),
          list: Optional(Type.Array(Type.Unknown())),
          anything: Optional(Type.Unknown()),
          serial: Integer({ readOnly: true, default: 7, filter: true }),
          origin: Optional(Text({ immutable: true, filter: true })),
          pin: Optional(Text({ writeOnly: true })),
          den_id: Optional(reference('dens', { onDelete: onDelete() })),
          keeper_id: Optional(reference('keepers', { onDelete: onDelete() })),
          twin_id: Optional(reference('beasts', { onDelete: onDelete() })),
          owner_id: Text({ readOnly: true }),
        },
        owner: 'owner_id',
        unique: [['den_id', 'title']],
        deletion: deletion({ byFilter: true }),
        access: { ...everyone, read, delete: read, readDeleted: ['role:admin', 'owner'] },
        rules: [
          {
            on: 'create',
            code: 'TOO_MANY_TABOO',
            message: 'There is one already.',
            unless: { none: 'beasts', where: { title: 'taboo', stage: { in: ['open', 'doing'] } } },
          },
          {
            on: ['delete', 'restore'],
            check: ({ current, next }) =>
              (current ?? next)?.['flag'] === true && (current ?? next)?.['stage'] === 'doing'
                ? { code: 'BUSY', message: `${(current ?? next)?.['id']} is busy.`, pointer: '/stage' }
                : undefined,
          },
          {
            on: ['update', 'delete', 'restore'],
            code: 'TOO_HEAVY',
            message: 'It does not move.',
            unless: { where: { weight: { lt: 1e300 } } },
          },
        ],
      },
      keepers: {
        fields: {
          name: Text({ search: true, sort: true, filter: true }),
          mail: Optional(Text({ format: 'email', unique: true })),
        },
        deletion: deletion({ variant: 'soft' }),
        access: everyone,
        preconditions: pick(random, ['optional', 'optional', 'required'] as const),
        maxAge: pick(random, [0, 60]),
      },
      tags: {
        fields: {
          text: Text({ search: true, filter: true, sort: true }),
          rank: Integer({ sort: true, filter: true, default: 0 }),
          beast_id: reference('beasts', { onDelete: pick(random, ['cascade', 'restrict'] as const) }),
          next_id: Optional(reference('tags', { onDelete: onDelete() })),
        },
        within: 'beast_id',
        deletion: deletion({ byFilter: true }),
        access: {
          ...everyone,
          read: [{ through: 'beast_id', action: 'read' }, 'role:admin'],
          update: { through: 'beast_id', action: 'update' },
        },
      },
    },
    changes: [
      {
        version: 'v2',
        resource: 'beasts',
        was: 'animals',
        rename: { name: 'title', size: 'weight' },
        add: ['shade', 'list'],
      },
      {
        version: 'v2',
        resource: 'beasts',
        remove: { colour: { schema: { type: 'string', optional: true, filter: true, sort: true }, value: 'grey' } },
        convert: {
          count: {
            schema: { type: 'integer', optional: true, filter: true, sort: true },
            older: (count: number) => -count,
            newer: (count: number) => -count,
          },
        },
      },
      { version: 'v2', resource: 'tags', collection: 'added' },
    ],
    limits: { pageSize: { default: 7, max: 50 }, exports: { count: 4, bytes: 8_000 } },
  }
}
