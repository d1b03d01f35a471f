/** Checks the tenants of a database: their migrations, imports and moves, and that each has its database (TEN-2). */
import { counted } from 'resourced-check/terminal'
import { timestamp } from 'resourced-contract/model/time'
import type { TenantDatabase } from '../../storage/administration/administration.ts'
import type { ExaminedTenant } from '../../storage/migration/examine.ts'
import { type Diagnosis, ok, problem, warning } from './diagnosis.ts'

/** What is compared. */
export interface TenantsCheck {
  /** The tenants of the operators' database, which were read after their databases were looked for. */
  readonly tenants: readonly ExaminedTenant[]
  readonly databases: readonly TenantDatabase[]
  /** What `Host.hashOf` says of the declaration; `undefined`: there is none. */
  readonly hash: string | undefined
  /** The clock of this machine, in milliseconds since 1970. */
  readonly now: number
}

const check = 'tenants'

/** After so long an import or a move has ended, or was interrupted, in milliseconds. */
const long = 3_600_000

/** Checks tenants against the databases that there are. */
export function checkTenants(given: TenantsCheck): Diagnosis[] {
  const { tenants, hash } = given
  const isServed = ({ state }: ExaminedTenant) => state === 'active'
  const outdated = tenants.filter(
    (each) => isServed(each) && ![null, hash ?? each.schemaHash].includes(each.schemaHash),
  )
  const deleted = tenants.filter(({ state }) => state === 'deleted').length
  const counts = `${counted(tenants.length, 'tenant')}${deleted > 0 ? `, of which ${deleted} deleted` : ''}`
  return [
    outdated.length === 0
      ? ok(check, `${counts}${hash === undefined ? '' : ', all of which fit the declaration'}.`)
      : warning(
          check,
          `${counts}. Not yet brought up to the declaration: ${outdated.length}, such as ${listed(outdated)}.`,
          'Servers do it, unless data would be lost. See every change with: npx resourced tenants migrate',
        ),
    ...ofMaintenance(given),
    ...ofUnfinished(given),
    ...ofMissing(given),
    ...ofOrphans(given),
  ]
}

function ofMaintenance({ tenants }: TenantsCheck): Diagnosis[] {
  return tenants.flatMap(({ name, state, maintenance }) => {
    if (maintenance === undefined || state !== 'active') return []
    const named = JSON.stringify(name)
    const finding = `${named} is under maintenance since ${maintenance.since}: its changes get 503.`
    return [warning(check, finding, `End it with: npx resourced maintenance off --tenant ${named}`)]
  })
}

function ofUnfinished({ tenants, now }: TenantsCheck): Diagnosis[] {
  return tenants.flatMap(({ id, name, state, changed }) => {
    if (now - changed < long) return []
    const since = `${JSON.stringify(name)} has the state ${state} since ${timestamp(changed)}.`
    if (state === 'importing') {
      return [warning(check, since, 'Repeat the import: npx resourced tenants import NAME FILE')]
    }
    const remedy = `Where it was moved to, it is served: delete it here with DELETE /tenants/${id}.`
    return state === 'moving' ? [warning(check, since, `${remedy} After an interrupted move, restore it then.`)] : []
  })
}

function ofMissing({ tenants, databases }: TenantsCheck): Diagnosis[] {
  const present = new Set(databases.map(({ tenant }) => tenant))
  const missing = tenants.filter(
    ({ id, state, schemaHash }) => state === 'active' && schemaHash !== null && !present.has(id),
  )
  if (missing.length === 0) return []
  const remedy = 'Stop the servers before they make empty ones, and bring the databases back from a backup.'
  return [problem(check, `The databases of some tenants are gone: ${listed(missing)}.`, remedy)]
}

/** Such as what was created after the backup that the operators' database was restored from. */
function ofOrphans({ tenants, databases }: TenantsCheck): Diagnosis[] {
  const known = new Set(tenants.map(({ id }) => id))
  const orphans = databases.filter(({ tenant }) => !known.has(tenant))
  const [first] = orphans
  if (first === undefined) return []
  const more = orphans.length > 1 ? ` and ${orphans.length - 1} more` : ''
  const remedy = `If a copy of what they hold is not needed, remove each: ${first.removal}`
  return [warning(check, `No tenant has the database ${first.place}${more}.`, remedy)]
}

const mostNamed = 5

/** The names of the first of some tenants, for people. */
export function listed(tenants: readonly Pick<ExaminedTenant, 'name'>[]): string {
  const shown = tenants.slice(0, mostNamed).map(({ name }) => JSON.stringify(name))
  return `${shown.join(', ')}${tenants.length > mostNamed ? ` and ${tenants.length - mostNamed} more` : ''}`
}
