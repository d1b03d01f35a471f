/**
 * What a caller may do, as `GET /caller` says it (AUT-11): for each action on each collection whether it is permitted
 * on all records, on some or on none, and the declared rules that decide.
 */
import { type AccessRule, type Action, actions } from '../model/declaration.ts'
import { type Catalog, isMapped, type Resource, storedResource } from '../model/resource.ts'
import type { Caller } from './caller.ts'
import { permit } from './permit.ts'

/** The records that an action is permitted on. */
type Granted = 'all' | 'some' | 'none'

/** A rule as a client sees it: as declared, or the kind of rule where its content is the server's own. */
type ShownRule = Exclude<AccessRule, (...given: never) => unknown> | 'function' | 'condition'

interface Permission {
  readonly granted: Granted
  readonly rules: readonly ShownRule[]
}

/** The body of `GET /caller`. */
interface CallerDescription {
  readonly id: string
  readonly roles: readonly string[]
  readonly credential: 'api-key' | 'jwt' | 'own'
  /** `null`: never. */
  readonly expires_at: string | null
  readonly permissions: Readonly<Record<string, Readonly<Record<string, Permission>>>>
}

/**
 * Describes a caller.
 *
 * @param stored the catalog of the current version, in whose terms access rules are declared
 * @param shown the catalog of the client's version, whose collections are described
 */
export function describeCaller(stored: Catalog, shown: Catalog, caller: Caller): CallerDescription {
  const { id, roles, credential, expiresAt } = caller
  const resources = [...shown.resources.values(), ...shown.system.values()]
  return {
    id,
    roles,
    credential: credential === 'jwt' || credential === 'own' ? credential : 'api-key',
    expires_at: Number.isFinite(expiresAt) ? new Date(expiresAt).toISOString() : null,
    permissions: Object.fromEntries(
      resources.map((resource) => [
        resource.name,
        Object.fromEntries(
          actions.map((action) => [nameOf(action), permissionOf(stored, resource, action, caller)] as const),
        ),
      ]),
    ),
  }
}

function nameOf(action: Action): string {
  return action === 'readDeleted' ? 'read_deleted' : action
}

function permissionOf(catalog: Catalog, shown: Resource, action: Action, caller: Caller): Permission {
  const resource = storedResource(shown)
  const { kind } = permit(catalog, caller, action, resource)
  const granted = kind === 'always' ? 'all' : kind === 'never' ? 'none' : 'some'
  return { granted, rules: resource.access[action].map((rule) => shownRule(rule, isMapped(shown))) }
}

/** @param mapped whether the client's version has other names for the fields of conditions */
function shownRule(rule: AccessRule, mapped: boolean): ShownRule {
  if (typeof rule === 'function') return 'function'
  return typeof rule === 'object' && mapped ? 'condition' : rule
}
