/**
 * A tree four levels deep, of both variants, whose deletions become jobs: what hangs on it, refers to it, and blocks
 * it.
 */

import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'

const deletion = { asynchronous: { above: 5 }, byFilter: true } as const
const access = { read: 'anyone', delete: ['role:admin', 'role:editor'], readDeleted: 'role:admin' } as const

export const company = defineInterface({
  name: 'company',
  resources: {
    companies: {
      fields: { name: Type.String({ unique: true, search: true, filter: true }) },
      deletion,
      access: { ...access, restore: 'role:admin' },
    },
    departments: {
      fields: {
        name: Type.String({ search: true, filter: true }),
        company_id: reference('companies', { onDelete: 'cascade' }),
      },
      within: 'company_id',
      deletion,
      access,
    },
    // Gone for good, between levels that are kept.
    teams: {
      fields: {
        name: Type.String({ search: true, filter: true }),
        department_id: reference('departments', { onDelete: 'cascade' }),
      },
      within: 'department_id',
      deletion: { ...deletion, variant: 'hard' },
      access,
    },
    members: {
      fields: {
        name: Type.String({ search: true, filter: true }),
        team_id: reference('teams', { onDelete: 'cascade' }),
        chief_id: Type.Optional(reference('members', { onDelete: 'cascade' })),
      },
      within: 'team_id',
      deletion,
      access,
    },
    // Only notes what it came from.
    badges: {
      fields: {
        name: Type.String(),
        member_id: Type.Optional(reference('members', { onDelete: 'clear' })),
        team_id: Type.Optional(reference('teams', { onDelete: 'clear' })),
      },
    },
    // Stands in the way.
    audits: {
      fields: { name: Type.String(), member_id: reference('members', { onDelete: 'restrict' }) },
      access: { read: ['role:admin', { where: { name: 'Open' } }] },
    },
  },
})

/** Its collections that hang under one another, from above. */
export const levels = ['companies', 'departments', 'teams', 'members'] as const
