/** A declaration whose fields have access rules of every kind (AUT-13, AUT-14). */

import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'

/** Everybody may use the records of employees, and not all of their fields. */
export const staff = defineInterface({
  name: 'staff',
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'employees', rename: { pay: 'salary', remark: 'note' } }],
  resources: {
    teams: {
      fields: { name: Type.String(), lead_id: Type.String({ readOnly: true }) },
      owner: 'lead_id',
      access: { read: 'anyone', create: 'anyone', update: 'owner', delete: 'role:admin' },
    },
    employees: {
      fields: {
        name: Type.String({ filter: true, sort: true, search: true }),
        salary: Type.Optional(Type.Integer({ filter: true, sort: true })),
        note: Type.Optional(Type.String({ filter: true, sort: true, search: true })),
        rating: Type.Optional(Type.Number({ filter: true, sort: true })),
        details: Type.Optional(Type.Object({ phone: Type.Optional(Type.String()) })),
        grade: Type.Enum(['junior', 'senior', 'head'], {
          default: 'junior',
          sort: true,
          transitions: { junior: ['senior'], senior: ['head'] },
        }),
        badge: Type.Optional(Type.String({ unique: true, filter: true })),
        is_public: Type.Boolean({ default: false }),
        team_id: Type.Optional(reference('teams')),
        person_id: Type.String({ readOnly: true, filter: true }),
      },
      owner: 'person_id',
      within: 'team_id',
      deletion: { byFilter: true },
      access: {
        read: 'anyone',
        create: 'anyone',
        update: 'anyone',
        delete: 'anyone',
        restore: 'anyone',
        readDeleted: 'anyone',
        fields: {
          salary: { read: ['role:editor', 'owner'], write: 'role:editor' },
          note: { read: { where: { is_public: true } }, write: ['owner', 'role:editor'] },
          rating: { read: { through: 'team_id', action: 'update' }, write: { through: 'team_id', action: 'update' } },
          details: { read: (caller) => caller.roles.includes('editor') },
          grade: { read: 'role:editor' },
          badge: { read: 'role:editor' },
        },
      },
    },
  },
})
