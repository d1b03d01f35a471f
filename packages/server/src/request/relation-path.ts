/** Names of filters and sort orders that follow relations: `author.born`, `author.country.name` (WHR-2). */
import { mostSteps } from 'resourced-contract/model/related-conditions'
import { type Relation, relationsOf } from 'resourced-contract/model/relations'
import type { Resource } from 'resourced-contract/model/resource'
import type { Source } from './condition.ts'

/** What a name leads to: relations, and then a name of the last resource. */
export interface RelationPath {
  readonly relations: readonly Relation[]
  readonly resource: Resource
  readonly name: string
}

/**
 * Follows the relations in a name. A name of a resource may have dots itself.
 *
 * @param isOwn whether a resource has a name, with its dots
 * @returns `undefined`: a relation does not exist, or there are more than may be followed
 */
export function pathOf(
  { resource, catalog }: Source,
  text: string,
  isOwn: (resource: Resource, name: string) => boolean,
): RelationPath | undefined {
  const relations: Relation[] = []
  let [from, name] = [resource, text]
  for (;;) {
    const dot = name.indexOf('.')
    if (dot === -1 || isOwn(from, name)) return { relations, resource: from, name }
    const relation = catalog && relationsOf(catalog, from).get(name.slice(0, dot))
    const target = relation && catalog?.resources.get(relation.collection)
    if (relation === undefined || target === undefined || relations.length === mostSteps) return undefined
    relations.push(relation)
    from = target
    name = name.slice(dot + 1)
  }
}
