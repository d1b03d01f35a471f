/** `resourced migrate`: shows or applies the schema changes that the declaration needs. */
import { planOrApplyMigration } from '../server/open-database.ts'
import { formatSteps } from '../storage/migration/describe.ts'
import { databaseOf, type GivenDatabase } from './database-options.ts'
import { loadCatalog } from './load-declaration.ts'
import { print } from './terminal.ts'

/** Shows the schema changes that a database needs, or applies them. */
export async function migrateCommand(
  file: string | undefined,
  options: GivenDatabase & { readonly apply?: boolean },
): Promise<void> {
  const { steps, applied } = await planOrApplyMigration(
    databaseOf(options),
    await loadCatalog(file),
    options.apply === true,
  )
  if (steps.length === 0) print('The database fits the declaration: nothing to do.\n')
  else
    print(
      `${formatSteps(steps)}\n` +
        `${applied ? 'Done.' : 'Nothing was changed. resourced migrate --apply makes these changes.'}\n`,
    )
}
