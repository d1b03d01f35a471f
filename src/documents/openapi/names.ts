/** The names of a resource in the document. They are stable, because clients are generated from them. */
import { pluralOf } from '../../model/plural.ts'
import type { Catalog } from '../../model/resource.ts'
import { sharedSchemas } from './components.ts'

/** The names of one resource. */
export interface ResourceNames {
  /** `LineItem` */
  readonly one: string
  /** `LineItems` */
  readonly many: string
}

const suffixes = ['', 'Page', 'Selection', 'Deleted', 'Create', 'CreateNested', 'Replace', 'Patch'] as const

/**
 * The names of all resources, by collection. If the components of a singular would have the names of other components,
 * the plural is used; if that is taken too, the plural followed by `Resource`.
 */
export function namesOf(catalog: Catalog): ReadonlyMap<string, ResourceNames> {
  const taken = new Set<string>(Object.keys(sharedSchemas))
  const names = new Map<string, ResourceNames>()
  // System resources come first: their names are the same in every document.
  for (const collection of [...catalog.system.keys(), ...catalog.resources.keys()]) {
    const many = pascal(collection)
    const free = [pascal(singularOf(collection)), many].find((one) => suffixes.every((kind) => !taken.has(one + kind)))
    const one = free ?? `${many}Resource`
    for (const kind of suffixes) taken.add(one + kind)
    names.set(collection, { one, many })
  }
  return names
}

function pascal(name: string): string {
  return name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

// Irregular singulars, tried before the endings. Collection names are checked against the same plurals.
const irregular =
  `person child man woman foot tooth mouse leaf knife life shelf bus cache analysis basis crisis thesis axis
  news series species equipment`.split(/\s+/)

/** The singular of a collection name (`line-items`: `line-item`); the name itself if no singular is known. */
export function singularOf(name: string): string {
  const at = name.lastIndexOf('-') + 1
  const word = name.slice(at)
  const candidates = [
    ...irregular,
    ...[word.replace(/ies$/, 'y'), word.replace(/(ss|x|z|ch|sh)es$/, '$1'), word.replace(/s$/, '')].filter(
      (each) => each !== word,
    ),
  ]
  const singular = candidates.find((candidate) => candidate === word || pluralOf(candidate) === word)
  return name.slice(0, at) + (singular ?? word)
}
