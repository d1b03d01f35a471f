/** Estimates what a check does to a server, from the cases that will run and from what discovery found. */
import type { Step } from '../case/case.ts'
import { collection as collectionAddress, nestedList } from '../case/references.ts'
import type { CollectionProfile, Profile } from '../profile/profile.ts'
import { chooseCollections, type PlannedRun } from './choose-collections.ts'

/** What a check will do, in round numbers. */
export interface Effects {
  /** Records that will be created, by collection. */
  readonly records: ReadonlyMap<string, number>
  readonly requests: number
  /** Requests without a credential, or with a wrong one. */
  readonly refused: number
}

// To try a collection before the cases run takes so many records.
const perTrial = 4

interface Sum {
  records: number
  requests: number
  refused: number
}

/** Estimates the effects of a run on a server that answers as the cases demand. */
export function effectsOf({ profile, cases, hasKey, hasOther }: PlannedRun, used: readonly string[]): Effects {
  const records = new Map<string, number>(used.map((name) => [name, perTrial]))
  let [requests, refused] = [used.length * 20, 0]
  for (const one of cases) {
    const chosen = chooseCollections(one, profile, { hasKey, hasOther })
    const collection = 'collections' in chosen ? chosen.collections[0] : undefined
    if (collection === undefined) continue
    const sum = sumOf(one.steps)
    requests += sum.requests + sum.records
    refused += sum.refused
    if (sum.records === 0) continue
    for (const [name, count] of [[collection.name, sum.records] as const, ...parentsOf(collection, profile)]) {
      if (records.has(name)) records.set(name, (records.get(name) ?? 0) + count)
    }
  }
  return {
    records: new Map([...records].map(([name, count]) => [name, rounded(count)])),
    requests: rounded(requests),
    refused: rounded(refused),
  }
}

/** One record of each collection that a record refers to. */
function parentsOf({ references }: CollectionProfile, { collections }: Profile): [string, number][] {
  return [...new Set(Object.values(references))].flatMap((name) =>
    collections.some((each) => each.name === name) ? [[name, 1] as [string, number]] : [],
  )
}

function sumOf(steps: readonly Step[]): Sum {
  const sum: Sum = { records: 0, requests: 0, refused: 0 }
  const add = ({ records, requests, refused }: Sum) => {
    sum.records += records
    sum.requests += requests
    sum.refused += refused
  }
  for (const step of steps) {
    if (step.kind === 'create') add({ records: step.count ?? 1, requests: step.count ?? 1, refused: 0 })
    else if (step.kind === 'outgrow') add({ records: step.most, requests: step.most, refused: 0 })
    else if (step.kind === 'walk') {
      add(sumOf(step.between ?? []))
      sum.requests += 3
    } else if (step.kind === 'together') add(sumOf(step.asks))
    else if (step.kind === 'ask') {
      const { method, to, caller } = step.request
      const times = step.times ?? 1
      const creates = method === 'POST' && (to === collectionAddress || to === nestedList)
      const isRefused = caller === 'nobody' || caller === 'wrong'
      add({ records: creates && !isRefused ? times : 0, requests: times, refused: isRefused ? times : 0 })
    } else sum.requests += step.kind === 'only' || step.kind === 'wait' ? 0 : 2
  }
  return sum
}

/** Two digits are as much as an estimate is worth. */
function rounded(count: number): number {
  if (count < 10) return count
  const step = 10 ** (String(count).length - 2)
  return Math.ceil(count / step) * step
}
