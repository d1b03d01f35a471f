/** Plans as plain data, which another thread can be sent: resources by name, and no functions. */
import { deepFreeze } from 'resourced-contract/model/plain-copy'
import { type Catalog, type MappedResource, type Resource, resourceInVersion } from 'resourced-contract/model/resource'
import type { Operation, Plan, TransactionPlan } from '../../plan/plan.ts'
import { plainError } from './channel.ts'

/** A plan as plain data. */
export interface PlainPlan {
  /** What is plain already. */
  readonly rest: object
  readonly collection: string
  /** The version of the request, if it is an older one. */
  readonly version: string | undefined
  /** The collection of the parent in a nested address. */
  readonly parent: string | undefined
  /** The plan that a plan of webhooks has for their record. */
  readonly create: PlainPlan | undefined
  readonly update: PlainPlan | undefined
  /** The list that a plan of a summary has. */
  readonly list: PlainPlan | undefined
  readonly secret: string | undefined
  /** The operations of a transaction, with their plans. */
  readonly operations: readonly (Omit<Operation, 'plan'> & { readonly plan: PlainPlan })[] | undefined
}

/** The parts of plans that are not plain data. */
type Odd = Partial<{
  parent: { readonly resource: Resource }
  create: Plan
  update: Plan
  list: Plan
  secret: () => string
  operations: TransactionPlan['operations']
  refusal: TransactionPlan['refusal']
}>

/** A plan as plain data. */
export function plainPlan(plan: Plan): PlainPlan {
  const { resource, versionResource, ...others } = plan
  const { create, update, list, secret, operations, ...rest } = others as Odd
  const { parent, refusal } = rest
  return {
    rest: {
      ...rest,
      ...(parent && { parent: { ...parent, resource: undefined } }),
      // The thread that writes looks only whether there is one.
      ...(refusal && { refusal: plainError(refusal) }),
    },
    collection: resource.name,
    version: versionResource?.mapping.version,
    parent: parent?.resource.name,
    create: create && plainPlan(create),
    update: update && plainPlan(update),
    list: list && plainPlan(list),
    secret: secret?.(),
    operations: operations?.map((operation) => ({ ...operation, plan: plainPlan(operation.plan) })),
  }
}

/** The plan that was made plain, for a catalog of the same declaration. */
export function planOf<P extends Plan>(catalog: Catalog, plain: PlainPlan): P {
  const { rest, collection, version, parent, create, update, list, secret, operations } = plain
  // Functions of the declaration get these.
  const { parent: place, caller, maker } = rest as Odd & { readonly caller?: object; readonly maker?: object }
  const versionResource = version === undefined ? undefined : resourceOfVersion(catalog, version, collection)
  return {
    ...rest,
    ...(caller && { caller: deepFreeze(caller) }),
    ...(maker && { maker: deepFreeze(maker) }),
    resource: resourceNamed(catalog, collection),
    ...(versionResource && { versionResource }),
    ...(place && parent !== undefined && { parent: { ...place, resource: resourceNamed(catalog, parent) } }),
    ...(create && { create: planOf(catalog, create) }),
    ...(update && { update: planOf(catalog, update) }),
    ...(list && { list: planOf(catalog, list) }),
    ...(secret !== undefined && { secret: () => secret }),
    ...(operations && {
      operations: operations.map((operation) => ({ ...operation, plan: planOf(catalog, operation.plan) })),
    }),
  } as unknown as P
}

function resourceOfVersion(catalog: Catalog, version: string, collection: string): MappedResource | undefined {
  const system = catalog.versions.get(version)?.system.get(collection)
  return (system ?? resourceInVersion(catalog, version, collection)) as MappedResource | undefined
}

function resourceNamed({ resources, system }: Catalog, name: string): Resource {
  return (resources.get(name) ?? system.get(name)) as Resource
}
