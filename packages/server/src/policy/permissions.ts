/**
 * What a caller may do, as `GET /caller` says it (AUT-11): for each action on each collection whether it is permitted
 * on all records, on some or on none, and the declared rules that decide.
 */
import { isLookup, lookupCollection } from 'resourced-contract/model/access-rules'
import { type AccessRule, type Action, actions } from 'resourced-contract/model/declaration'
import { grantOf } from 'resourced-contract/model/field-grants'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import {
  type Catalog,
  fieldAccessOf,
  isMapped,
  type Resource,
  resourceOfStored,
  storedResource,
} from 'resourced-contract/model/resource'
import { timestamp } from 'resourced-contract/model/time'
import type { Caller } from './caller.ts'
import { permit, permitFields } from './permit.ts'

/** The records that an action is permitted on. */
type Granted = 'all' | 'some' | 'none'

/** A rule as a client sees it: as declared, or the kind of rule where its content is the server's own. */
type ShownRule =
  | Exclude<AccessRule, ((...given: never) => unknown) | { readonly all: unknown }>
  | { readonly all: readonly ShownRule[] }
  | 'function'
  | 'condition'

interface Permission {
  readonly granted: Granted
  readonly rules: readonly ShownRule[]
}

/** The body of `GET /caller`. */
interface CallerDescription {
  readonly id: string
  readonly roles: readonly string[]
  readonly credential: 'api-key' | 'jwt' | 'own'
  /** `null`: never, or unknown, because the application's `authenticate` does not say it. */
  readonly expires_at: string | null
  readonly permissions: Readonly<Record<string, Readonly<Record<string, Permission>>>>
  /** By collection, then by field: only fields that have access rules of their own. */
  readonly field_permissions: Readonly<Record<string, Readonly<Record<string, FieldPermissions>>>>
}

/** In which of the records that a caller may read (or create and change) the caller may read (or write) a field. */
interface FieldPermissions {
  readonly read?: Permission
  readonly write?: Permission
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
    credential: kindOf(credential),
    expires_at: expiresAt === 0 || expiresAt === Number.POSITIVE_INFINITY ? null : timestamp(Math.max(0, expiresAt)),
    permissions: Object.fromEntries(
      resources.map((resource) => [
        resource.name,
        Object.fromEntries(
          actionsOf(resource).map(
            (action) => [nameOf(action), permissionOf({ stored, shown }, resource, action, caller)] as const,
          ),
        ),
      ]),
    ),
    field_permissions: Object.fromEntries(
      resources.flatMap((resource) =>
        resource.fieldAccess === undefined
          ? []
          : [[resource.name, fieldPermissionsOf({ stored, shown }, resource, caller)]],
      ),
    ),
  }
}

/** A history can only be read where there is one. */
function actionsOf({ history }: Resource): readonly Action[] {
  return history === undefined ? actions.filter((action) => action !== 'readHistory') : actions
}

function kindOf(credential: Caller['credential']): CallerDescription['credential'] {
  if (credential === 'jwt') return 'jwt'
  const isOwn = credential === 'own' || credential === 'function' || credential === 'server'
  return isOwn ? 'own' : 'api-key'
}

/** The catalog of the current version, and that of the client's. */
interface Catalogs {
  readonly stored: Catalog
  readonly shown: Catalog
}

function fieldPermissionsOf(catalogs: Catalogs, shown: Resource, caller: Caller): Record<string, FieldPermissions> {
  const { readable, writable } = permitFields(catalogs.stored, caller, storedResource(shown))
  const permission = (rules: readonly AccessRule[] | undefined, grant: Predicate = always): Permission | undefined =>
    rules && { granted: grantedBy(grant), rules: rules.map((rule) => shownRule(catalogs, shown, rule)) }
  return Object.fromEntries(
    shown.fields.flatMap(({ name }) => {
      const access = fieldAccessOf(shown, name)
      if (access === undefined) return []
      const stored = shown.mapping === undefined ? name : String(shown.mapping.toStored.get(name))
      const read = permission(access.read, grantOf(readable, stored))
      const write = permission(access.write, grantOf(writable, stored))
      return [[name, { ...(read && { read }), ...(write && { write }) }]]
    }),
  )
}

function grantedBy(grant: Predicate): Granted {
  return grant.kind === 'always' ? 'all' : grant.kind === 'never' ? 'none' : 'some'
}

/** A caller may read all events who may read all records of every collection with events, deleted ones too (EVT-4). */
function readsAllEvents({ resources }: Catalog, grant: Predicate): boolean {
  const watched = [...resources.values()].filter(({ events }) => events)
  if (grant.kind !== 'event' || grant.grants.length < watched.length) return false
  return grant.grants.every(({ read, readDeleted }) => read.kind === 'always' && readDeleted.kind === 'always')
}

function nameOf(action: Action): string {
  return action.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)
}

function permissionOf(catalogs: Catalogs, shown: Resource, action: Action, caller: Caller): Permission {
  const { stored: catalog } = catalogs
  const resource = storedResource(shown)
  const grant = permit(catalog, caller, action, resource)
  const granted = readsAllEvents(catalog, grant) ? 'all' : grantedBy(grant)
  return { granted, rules: resource.access[action].map((rule) => shownRule(catalogs, shown, rule)) }
}

/** The client's version may have other names for the fields of conditions, and for the collections of lookups. */
function shownRule(catalogs: Catalogs, shown: Resource, rule: AccessRule): ShownRule {
  if (typeof rule === 'function') return 'function'
  if (typeof rule !== 'object') return rule
  if ('all' in rule) return { all: rule.all.map((each) => shownRule(catalogs, shown, each)) }
  const looked = isLookup(rule) ? resourceOfStored(catalogs.shown, lookupCollection(rule)) : shown
  return looked === undefined || isMapped(looked) || isMapped(shown) ? 'condition' : rule
}
