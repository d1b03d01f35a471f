/** A record's validators: its entity tag and its date (CON-2). */
import type { EntityTag } from '../http/fields/entity-tag.ts'
import type { Resource } from '../model/resource.ts'
import type { Validators } from './plan.ts'

/**
 * The opaque tag of a record: its revision, and the shape of its representation, so that a changed
 * declaration changes the tags of records that nobody touched.
 */
export function tagOf(resource: Resource, { revision }: Validators): string {
  return `${revision}-${resource.shape}`
}

/** What preconditions are decided on: the strong tag, and the date in seconds since 1970. */
export function validatorsOf(resource: Resource, validators: Validators): { tag: EntityTag; lastModified: number } {
  return {
    tag: { opaque: tagOf(resource, validators), weak: false },
    lastModified: Math.floor(Date.parse(validators.updatedAt) / 1000),
  }
}
