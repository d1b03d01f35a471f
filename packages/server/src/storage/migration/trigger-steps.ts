/**
 * The steps of a migration about triggers: those that write events and those that keep summaries are created, replaced
 * or dropped in the transaction that changes their table. So no change of another server is without its event, and what
 * a migration itself writes is none. Summaries are counted whenever their triggers are created.
 */
import type { Dialect, TableTrigger } from '../sql/dialect.ts'
import { summariesTable } from '../sql/kept-summaries.ts'
import { isOfOperators } from '../sql/system-tables.ts'
import type { TableSpec } from '../sql/tables.ts'
import type { MigrationDialect } from './migration-dialect.ts'
import { is, type MigrationStep, step } from './migration-step.ts'
import type { ExistingTrigger, FoundSchema } from './schema.ts'

type Found = Pick<FoundSchema, 'triggers' | 'schemaName'>

/** Adds steps to those that change tables: first the triggers go that have to, and at the end the others come. */
export function planTriggers(
  dialect: MigrationDialect,
  { triggers, schemaName }: Found,
  desired: readonly TableSpec[],
  steps: readonly MigrationStep[],
): MigrationStep[] {
  const wanted = desired.map((spec) => {
    const { name: table, summaries, totals } = spec
    return { table, summaries, totals, triggers: triggersOf(dialect, spec) }
  })
  const definitions = new Map(
    wanted.flatMap((each) => each.triggers.map(({ name, definition }) => [name, definition(schemaName)])),
  )
  const isInTheWay = blocking(dialect, steps)
  const isEmpty = steps.some(({ kind, table }) => kind === 'create-table' && table === summariesTable)
  const isReplaced = dialect.silence !== 'without-triggers'
  const gone = triggers.filter((each) => {
    if (isInTheWay(each) || !definitions.has(each.name) || (isEmpty && isOfSummaries(each))) return true
    return !isReplaced && definitions.get(each.name) !== each.definition
  })
  const kept = new Map(triggers.filter((each) => !gone.includes(each)).map((each) => [each.name, each.definition]))
  const creations = wanted.flatMap(({ table, summaries, totals, triggers: own }) => {
    const missing = own.filter(({ name }) => kept.get(name) !== definitions.get(name))
    if (missing.length === 0) return []
    const statements = missing.flatMap((trigger) => trigger.statements(schemaName))
    const created = step(table, { kind: 'create-triggers', statements }, `create the triggers of ${table}`)
    const names = summaries.map(({ name }) => name).join(', ')
    const counted = step(table, { kind: 'count-summaries', summaries }, `count the summaries of ${table} (${names})`)
    const added = step(table, { kind: 'count-totals', totals }, `add up the records of ${table}`)
    return [created, ...(missing.some(isOfSummaries) ? [counted] : []), ...(missing.some(isOfTotals) ? [added] : [])]
  })
  return [...drop(gone), ...steps, ...creations]
}

/** The triggers of a table. */
export function triggersOf(dialect: Dialect, spec: TableSpec): TableTrigger[] {
  const { name: table, events, summaries, totals } = spec
  return [
    ...(isOfOperators(spec) ? dialect.tenantTriggers : []),
    ...(events === undefined ? [] : dialect.eventTriggers(table, events)),
    ...dialect.summaryTriggers(table, summaries),
    ...dialect.totalTriggers(table, totals),
  ]
}

/** Adds the steps that a change of names needs: `planTriggers` plans the triggers of the new names afterwards. */
export function withoutTriggers(
  dialect: MigrationDialect,
  { triggers }: Found,
  steps: readonly MigrationStep[],
): MigrationStep[] {
  if (triggers.length === 0) return [...steps]
  const renamed = steps.flatMap((each) =>
    each.kind === 'rename-table' && triggers.some((trigger) => trigger.owner === each.table && isOfEvents(trigger))
      ? [step(each.table, { kind: 'rename-events', to: each.to }, `rename the events of ${each.table}`)]
      : [],
  )
  return [...drop(triggers.filter(blocking(dialect, steps))), ...steps, ...renamed]
}

/** Whether a trigger writes events. */
function isOfEvents({ name }: Pick<ExistingTrigger, 'name'>): boolean {
  return name.startsWith('resourced_changed_')
}

/** Whether a trigger keeps summaries. */
function isOfSummaries({ name }: Pick<ExistingTrigger, 'name'>): boolean {
  return name.startsWith('resourced_kept_')
}

/** Whether a trigger keeps the sums of its table's records. */
function isOfTotals({ name }: Pick<ExistingTrigger, 'name'>): boolean {
  return name.startsWith('resourced_total_')
}

/**
 * Whether steps change a table while a trigger may not be there: that of a summary would count what a migration writes
 * before it counts all records.
 */
function blocking(dialect: MigrationDialect, steps: readonly MigrationStep[]): (trigger: ExistingTrigger) => boolean {
  const altered = new Set(steps.filter(is('altering')).map(({ table }) => table))
  return (trigger) =>
    (altered.has(trigger.owner) && (dialect.silence === 'without-triggers' || isOfSummaries(trigger))) ||
    // They change other tables too.
    (altered.size > 0 && isOfTotals(trigger))
}

function drop(triggers: Found['triggers']): MigrationStep[] {
  return [...Map.groupBy(triggers, ({ owner }) => owner)].map(([table, own]) =>
    step(table, { kind: 'drop-triggers', triggers: own.map(({ name }) => name) }, `drop the triggers of ${table}`),
  )
}
