/** The gate that chooses the database of a request by its caller (TEN-1, TEN-3). */
import type { Catalog } from 'resourced-contract/model/resource'
import { operatorRole, operatorsOf } from 'resourced-contract/model/tenants'
import { fault } from 'resourced-contract/spec/faults'
import { refusedCredential } from '../policy/authenticate.ts'
import { type Found, methodsOf } from '../request/target.ts'
import { maintenanceFault } from './maintenance.ts'
import type { Entered, Rated } from './stages.ts'

const reading: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'QUERY'])

/**
 * Lets a request into the database of its tenant, or into that of the operators.
 *
 * @throws Fault NO_TENANT, UNKNOWN_TENANT, FORBIDDEN, MAINTENANCE, UNAUTHENTICATED for a key of a deleted tenant
 */
export async function enterTenant(rated: Rated): Promise<Entered> {
  const { app, caller, found, request, tenant } = rated
  // A function of the declaration calls in process, within its tenant.
  if (app.tenants === undefined) {
    refuseOperators(rated)
    const maintenance = app.tenant?.maintenance()
    if (maintenance !== undefined && isChange(found, request.method)) throw maintenanceFault(maintenance)
    return rated
  }
  if (tenant === undefined && caller.roles.includes(operatorRole)) {
    if (isForOperators(found)) return { ...rated, found: inCatalog(app.catalog, found) }
    throw fault('FORBIDDEN', {
      detail: 'Operators manage tenants, and use nothing of them. Use a credential of the tenant.',
    })
  }
  if (tenant === undefined || tenant === null) {
    const claim = app.versions.stored.tenants?.caller
    const remedy = 'Use one that names your tenant.'
    const without = `The caller has no ${claim}, and the credential is no key of a tenant. ${remedy}`
    const detail = tenant === null ? `${claim} of the caller, which names the tenant, is no text.` : without
    throw fault('NO_TENANT', { detail })
  }
  refuseOperators(rated)
  const { value, leave } = await app.tenants.enter(tenant, isChange(found, request.method)).catch((error: unknown) => {
    const isGone = caller.tenant !== undefined && (error as { readonly code?: unknown }).code === 'UNKNOWN_TENANT'
    throw isGone ? refusedCredential({ credential: 'key', reason: 'revoked' }) : error
  })
  return { ...rated, app: value, leave }
}

/** Whether a request changes something of an address that exists. */
function isChange(found: Found, method: string): boolean {
  return !reading.has(method) && found.kind === 'found' && methodsOf(found.target).includes(method)
}

/** Addresses that operators may use; what does not exist is 404 for them too. */
function isForOperators(found: Found): boolean {
  if (found.kind !== 'found') return true
  const { target } = found
  if (target.kind === 'openapi' || target.kind === 'metrics') return true
  return 'resource' in target && ['tenants', 'jobs'].includes(target.resource.name)
}

/** The same address with the access rules of the operators' catalog, which has jobs of its own. */
function inCatalog({ system }: Catalog, found: Found): Found {
  if (found.kind !== 'found' || !('resource' in found.target)) return found
  const { target } = found
  return { kind: 'found', target: { ...target, resource: system.get(target.resource.name) ?? target.resource } }
}

/** @throws Fault FORBIDDEN for addresses that only operators may use */
function refuseOperators({ app, found }: Rated): void {
  if (found.kind !== 'found') return
  const { target } = found
  const isOfTenants =
    'resource' in target && target.resource === operatorsOf(app.versions.stored)?.resources.get(target.resource.name)
  if (!isOfTenants && target.kind !== 'metrics') return
  throw fault('FORBIDDEN', { detail: `Only callers with the role ${operatorRole} and no tenant may use this address.` })
}
