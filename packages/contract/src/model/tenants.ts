/** The operators' side of an interface with tenants (TEN-3): a catalog of its own, whose records are the tenants. */
import { completeCatalog } from './catalog.ts'
import type { ResourceDeclaration } from './declaration.ts'
import { tenantsCollection } from './names.ts'
import type { Catalog, Resource } from './resource.ts'

/** The role of callers without a tenant who manage tenants (TEN-3). */
export const operatorRole = 'operator'

/** The states of a tenant. Its callers are served while it is `active`. */
export const tenantStates = ['active', 'importing', 'moving', 'deleted'] as const
export type TenantState = (typeof tenantStates)[number]

/** The longest name of a tenant, in characters. */
export const longestTenantName = 128

/** Whether a text can be the name of a tenant: 1 to 128 characters, none of which is a control character. */
export function isTenantName(text: string): boolean {
  if (text.length > 2 * longestTenantName || !text.isWellFormed()) return false
  const { length } = [...text]
  return length >= 1 && length <= longestTenantName && !/\p{Cc}/u.test(text)
}

const internal = { optional: true, readOnly: true, writeOnly: true } as const

function tenantsOf(gracePeriod: string): ResourceDeclaration {
  return {
    title: 'Tenants',
    description: 'Tenants. Each has a database of its own, which callers of other tenants cannot reach.',
    fields: {
      name: {
        ...{ type: 'string', minLength: 1, maxLength: longestTenantName, pattern: '^\\P{Cc}*$' },
        ...{ unique: true, filter: true, sort: true },
        description: 'The value of the claim that names the tenant. It stays taken while a deleted tenant is kept.',
      },
      state: {
        ...{ enum: [...tenantStates], default: 'active', readOnly: true, filter: true },
        description: 'Callers of the tenant are served while it is active.',
      },
      bytes: {
        ...{ type: 'integer', minimum: 0, optional: true, readOnly: true },
        description: 'How many bytes its database took when it was last measured; null: it was not yet.',
      },
      // Clients never see these: which declaration its database was brought up to, and when it must be opened again.
      schema_hash: { ...internal, type: 'string' },
      wakes_at: { ...internal, type: 'integer' },
    },
    access: {
      read: `role:${operatorRole}`,
      create: `role:${operatorRole}`,
      delete: `role:${operatorRole}`,
      restore: `role:${operatorRole}`,
      readDeleted: `role:${operatorRole}`,
    },
    deletion: { gracePeriod, bulk: false, asynchronous: 'never' },
  }
}

type TenantSettings = NonNullable<Catalog['tenants']>

const known = new WeakMap<TenantSettings, Catalog>()

/**
 * The catalog of the operators' database: the tenants, jobs, and the API keys of operators. It is the same object for
 * all versions of an interface; `undefined`: the interface has no tenants.
 */
export function operatorsOf(catalog: Catalog): Catalog | undefined {
  const { tenants: settings } = catalog
  if (settings === undefined) return undefined
  const made = known.get(settings) ?? completeOperators(catalog, settings)
  known.set(settings, made)
  return made
}

/** The same for commands that read no declaration: what the database of operators stores depends on none. */
export function anyOperators(): Catalog {
  const catalog = completeCatalog({ name: 'operators', resources: {} })
  return completeOperators(catalog, { gracePeriod: 'P30D' })
}

function completeOperators(
  { name, title, version, limits, authorize }: Catalog,
  { gracePeriod }: Pick<TenantSettings, 'gracePeriod'>,
): Catalog {
  const resources = { [tenantsCollection]: tenantsOf(gracePeriod) }
  const completed = completeCatalog({ name, title, versions: { [version]: {} }, resources })
  const tenants: Resource = { ...(completed.resources.get(tenantsCollection) as Resource), made: 'for-clients' }
  const jobs = completed.system.get('jobs') as Resource
  const access = { ...jobs.access, read: [`role:${operatorRole}` as const], delete: [`role:${operatorRole}` as const] }
  return {
    ...completed,
    ...{ limits, authorize },
    resources: new Map([[tenantsCollection, tenants]]),
    system: new Map([...completed.system, ['jobs', { ...jobs, access }]]),
  }
}
