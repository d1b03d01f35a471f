/** Completes a declaration to a catalog: fills in defaults, resolves names, and freezes the result. */

import type { AccessRule, Action, FieldDeclaration, InterfaceDeclaration, ResourceDeclaration } from './declaration.ts'
import { actions, type DeletionDeclaration, type RateDeclaration } from './declaration.ts'
import { shapeHash } from './digest.ts'
import { completeField } from './field.ts'
import { withIndexes } from './indexes.ts'
import { limitDefaults, parseRate, type Rate } from './limits.ts'
import { deepFreeze, plainCopy } from './plain-copy.ts'
import type { Catalog, Deletion, Dependent, Field, Rates, Resource } from './resource.ts'
import { madeByServer, madeForClients } from './system-resources.ts'
import { parseDuration } from './time.ts'

/**
 * Completes the current version of a declaration without mistakes (`checkDeclaration`). `completeVersions` adds the
 * older versions. The catalog shares only functions with the declaration.
 *
 * @throws Error of any kind if the declaration has mistakes
 */
export function completeCatalog(declaration: InterfaceDeclaration): Catalog {
  const declared = plainCopy(declaration) as InterfaceDeclaration
  const resources = startAll(declared.resources, 'by-clients')
  const pageSize = declared.limits?.pageSize
  const max = pageSize?.max ?? limitDefaults.largestPage
  return deepFreeze<Catalog>({
    name: declared.name,
    title: declared.title ?? titleOf(declared.name),
    description: declared.description,
    version: Object.keys(declared.versions ?? {}).at(-1) ?? 'v1',
    resources: related(resources),
    system: related([...startAll(madeByServer, 'by-server'), ...startAll(madeForClients, 'for-clients')]),
    limits: {
      pageSize: { default: pageSize?.default ?? Math.min(limitDefaults.pageSize, max), max },
      bodyBytes: declared.limits?.bodyBytes ?? limitDefaults.bodyBytes,
      pageBytes: declared.limits?.pageBytes ?? limitDefaults.pageBytes,
      rate: completeRates(declared.limits?.rate ?? {}),
      keys: {
        perSubject: declared.limits?.keys?.perSubject ?? limitDefaults.keysPerSubject,
        lastingRoles: declared.limits?.keys?.lastingRoles ?? [],
      },
      exports: { ...limitDefaults.exports, ...declared.limits?.exports },
    },
    versions: new Map(),
  })
}

function startAll(declared: InterfaceDeclaration['resources'], made: Resource['made']): SingleResource[] {
  return Object.entries(declared).map(([name, resource]) => startResource(name, resource, made))
}

function related(resources: readonly SingleResource[]): Map<string, Resource> {
  return new Map(
    resources.map((resource) => [resource.name, withIndexes({ ...resource, ...relationsOf(resource, resources) })]),
  )
}

/** A resource without its relations to other resources. */
type SingleResource = Omit<Resource, 'dependents' | 'children' | 'filterables' | 'indexes'>

function startResource(name: string, declared: ResourceDeclaration, made: Resource['made']): SingleResource {
  const fields = Object.entries(declared.fields).map(([field, declaration]) =>
    completeField(field, declaration as FieldDeclaration, field === declared.owner, made === 'by-clients'),
  )
  const field = new Map(fields.map((each) => [each.name, each]))
  const parent = declared.within === undefined ? undefined : field.get(declared.within)
  return {
    made,
    name,
    title: declared.title ?? titleOf(name),
    description: declared.description,
    fields,
    field,
    owner: declared.owner,
    within: parent?.reference && { field: parent.name, collection: parent.reference.collection },
    unique: uniqueSets(fields, declared.unique ?? []),
    deletion: completeDeletion(declared.deletion ?? {}),
    access: completeAccess(declared.access ?? {}),
    rules: declared.rules ?? [],
    preconditions: declared.preconditions ?? 'optional',
    maxAge: declared.maxAge ?? 0,
    shape: shapeHash(fields),
  }
}

function relationsOf(
  { name }: SingleResource,
  all: readonly SingleResource[],
): Pick<Resource, 'dependents' | 'children'> {
  return {
    dependents: all.flatMap((resource) =>
      resource.fields.flatMap(({ name: field, reference }): Dependent[] =>
        reference?.collection === name ? [{ collection: resource.name, field, onDelete: reference.onDelete }] : [],
      ),
    ),
    children: all.filter((resource) => resource.within?.collection === name).map((resource) => resource.name),
  }
}

function uniqueSets(
  fields: readonly Field[],
  declared: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const sets = [...fields.filter((field) => field.unique).map((field) => [field.name]), ...declared]
  const different = [...new Map(sets.map((set) => [[...set].sort().join(), set])).values()]
  return [...different.filter((set) => set.length === 1), ...different.filter((set) => set.length > 1)]
}

function completeDeletion(declared: DeletionDeclaration): Deletion {
  const variant = declared.variant ?? 'soft'
  const grace = parseDuration(declared.gracePeriod ?? 'P30D')
  const asynchronous = declared.asynchronous ?? { above: 1_000 }
  return {
    variant,
    gracePeriod: grace.kind === 'duration' && variant === 'soft' ? grace.milliseconds : 0,
    // Records of the variant hard cannot be restored.
    restorable: declared.restorable ?? variant === 'soft',
    asynchronous: typeof asynchronous === 'object' ? asynchronous : { above: asynchronous === 'always' ? 0 : Infinity },
    answer: declared.answer ?? 'empty',
    repeated: declared.repeated ?? 'not-found',
    bulk: declared.bulk === false ? undefined : (declared.bulk ?? { max: 1_000 }),
    byFilter: declared.byFilter ?? false,
  }
}

function completeAccess(declared: NonNullable<ResourceDeclaration['access']>): Resource['access'] {
  const rulesFor = (action: Action) => [declared[action] ?? 'role:admin'].flat() as AccessRule[]
  return Object.fromEntries(actions.map((action) => [action, rulesFor(action)])) as never
}

function completeRates({ caller, address, actions = {} }: RateDeclaration): Rates {
  const rateOf = (text: string) => parseRate(text) as Rate
  return {
    caller: rateOf(caller ?? limitDefaults.callerRate),
    address: rateOf(address ?? limitDefaults.addressRate),
    actions: new Map(Object.entries(actions).map(([name, text]) => [name, rateOf(text)])),
  }
}

/** A title for a name joined by hyphens: `line-items` is "Line items". */
function titleOf(name: string): string {
  const spaced = name.replaceAll('-', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
