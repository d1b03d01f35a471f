/** The schemas of responses with related records (REL-2). */
import type { Resource } from 'resourced-contract/model/resource'
import { type Json, object, refTo } from './components.ts'
import type { ResourceNames } from './schemas.ts'

const included = 'ApiIncluded'
const related = 'ApiRelated'

/** The names of the schemas that these responses have in common. */
export const relatedNames: readonly string[] = [included, related]

/** The schemas of a record and a page of a resource with related records, by name (REL-2). */
export function relatedSchemas({ one }: ResourceNames): Json {
  const members = { included: refTo('schemas', included), related: refTo('schemas', related) }
  const page = { data: { type: 'array', items: refTo('schemas', one) }, pagination: refTo('schemas', 'ApiPagination') }
  const withRelated = (own: Json) => object({ ...own, ...members }, [...Object.keys(own), ...Object.keys(members)])
  return {
    [`${one}WithRelated`]: withRelated({ data: refTo('schemas', one) }),
    [`${one}PageWithRelated`]: withRelated(page),
  }
}

/** The schemas that these have in common. */
export function includedSchemas(resources: readonly Resource[], nameOf: (resource: Resource) => ResourceNames): Json {
  const collections = resources.map((resource): [string, Json] => {
    const record = refTo('schemas', nameOf(resource).one)
    return [resource.name, { type: 'object', additionalProperties: record }]
  })
  const ids = { type: 'array', items: { type: 'string', format: 'uuid' } }
  const next = { type: ['string', 'null'], description: 'The address of the next page of these records.' }
  const total = { type: 'integer', minimum: 0, description: 'The exact number of these records.' }
  const ofRecord = object({ ids, total_count: total, next }, ['ids', 'total_count', 'next'])
  return {
    [included]: {
      description: 'Related records by collection and id.',
      ...object(Object.fromEntries(collections), []),
    },
    [related]: {
      description: 'The ids of related records, by path and by the id of the record that they are related to.',
      type: 'object',
      additionalProperties: { type: 'object', additionalProperties: ofRecord },
    },
  }
}
