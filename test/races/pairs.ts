/**
 * What the pairs of `pairs.test.ts` race on: a family of collections, the rules that may concern parts of it, and what
 * must hold afterwards.
 */
import assert from 'node:assert/strict'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { until } from '../until.ts'
import type { Race } from './servers.ts'

const name = { type: 'string', filter: true } as const
const to = (reference: string, onDelete: 'restrict' | 'cascade' | 'clear') =>
  ({ reference, onDelete, optional: true }) as const
const deletion = { variant: 'soft', byFilter: true } as const
const updates = { byFilter: true } as const

/** Parents under tops, and dependents of each kind under both of these. */
const family = {
  tops: { fields: { name }, deletion, updates },
  parents: { fields: { name, top_id: to('tops', 'cascade') }, deletion, updates },
  restricts: { fields: { name, parent_id: to('parents', 'restrict') }, deletion, updates },
  cascades: {
    fields: { name, parent_id: to('parents', 'cascade'), code: { ...name, optional: true, unique: true } },
    deletion,
    updates,
  },
  clears: { fields: { name, parent_id: to('parents', 'clear') }, deletion, updates },
  pairs: {
    fields: { left: name, right: name, note: { ...name, optional: true } },
    unique: [['left', 'right']],
    deletion,
    updates,
  },
  others: { fields: { name } },
} as const

/** The collections that have a business rule, in each catalog. */
export const catalogs = {
  'no rules': [],
  'a rule elsewhere': ['others'],
  'rules of the parents': ['tops', 'parents'],
  'rules of the dependents': ['restricts', 'cascades', 'clears'],
  'rules everywhere': Object.keys(family),
} as const satisfies Record<string, readonly string[]>

/** The family, with rules that never object: they only decide how changes are kept apart. */
export function declarationOf(ruled: readonly string[]): InterfaceDeclaration {
  const rule = (collection: string) => ({
    on: ['create', 'update', 'delete', 'restore'] as const,
    ...{ code: 'FORBIDDEN_NAME', message: 'Another name.' },
    unless: { none: collection, where: { [collection === 'pairs' ? 'left' : 'name']: 'forbidden' } },
  })
  const resources = Object.entries(family).map(([collection, resource]) => [
    collection,
    { ...resource, rules: ruled.includes(collection) ? [rule(collection)] : [] },
  ])
  return { name: 'pairs', resources: Object.fromEntries(resources) } as InterfaceDeclaration
}

/** What of the database is not as it must be, whatever happened: one line each. */
export async function violationsOf({ rows }: Pick<Race, 'rows'>): Promise<string[]> {
  const found: string[] = []
  for (const [collection, { fields }] of Object.entries(family)) {
    for (const [field, declared] of Object.entries(fields)) {
      if (!('reference' in declared)) continue
      const { reference } = declared as { reference: string }
      const orphans = await rows(
        `select c.id from "${collection}" c left join "${reference}" p on p.id = c.${field}
         where c.deleted_at is null and c.${field} is not null and (p.id is null or p.deleted_at is not null)`,
      )
      found.push(...orphans.map(({ id }) => `${collection} ${id} is live under one of the ${reference} that is not`))
    }
    const [clock] = await rows(
      `select sum(live)::int as live, sum(deleted)::int as deleted from resourced_clocks where collection = '${collection}'`,
    )
    const [counted] = await rows(
      `select count(*) filter (where deleted_at is null)::int as live, count(deleted_at)::int as deleted from "${collection}"`,
    )
    if (JSON.stringify(clock) !== JSON.stringify(counted)) {
      found.push(`${collection} are ${JSON.stringify(counted)}, and their clock says ${JSON.stringify(clock)}`)
    }
  }
  const twice = await rows(
    `select "left", "right" from pairs where deleted_at is null group by 1, 2 having count(*) > 1`,
  )
  const codes = await rows(
    'select code from cascades where deleted_at is null and code is not null group by 1 having count(*) > 1',
  )
  found.push(...codes.map(({ code }) => `the code ${code} is taken twice`))
  found.push(...twice.map(({ left, right }) => `${left} and ${right} are taken twice`))
  return found
}

/** Takes away what a round has left, so that the next one is not blamed for it. */
export async function empty({ rows }: Pick<Race, 'rows'>): Promise<void> {
  const collections = Object.keys(family)
  await rows(
    `${collections.map((collection) => `delete from "${collection}"`).join('; ')};
     update resourced_clocks set live = 0, deleted = 0 where collection in (${collections.map((each) => `'${each}'`).join()})`,
  )
}

/** Waits until the jobs of deletions are done. */
export async function jobsDone({ rows }: Pick<Race, 'rows'>): Promise<void> {
  await until(async () => (await rows('select job from resourced_work')).length === 0)
}

/** The status of an answer, which is a change or a refusal that a client understands. */
export function isMade({ status, json }: { readonly status: number; readonly json: unknown }): boolean {
  assert.ok(status < 300 || [400, 404, 409].includes(status), JSON.stringify(json))
  return status < 300
}
