/**
 * Completes a declaration to a catalog: fills in defaults, resolves names, adds the resources that every interface has
 * (jobs and API keys, which only the server changes), and freezes the result.
 */

import { hash } from 'node:crypto'
import { lookedUpFields } from './access-rules.ts'
import {
  type AccessRule,
  type Action,
  actions,
  type DeletionDeclaration,
  type FieldAccessDeclaration,
  type FieldDeclaration,
  type InterfaceDeclaration,
  type ResourceDeclaration,
} from './declaration.ts'
import { eventKinds, revisionKinds } from './event.ts'
import { completeField, formSums } from './field.ts'
import type { Total } from './kept-summary.ts'
import { completeLimits, mostChangedAtOnce } from './limits.ts'
import { historyCollection } from './names.ts'
import { canonicalJson, deepFreeze, plainCopy } from './plain-copy.ts'
import { nameRelations, sourceOf } from './relations.ts'
import {
  type Catalog,
  type Deletion,
  type Dependent,
  type Field,
  type FieldAccess,
  type Resource,
  recordedNames,
  withIndexes,
} from './resource.ts'
import { parseDuration, parsePeriod } from './time.ts'
import { webhookResources } from './webhook-resources.ts'

/**
 * Completes the current version of a declaration without mistakes (`checkDeclaration`). `completeVersions` adds the
 * older versions. The catalog shares only functions with the declaration.
 *
 * @throws Error of any kind if the declaration has mistakes
 */
export function completeCatalog(declaration: InterfaceDeclaration): Catalog {
  const declared = formSums(plainCopy(declaration)) as InterfaceDeclaration
  const resources = startAll(declared.resources, 'by-clients')
  return deepFreeze<Catalog>({
    name: declared.name,
    title: declared.title ?? titleOf(declared.name),
    description: declared.description,
    version: Object.keys(declared.versions ?? {}).at(-1) ?? 'v1',
    resources: related(resources),
    system: related([
      ...startAll(madeByServer, 'by-server'),
      ...startAll(madeForClients, 'for-clients'),
      ...startEvents(resources),
      ...startHistory(resources),
    ]),
    tenants: completeTenants(declared.tenants),
    authorize: declared.authorize,
    limits: completeLimits(declared.limits),
    versions: new Map(),
  })
}

function startAll(declared: InterfaceDeclaration['resources'], made: Resource['made']): SingleResource[] {
  return Object.entries(declared).map(([name, resource]) => startResource(name, resource, made))
}

function related(resources: readonly SingleResource[]): Map<string, Resource> {
  return new Map(
    resources.map((resource) => [
      resource.name,
      withIndexes({ ...resource, ...relationsOf(resource, resources), ...totalsOf(resource, resources) }),
    ]),
  )
}

/** The sums that other resources keep of the records of this one. */
function totalsOf({ name }: SingleResource, all: readonly SingleResource[]): Pick<Resource, 'totals'> {
  const totals = all.flatMap((parent) =>
    parent.fields.flatMap(({ name: field, sumOf }): Total[] => {
      // Relations are named for few fields: with each, the time would grow with the cube of the number of resources.
      if (sumOf === undefined) return []
      const [relation = '', amount = ''] = sumOf.split('.')
      const found = nameRelations(sourceOf(parent), all.map(sourceOf)).relations.get(relation)
      return found?.collection === name ? [{ collection: parent.name, field, reference: found.field, amount }] : []
    }),
  )
  return totals.length === 0 ? {} : { totals }
}

/** A resource without its relations to other resources. */
type SingleResource = Omit<Resource, 'dependents' | 'children' | 'lookedUp' | 'member' | 'filterables' | 'indexes'>

function startResource(name: string, declared: ResourceDeclaration, made: Resource['made']): SingleResource {
  const fields = Object.entries(declared.fields).map(([field, declaration]) =>
    completeField(
      field,
      declaration as FieldDeclaration,
      field === declared.owner,
      made === 'by-clients' || name === 'webhooks',
    ),
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
    updates: { byFilter: false, above: mostChangedAtOnce, ...declared.updates },
    events: declared.events ?? false,
    history: completeHistory(declared.history),
    order: 'by-id',
    access: completeAccess(declared.access ?? {}),
    prepare: declared.prepare,
    on: declared.on ?? {},
    ...completeFieldAccess(fields, declared.access?.fields ?? {}),
    rules: declared.rules ?? [],
    preconditions: declared.preconditions ?? 'optional',
    maxAge: declared.maxAge ?? 0,
    shape: shapeHash(fields),
    ...completeSummaries(declared.summaries),
  }
}

function completeSummaries(declared: ResourceDeclaration['summaries']): Pick<Resource, 'summaries'> {
  const summaries = Object.entries(declared ?? {}).map(([name, { group, sum = [] }]) => ({
    ...{ name, groups: group, sums: sum },
  }))
  return summaries.length === 0 ? {} : { summaries }
}

function relationsOf(
  { name }: SingleResource,
  all: readonly SingleResource[],
): Pick<Resource, 'dependents' | 'children' | 'lookedUp'> {
  return {
    dependents: all.flatMap((resource) =>
      resource.fields.flatMap(({ name: field, reference }): Dependent[] =>
        reference?.collection === name ? [{ collection: resource.name, field, onDelete: reference.onDelete }] : [],
      ),
    ),
    children: all.filter((resource) => resource.within?.collection === name).map((resource) => resource.name),
    lookedUp: [...new Set(all.flatMap((resource) => lookedUpFields(rulesOf(resource), name)))],
  }
}

function rulesOf({ access, fieldAccess }: Pick<Resource, 'access' | 'fieldAccess'>): AccessRule[] {
  const ofFields = [...(fieldAccess?.values() ?? [])].flatMap(({ read = [], write = [] }) => [...read, ...write])
  return [...Object.values(access).flat(), ...ofFields]
}

function uniqueSets(
  fields: readonly Field[],
  declared: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const single = fields.filter((field) => field.unique).map((field) => [field.name])
  const numbered = fields.flatMap(({ name, sequence }) => {
    if (sequence === undefined) return []
    return [sequence.per === undefined ? [name] : [sequence.per, name]]
  })
  const sets = [...single, ...declared, ...numbered]
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

function completeHistory(declared: ResourceDeclaration['history'] = false): Resource['history'] {
  if (typeof declared === 'boolean') return declared ? { keep: undefined } : undefined
  return { keep: parsePeriod(declared.keep) }
}

function completeAccess(declared: NonNullable<ResourceDeclaration['access']>): Resource['access'] {
  const rulesFor = (action: Action) => [declared[action] ?? 'role:admin'].flat() as AccessRule[]
  return Object.fromEntries(actions.map((action) => [action, rulesFor(action)])) as never
}

function completeFieldAccess(
  fields: readonly Field[],
  declared: Readonly<Record<string, FieldAccessDeclaration>>,
): Pick<Resource, 'fieldAccess'> {
  const rulesOf = (rules: FieldAccessDeclaration['read']) =>
    rules === undefined ? undefined : ([rules].flat() as AccessRule[])
  const entries = fields.flatMap(({ name }): [string, FieldAccess][] => {
    const access = Object.hasOwn(declared, name) ? declared[name] : undefined
    return access === undefined ? [] : [[name, { read: rulesOf(access.read), write: rulesOf(access.write) }]]
  })
  return entries.length === 0 ? {} : { fieldAccess: new Map(entries) }
}

function completeTenants(declared: InterfaceDeclaration['tenants']): Catalog['tenants'] {
  return declared && { create: 'operator', gracePeriod: 'P30D', ...declared }
}

/** A title for a name joined by hyphens: `line-items` is "Line items". */
function titleOf(name: string): string {
  const spaced = name.replaceAll('-', ' ')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

const jobKinds = [
  'deletion', 'bulk-deletion', 'filtered-deletion', 'restoration', 'update', 'purge', 'export',
] as const // biome-ignore format: one row reads best
export type JobKind = (typeof jobKinds)[number]

/** The states of a job (JOB-2). The last two are final. */
const jobStatuses = ['pending', 'running', 'succeeded', 'failed'] as const
export type JobStatus = (typeof jobStatuses)[number]

const instant = { type: 'string', format: 'date-time', optional: true, filter: true, sort: true } as const

/** A resource that every interface has. The server creates its records by itself. */
const madeByServer: InterfaceDeclaration['resources'] = {
  jobs: {
    title: 'Jobs',
    description: 'Background jobs: their kind, progress and result.',
    fields: {
      job_id: { type: 'string', format: 'uuid', description: 'The id once more.' },
      status: { enum: [...jobStatuses], description: 'Final are succeeded and failed.' },
      status_url: { type: 'string', format: 'uri-reference', description: 'Where to ask again.' },
      kind: { enum: [...jobKinds] },
      progress: {
        type: 'object',
        description: 'How many records are done, of how many; the total is null while nobody knows it.',
        properties: { done: { type: 'integer', minimum: 0 }, total: { type: ['integer', 'null'], minimum: 0 } },
        required: ['done', 'total'],
        additionalProperties: false,
      },
      started_at: instant,
      finished_at: instant,
      result: { type: 'object', optional: true, description: 'What came of it, once it has succeeded.' },
      error: { type: 'object', optional: true, description: 'The problem (RFC 9457) that it has failed with.' },
      started_by: { type: 'string', optional: true, filter: true, description: 'Who started it; null: the server.' },
    },
    owner: 'started_by',
    access: { read: ['role:admin', 'owner'], delete: ['role:admin', 'owner'] },
    deletion: { variant: 'hard', bulk: false },
  },
}

const requestId = {
  ...{ type: 'string', optional: true },
  description:
    'The `X-Request-Id` of the request that made the change, the same for all changes of an array, a transaction ' +
    'or a job; null: unknown, or no request.',
} as const

/** A resource whose records are written by triggers of the database, and show the records of others. */
function startRecording(
  name: string,
  shown: readonly SingleResource[],
  declared: Pick<ResourceDeclaration, 'title' | 'description' | 'fields'>,
): SingleResource {
  const access = { read: 'anyone', create: 'nobody', update: 'nobody', delete: 'nobody', restore: 'nobody' } as const
  const deletion = { variant: 'hard', bulk: false } as const
  const started = {
    ...startResource(name, { ...declared, access, deletion }, 'by-server'),
    order: 'by-position',
  } as const
  return { ...started, shape: recordedShape(started, shown) }
}

/** The resource of events, where a resource has them. */
function startEvents(resources: readonly SingleResource[]): SingleResource[] {
  const shown = resources.filter((resource) => resource.events)
  if (shown.length === 0) return []
  const events = startRecording('events', shown, {
    title: 'Events',
    description: 'Events: one for each change of each record, in the order of the changes.',
    fields: {
      collection: {
        ...{ enum: shown.map(({ name }) => name), filter: true },
        description: 'The collection of the record.',
      },
      record: { type: 'string', format: 'uuid', filter: true, description: 'The id of the record.' },
      kind: { enum: [...eventKinds], filter: true, description: 'What happened to the record.' },
      data: {
        ...{ type: 'object', optional: true },
        description: 'The record after the change; null where it was deleted or purged.',
      },
      request_id: requestId,
    },
  })
  return [events, ...startAll(webhookResources, 'for-clients')]
}

/** The resource of revisions, where a resource has a history. */
function startHistory(resources: readonly SingleResource[]): SingleResource[] {
  const shown = resources.filter((resource) => resource.history !== undefined)
  if (shown.length === 0) return []
  const revisions = startRecording(historyCollection, shown, {
    title: 'Revisions',
    description: 'The states of records, each with the change that led to it.',
    fields: {
      // Clients have these two in the address.
      collection: { type: 'string', writeOnly: true },
      record_id: { type: 'string', format: 'uuid', writeOnly: true },
      kind: { enum: [...revisionKinds], description: 'The change that led to the state.' },
      caller: {
        ...{ type: 'string', optional: true },
        description: 'The id of the caller who made the change; null: unknown, or the server.',
      },
      request_id: requestId,
      version: { type: 'string', optional: true, description: 'The version that the change was made in.' },
      record: {
        type: 'object',
        optional: true,
        description: 'The record after the change; null where it was deleted.',
      },
    },
  })
  return [revisions]
}

/** The limits of a key: characters of its subject, number of roles, characters of a role and of its claims as JSON. */
export const keyBounds = { subject: 200, roles: 50, role: 100, claims: 2_000 } as const

/** A resource that every interface has. The server creates and revokes its records when clients ask for it. */
const madeForClients: InterfaceDeclaration['resources'] = {
  'api-keys': {
    title: 'API keys',
    description:
      'API keys: subject, roles, claims and expiry. The key itself is shown once, in the response that creates it.',
    fields: {
      subject: { type: 'string', filter: true, sort: true, description: 'Who calls with it.' },
      roles: { type: 'array', items: { type: 'string' }, description: 'What the caller is.' },
      claims: { type: 'object', optional: true, description: 'The claims of the caller; null: none.' },
      hint: { type: 'string', description: 'How the key begins, to tell keys apart.' },
      expires_at: { ...instant, description: 'From when on it is refused; null: never.' },
      last_used_at: { ...instant, description: 'When it was last used, give or take two minutes; null: never yet.' },
      revoked_at: { ...instant, description: 'Since when it is refused for good; null: it was not revoked.' },
      made_by: {
        ...{ type: 'string', optional: true, filter: true },
        description:
          'Who made it: the id of the API key, or the subject of the token, that the request came with; null: ' +
          'the command line.',
      },
    },
    owner: 'subject',
    access: { read: ['role:admin', 'owner'], create: 'anyone', delete: ['role:admin', 'owner'] },
    deletion: { variant: 'hard', bulk: false },
  },
}

/**
 * A hash of eight characters of the fields' names, order and schemas; the order of keywords does not matter.
 *
 * @param constants the values of fields that have the same value in all records
 */
export function shapeHash(
  fields: readonly Pick<Field, 'name' | 'schema'>[],
  constants: ReadonlyMap<string, unknown> = new Map(),
): string {
  const shape = fields.map(({ name, schema }) =>
    constants.get(name) == null ? [name, schema] : [name, schema, constants.get(name)],
  )
  return hash('sha256', canonicalJson(shape), 'base64url').slice(0, 8)
}

/**
 * The shape of events or revisions, which show a record of one of these resources: a change of a resource changes their
 * entity tags too.
 */
export function recordedShape(
  recording: Pick<Resource, 'name' | 'order' | 'fields'>,
  shown: readonly Pick<Resource, 'name' | 'shape'>[],
): string {
  const shapes = { 'x-shapes': shown.map(({ name, shape }) => `${name} ${shape}`) }
  return shapeHash([...recording.fields, { name: recordedNames(recording).shown, schema: shapes }])
}
