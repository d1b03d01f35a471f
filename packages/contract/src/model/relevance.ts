/** The order by relevance in lists that search (WHR-6). */
import { type Resource, sortableNames } from './resource.ts'

/**
 * The order of how well records match `q` (WHR-6), in `sort`, and as the field of a term. No field has the second name.
 */
export const relevance = { name: 'relevance', field: '_relevance' } as const

/** Whether lists of a resource can be sorted by relevance: words are searched, and no sorted field has its name. */
export function hasRelevance(resource: Pick<Resource, 'fields' | 'order'>): boolean {
  return resource.fields.some(({ search }) => search) && !sortableNames(resource).includes(relevance.name)
}
