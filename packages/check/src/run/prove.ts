/** Proves what a case needs of a collection, once in a run: it is not judged by what the server does not have. */
import type { Case } from '../case/case.ts'
import { isChanging } from '../case/define.ts'
import type { Need } from '../case/needs.ts'
import { proofs, toProve } from '../case/proofs.ts'
import type { CollectionProfile } from '../profile/profile.ts'
import { withSeed } from '../values/random.ts'
import type { RunContext } from './context.ts'
import { newMark, type Outcome, runCase } from './run-case.ts'

/** Proofs of a run, by what is proved and the collection. */
export type Proved = Map<string, Promise<Outcome>>

/** What a collection lacks for a case; `undefined` if it has shown all that the case needs. */
export async function lackingFor(
  one: Case,
  run: RunContext & { readonly collection: CollectionProfile },
  proved: Proved,
  { signal, readOnly = false }: { readonly signal?: AbortSignal | undefined; readonly readOnly?: boolean | undefined },
): Promise<Exclude<Outcome, { kind: 'judged' }> | undefined> {
  for (const need of toProve(one, run.collection)) {
    if (readOnly && isChanging(proofs[need]?.steps ?? [])) {
      return { kind: 'not set up', why: 'what it needs can only be shown by requests that are not safe' }
    }
    const name = `${need} ${run.collection.path}`
    const outcome = proved.get(name) ?? withSeed(run.seed, name, () => prove(need, run, signal))
    proved.set(name, outcome)
    const shown = await outcome
    if (shown.kind !== 'judged') return shown
  }
  return undefined
}

function prove(
  need: Need,
  run: RunContext & { readonly collection: CollectionProfile },
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const { steps = [], expect = [] } = proofs[need] ?? {}
  // Where records cannot be created or deleted again, the existing ones must do.
  const mayCreate = run.collection.operations.includes('create')
  const permitted = mayCreate ? steps : steps.filter(({ kind }) => kind !== 'create')
  return runCase({ steps: permitted, expect }, run, newMark(), signal)
}
