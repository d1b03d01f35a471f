/**
 * The steps of a migration about events: the triggers that write them are created, replaced or dropped in the
 * transaction that changes their table. So no change of another server is without its event, and what a migration
 * itself writes is none.
 */
import type { TableSpec } from '../sql/tables.ts'
import type { MigrationDialect } from './migration-dialect.ts'
import { type MigrationStep, step } from './migration-step.ts'
import type { FoundSchema } from './schema.ts'

type Found = Pick<FoundSchema, 'triggers' | 'schemaName'>

/** Adds steps to those that change tables: first the triggers go that have to, and at the end the others come. */
export function planTriggers(
  dialect: MigrationDialect,
  { triggers, schemaName }: Found,
  desired: readonly TableSpec[],
  steps: readonly MigrationStep[],
): MigrationStep[] {
  const wanted = desired.flatMap(({ name: table, events }) =>
    events === undefined ? [] : [{ table, triggers: dialect.eventTriggers(table, events) }],
  )
  const definitions = new Map(
    wanted.flatMap((each) => each.triggers.map(({ name, definition }) => [name, definition(schemaName)])),
  )
  const altered = alteredBy(dialect, steps)
  const isReplaced = dialect.silence !== 'without-triggers'
  const gone = triggers.filter(({ owner, name, definition }) => {
    if (altered.has(owner) || !definitions.has(name)) return true
    return !isReplaced && definitions.get(name) !== definition
  })
  const kept = new Map(triggers.filter((each) => !gone.includes(each)).map((each) => [each.name, each.definition]))
  const creations = wanted.flatMap((each) => {
    const missing = each.triggers.filter(({ name }) => kept.get(name) !== definitions.get(name))
    if (missing.length === 0) return []
    const statements = missing.flatMap((trigger) => trigger.statements(schemaName))
    return [
      step(
        each.table,
        { kind: 'create-triggers', statements },
        `create the triggers of ${each.table} that write events`,
      ),
    ]
  })
  return [...drop(gone), ...steps, ...creations]
}

/** Adds the steps that a change of names needs: `planTriggers` plans the triggers of the new names afterwards. */
export function withoutTriggers(
  dialect: MigrationDialect,
  { triggers }: Found,
  steps: readonly MigrationStep[],
): MigrationStep[] {
  if (triggers.length === 0) return [...steps]
  const altered = alteredBy(dialect, steps)
  const renamed = steps.flatMap((each) =>
    each.kind === 'rename-table'
      ? [step(each.table, { kind: 'rename-events', to: each.to }, `rename the events of ${each.table}`)]
      : [],
  )
  return [...drop(triggers.filter(({ owner }) => altered.has(owner))), ...steps, ...renamed]
}

/** The tables that steps change while no trigger may be there. */
function alteredBy(dialect: MigrationDialect, steps: readonly MigrationStep[]): ReadonlySet<string> {
  if (dialect.silence !== 'without-triggers') return new Set()
  return new Set(steps.filter(({ kind }) => altering.has(kind)).map(({ table }) => table))
}

const altering = new Set<MigrationStep['kind']>([
  'drop-table',
  'add-column',
  'drop-column',
  'change-type',
  'fill-default',
  'number-records',
  'derive-column',
  'rename-table',
  'rename-columns',
  'convert-column',
])

function drop(triggers: Found['triggers']): MigrationStep[] {
  return [...Map.groupBy(triggers, ({ owner }) => owner)].map(([table, own]) =>
    step(
      table,
      { kind: 'drop-triggers', triggers: own.map(({ name }) => name) },
      `drop the triggers of ${table} that write events`,
    ),
  )
}
