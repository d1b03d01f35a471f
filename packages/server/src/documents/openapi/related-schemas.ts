/** The schemas of responses with related records (REL-2). */
import type { Resource } from 'resourced-contract/model/resource'
import { type Json, object, refTo } from './components.ts'

/** The name of the schema of a record. */
interface RecordName {
  readonly one: string
}

const included = 'ApiIncluded'
const related = 'ApiRelated'

/** The names of the schemas that these responses have in common. */
export const relatedNames: readonly string[] = [included, related]

/** The properties that a page has beside its own, if the request includes related records. */
export const relatedProperties: Json = { included: refTo('schemas', included), related: refTo('schemas', related) }

/** The schema of a record with its related records, by name. */
export function relatedSchema({ one }: RecordName): Json {
  const properties = { data: refTo('schemas', one), ...relatedProperties }
  return { [`${one}WithRelated`]: object(properties, Object.keys(properties)) }
}

/** The schemas of related records. `x-repeats`: they are those of their own operations, so a comparison skips them. */
export function includedSchemas(resources: readonly Resource[], nameOf: (resource: Resource) => RecordName): Json {
  const collections = resources.map((resource): [string, Json] => {
    const record = refTo('schemas', nameOf(resource).one)
    return [resource.name, { type: 'object', 'x-repeats': true, additionalProperties: record }]
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
