/** Search in versions that do not show all texts that are searched (QRY-5, AUT-9). */
import type { ReadPage } from '../../plan/plan.ts'
import { searchColumns } from '../sql/tables.ts'

/**
 * The columns in which a version searches, where they are fewer than those of the index: the index finds records by any of its
 * texts, so that the words have to be looked for in these texts once more. `undefined`: the index decides.
 */
export function searchedTexts({ resource, shown }: Pick<ReadPage, 'resource' | 'shown'>): string[] | undefined {
  const lens = shown?.lens
  if (shown === undefined || lens === undefined) return undefined
  const columns = shown.fields.flatMap(({ name, search }) => (search ? (lens.stored.get(name) ?? []) : []))
  return searchColumns(resource).every((name) => columns.includes(name)) ? undefined : columns
}
