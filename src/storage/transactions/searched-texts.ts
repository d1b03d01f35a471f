/** Search in versions that do not show all texts that are searched (QRY-5, AUT-9). */
import type { ReadPage } from '../../plan/plan.ts'
import { searchColumns } from '../sql/tables.ts'

/**
 * The columns in which a version searches, where they are fewer than those of the index: the index finds records by any of its
 * texts, so that the words have to be looked for in these texts once more. `undefined`: the index decides.
 */
export function searchedTexts({
  resource,
  versionResource,
}: Pick<ReadPage, 'resource' | 'versionResource'>): string[] | undefined {
  if (versionResource === undefined) return undefined
  const { fields, mapping } = versionResource
  const columns = fields.flatMap(({ name, search }) => (search ? (mapping.toStored.get(name) ?? []) : []))
  return searchColumns(resource).every((name) => columns.includes(name)) ? undefined : columns
}
