/** Body + caller -> the plan of an API key, or of its revocation. */
import { uuidv7 } from 'uuidv7'
import type { Conditions } from '../http/preconditions.ts'
import type { Resource } from '../model/resource.ts'
import { hashOfKey, hintOfKey, newKey } from '../policy/api-keys.ts'
import { type Caller, isAdministrator } from '../policy/caller.ts'
import { grantKey } from '../policy/key-grant.ts'
import { permit } from '../policy/permit.ts'
import { fault } from '../spec/faults.ts'
import { idempotencyOf } from './idempotency.ts'
import { readKeyRequest } from './key-request.ts'
import type { CreateKey, RevokeKey } from './plan.ts'
import type { Planning } from './plan-for.ts'

/**
 * Plans an API key.
 *
 * @throws Fault FORBIDDEN where the caller may not make such a key
 */
export function planKey(
  planning: Planning,
  caller: Caller,
  resource: Resource,
  input: { readonly body: unknown; readonly idempotencyKey: string | undefined },
): CreateKey {
  const { now } = planning
  const { issues, ...wish } = readKeyRequest(resource, input.body, now)
  const { keys } = planning.catalog.limits
  const decided = grantKey(caller, wish, keys.lastingRoles)
  if ('refusals' in decided) throw fault('FORBIDDEN', { errors: decided.refusals })
  const key = newKey()
  return {
    ...{ kind: 'create-key', resource, id: uuidv7(), issues, ...decided.grant },
    ...{ madeBy: makerOf(caller), perSubject: keys.perSubject },
    ...{ hash: hashOfKey(key), hint: hintOfKey(key), secret: () => key },
    idempotency: idempotencyOf(planning, caller, [resource.name], input),
    caller,
    now,
  }
}

/** The credential of a caller as `made_by` names it. */
function makerOf({ credential, id }: Caller): CreateKey['madeBy'] {
  return credential === 'jwt' ? { kind: 'subject', id } : { kind: 'key', id: credential }
}

/** Plans the revocation of an API key. */
export function planRevocation(
  { catalog, now }: Planning,
  caller: Caller,
  { resource, id }: { readonly resource: Resource; readonly id: string },
  { conditions, descendants }: { readonly conditions: Conditions; readonly descendants: boolean },
): RevokeKey {
  return {
    kind: 'revoke-key',
    resource,
    id,
    permitted: permit(catalog, caller, 'delete', resource),
    descendants,
    roles: isAdministrator(caller) ? undefined : caller.roles,
    conditions,
    caller,
    now,
  }
}
