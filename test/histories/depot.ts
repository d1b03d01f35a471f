/** What random histories are about: boxes, and the items in them, whose amounts each box adds up. */
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const
const access = { ...anyone, readDeleted: 'anyone', readHistory: 'anyone' } as const
const byFilter = { deletion: { byFilter: true }, updates: { byFilter: true } }

/** Rules that never object: they only decide how PostgreSQL keeps changes apart. */
function rulesOf(field: string) {
  return [
    {
      on: ['create', 'update', 'delete', 'restore'] as const,
      ...{ code: 'FORBIDDEN_NAME', message: 'Another name.' },
      unless: { none: 'items', where: { [field]: 'forbidden' } },
    },
  ]
}

/** @param ruled the collections that have a business rule */
export function depotOf(ruled: readonly ('boxes' | 'items')[] = []): InterfaceDeclaration {
  return {
    name: 'depot',
    resources: {
      boxes: {
        fields: { name: { type: 'string' }, total: { type: 'integer', sumOf: 'items.amount' } },
        ...{ access, history: true, events: true, rules: ruled.includes('boxes') ? rulesOf('title') : [] },
      },
      items: {
        fields: {
          sku: { type: 'string', unique: true },
          slot: { type: 'integer', unique: true, optional: true },
          title: { type: 'string', filter: true },
          kind: { enum: ['x', 'y'], default: 'x' },
          amount: { type: 'integer', optional: true },
          box_id: { reference: 'boxes', onDelete: 'cascade', optional: true },
        },
        summaries: { by_kind: { group: ['kind'], sum: ['amount'] } },
        ...{ access, ...byFilter, history: true, events: true, rules: ruled.includes('items') ? rulesOf('title') : [] },
      },
    },
  } as InterfaceDeclaration
}
