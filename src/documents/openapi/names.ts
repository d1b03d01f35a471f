/** The names that a resource goes by in the document: stable, for clients are generated from them. */
import { pluralOf } from '../../model/plural.ts'
import type { Catalog } from '../../model/resource.ts'
import { sharedSchemas } from './shared-schemas.ts'

/** The names of one resource. */
export interface ResourceNames {
  /** `LineItem` */
  readonly one: string
  /** `LineItems` */
  readonly many: string
}

const suffixes = ['', 'Page', 'Selection', 'Deleted', 'Create', 'CreateNested', 'Replace', 'Patch'] as const

/**
 * The names of all resources, by collection. A singular whose components would clash with others' gives way to the
 * plural, and that to the plural with `Resource` after it.
 */
export function namesOf(catalog: Catalog): ReadonlyMap<string, ResourceNames> {
  const taken = new Set<string>(Object.keys(sharedSchemas))
  const names = new Map<string, ResourceNames>()
  // The system's first: their names are the same in every document.
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

// What no ending tells: tried first, against the plurals that collection names are checked by.
const irregular =
  `person child man woman foot tooth mouse leaf knife life shelf bus cache analysis basis crisis thesis axis
  news series species equipment`.split(/\s+/)

/** The singular of a collection's name (`line-items`: `line-item`), or the name itself where none is known. */
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
