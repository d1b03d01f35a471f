/** Body + caller -> the plan of an API key, or of its revocation. */
import { uuidv7 } from 'uuidv7'
import type { Conditions } from '../http/preconditions.ts'
import type { Resource } from '../model/resource.ts'
import { hashOfKey, hintOfKey, newKey } from '../policy/api-keys.ts'
import type { Caller } from '../policy/caller.ts'
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
  const decided = grantKey(caller, wish)
  if ('refusals' in decided) throw fault('FORBIDDEN', { errors: decided.refusals })
  const key = newKey()
  return {
    ...{ kind: 'create-key', resource, id: uuidv7(), issues, ...decided.grant },
    ...{ hash: hashOfKey(key), hint: hintOfKey(key), secret: () => key },
    idempotency: idempotencyOf(planning, caller, [resource.name], input),
    caller,
    now,
  }
}

/** Plans the revocation of an API key. */
export function planRevocation(
  { catalog, now }: Planning,
  caller: Caller,
  { resource, id }: { readonly resource: Resource; readonly id: string },
  conditions: Conditions,
): RevokeKey {
  return {
    kind: 'revoke-key',
    resource,
    id,
    permitted: permit(catalog, caller, 'delete', resource),
    conditions,
    caller,
    now,
  }
}
