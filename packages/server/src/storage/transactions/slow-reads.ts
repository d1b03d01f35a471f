/**
 * Pages and previews of deletions that may take long to read. On SQLite another thread reads them: what is asked and
 * given is plain data.
 */
import { type Catalog, type MappedResource, type Resource, resourceInVersion } from 'resourced-contract/model/resource'
import type { Outcome } from '../../plan/outcome.ts'
import type { Parent, PreviewDeletion, ReadPage } from '../../plan/plan.ts'
import { BoundedMap } from '../sql/bounded-map.ts'
import type { SqlContext } from '../sql/context.ts'
import type { Transaction } from '../transaction.ts'
import { previewDeletion } from './delete/preview.ts'
import type { EventTotal } from './event-totals.ts'
import { type List, listOf } from './list.ts'
import { Totals } from './memory.ts'
import { pageState, readPage } from './read-page.ts'

/** A total, and the revision of the collections at which it is true. */
type Total = NonNullable<ReturnType<Totals['last']>>

/** A page to be read, as plain data: resources by name. */
export interface PlainPage {
  readonly plan: Omit<ReadPage, 'resource' | 'versionResource' | 'parent'>
  readonly collection: string
  /** The version of the request, if it is an older one. */
  readonly version: string | undefined
  readonly parent: (Omit<Parent, 'resource'> & { readonly collection: string }) | undefined
  /** The total of the list, as far as it is known. */
  readonly total: Total | undefined
  /** The same of a list of events, which is counted onward. */
  readonly events?: EventTotal | undefined
}

/** A page that was read, and what may be remembered of it. */
export interface ReadElsewhere {
  readonly outcome: Outcome
  /** Milliseconds. */
  readonly took: number
  readonly total: Total | undefined
  readonly events: EventTotal | undefined
  readonly tagged: List['tagged']
  /** See `pageState`. */
  readonly state: number
}

/** The page of a plan as plain data. */
export function plainPage(plan: ReadPage, total: Total | undefined, events?: EventTotal): PlainPage {
  const { resource, versionResource, parent, ...rest } = plan
  return {
    plan: rest,
    collection: resource.name,
    version: versionResource?.mapping.version,
    parent: parent && {
      collection: parent.resource.name,
      id: parent.id,
      field: parent.field,
      permitted: parent.permitted,
    },
    total,
    events,
  }
}

function planOf({ catalog }: SqlContext, { plan, collection, version, parent }: PlainPage): ReadPage {
  const versionResource = version === undefined ? undefined : versionResourceOf(catalog, version, collection)
  return {
    ...plan,
    resource: resourceNamed(catalog, collection),
    ...(versionResource && { versionResource: versionResource as MappedResource }),
    parent: parent && { ...parent, resource: resourceNamed(catalog, parent.collection) },
  }
}

function versionResourceOf(catalog: Catalog, version: string, collection: string): Resource | undefined {
  return catalog.versions.get(version)?.system.get(collection) ?? resourceInVersion(catalog, version, collection)
}

function resourceNamed({ resources, system }: Catalog, name: string): Resource {
  return (resources.get(name) ?? system.get(name)) as Resource
}

/** Makes the reader of pages of a thread. It keeps lists, so that their statements are built once. */
export function pageReader(context: SqlContext): (asked: PlainPage) => Transaction<ReadElsewhere> {
  const lists = new BoundedMap<List>(100)
  return function* page(asked) {
    const started = performance.now()
    const plan = planOf(context, asked)
    const memory = { clocks: new Map(), totals: new Totals(), lists }
    const list = listOf(context, memory, plan)
    if (asked.total !== undefined) memory.totals.set(list.totalKey, asked.total.revision, asked.total.total)
    if (asked.events !== undefined) memory.totals.events.set(list.totalKey, asked.events)
    const outcome = yield* readPage(context, memory, plan)
    const took = performance.now() - started
    const state = yield* pageState(context, memory, plan)
    const { totals } = memory
    const [total, events] = [totals.last(list.totalKey), totals.events.get(list.totalKey)]
    return { outcome, took, total, events, tagged: list.tagged, state }
  }
}

/** A preview of a deletion to be read, as plain data: its resource by name. */
export type PlainPreview = Omit<PreviewDeletion, 'resource' | 'versionResource'> & { readonly collection: string }

/** The preview of a plan as plain data. */
export function plainPreview({ resource, versionResource: _, ...plan }: PreviewDeletion): PlainPreview {
  return { ...plan, collection: resource.name }
}

/** Reads a preview that another thread has asked for. */
export function readPreview(context: SqlContext, { collection, ...plan }: PlainPreview): Transaction<Outcome> {
  return previewDeletion(context, { ...plan, resource: resourceNamed(context.catalog, collection) })
}
