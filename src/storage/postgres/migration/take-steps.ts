/** The steps of a migration in their order, in one transaction: weighed, and taken. */
import type { ClientBase } from 'pg'
import type { MigrationStep } from '../../migration/migration-step.ts'
import { weigh } from '../../migration/weigh.ts'
import { postgres } from '../engine.ts'
import type { IndexStep } from './build-indexes.ts'
import { fillMade, isMadeStep } from './made-columns.ts'
import type { FoundSchema } from './schema.ts'
import { query } from './session.ts'
import { lockTables } from './table-locks.ts'
import { answer, takeStep } from './take-step.ts'

/** What came of steps: each as it was weighed, and those that make indexes of tables that are there, which are left. */
export interface Taken {
  readonly steps: readonly MigrationStep[]
  readonly later: readonly IndexStep[]
}

/** Weighs and takes steps in their order, save for indexes of tables that are there. */
export async function takeSteps(
  client: ClientBase,
  planned: readonly MigrationStep[],
  { schema, now, lockWait }: { schema: FoundSchema; now: number; lockWait: number },
): Promise<Taken> {
  const later = planned.filter(isIndexStep).filter((step) => !isCreated(step.table, planned))
  const isTaken = (step: MigrationStep) => !later.some((each) => each === step && isIndexAlone(each, planned, schema))
  const present = new Set(schema.tables.map((table) => table.name))
  await lockTables(client, planned.filter(isTaken), present, lockWait)
  // By the last of them all that they are made from is final.
  const made = Map.groupBy(planned.filter(isMadeStep).filter(isTaken), (step) => step.table)
  const steps: MigrationStep[] = []
  for (const step of planned) {
    const weighed = step.question === undefined ? step : weigh(step, await answer(client, step.question))
    steps.push(weighed)
    if (weighed.impossible || !isTaken(step)) continue
    if (!isMadeStep(step)) await takeStep(client, weighed, now)
    else if (step === made.get(step.table)?.at(-1)) await fillMade(client, step.table, made.get(step.table)!)
    if (step.kind === 'build-search' && !present.has(step.table))
      await query(client, postgres.createSearch(step.search))
  }
  return { steps, later }
}

function isIndexStep(step: MigrationStep): step is IndexStep {
  return step.kind === 'create-index' || step.kind === 'build-search'
}

/** Whether a step makes an index and nothing else: of a full-text index, the words may be in place already. */
function isIndexAlone(step: IndexStep, planned: readonly MigrationStep[], { words }: FoundSchema): boolean {
  if (step.kind === 'create-index') return true
  if (words.get(step.table)?.join() !== step.search.columns.join()) return false
  return !planned.some((each) => each.table === step.table && rewriting.has(each.kind))
}

const rewriting = new Set<MigrationStep['kind']>(['add-column', 'change-type', 'fill-default', 'drop-column'])

/** Whether a table is made by steps: nobody else has it yet. */
export function isCreated(table: string, planned: readonly MigrationStep[]): boolean {
  return planned.some((step) => step.kind === 'create-table' && step.table === table)
}
