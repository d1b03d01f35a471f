/** Estimates what a run does to a server, from the cases that will run and the profile. */
import type { Step } from '../case/case.ts'
import { collection as collectionAddress, nestedList } from '../case/references.ts'
import { chooseCollections, type PlannedRun } from './choose-collections.ts'

/** What a run will do, rounded to two digits. */
export interface Effects {
  /** Records that will be created, by collection. */
  readonly records: ReadonlyMap<string, number>
  readonly requests: number
  /** Requests without a credential, or with a wrong one. */
  readonly refused: number
}

/** The records and requests of the trial of one collection. */
const perTrial = { records: 4, requests: 20 }

/** Estimates the effects of a run on a server that answers as the cases demand. */
export function effectsOf({ profile, cases, ...callers }: PlannedRun, used: readonly string[]): Effects {
  const records = new Map<string, number>(used.map((name) => [name, perTrial.records]))
  const add = (name: string, count: number) => {
    if (records.has(name)) records.set(name, (records.get(name) ?? 0) + count)
  }
  let [requests, refused] = [used.length * perTrial.requests, 0]
  for (const one of cases) {
    const chosen = chooseCollections(one, profile, callers)
    const collection = 'collections' in chosen ? chosen.collections[0] : undefined
    if (collection === undefined) continue
    const sum = sumOf(one.steps)
    requests += sum.requests + sum.records
    refused += sum.refused
    if (sum.records === 0) continue
    add(collection.name, sum.records)
    // The records need one record of each collection to which they refer.
    for (const parent of new Set(Object.values(collection.references))) add(parent, 1)
  }
  return {
    records: new Map([...records].map(([name, count]) => [name, rounded(count)])),
    requests: rounded(requests),
    refused: rounded(refused),
  }
}

interface Sum {
  readonly records: number
  readonly requests: number
  readonly refused: number
}

function sumOf(steps: readonly Step[]): Sum {
  return steps.map(effectOf).reduce(added, { records: 0, requests: 0, refused: 0 })
}

function added(left: Sum, right: Sum): Sum {
  return {
    records: left.records + right.records,
    requests: left.requests + right.requests,
    refused: left.refused + right.refused,
  }
}

function effectOf(step: Step): Sum {
  switch (step.kind) {
    case 'create':
      return { records: step.count ?? 1, requests: step.count ?? 1, refused: 0 }
    case 'outgrow':
      return { records: step.most, requests: step.most, refused: 0 }
    case 'walk':
      return added(sumOf(step.between ?? []), { records: 0, requests: 3, refused: 0 })
    case 'together':
      return sumOf(step.asks)
    case 'ask': {
      const { method, to, caller } = step.request
      const times = step.times ?? 1
      const isRefused = caller === 'nobody' || caller === 'wrong'
      const creates = method === 'POST' && (to === collectionAddress || to === nestedList) && !isRefused
      return { records: creates ? times : 0, requests: times, refused: isRefused ? times : 0 }
    }
    default:
      return { records: 0, requests: step.kind === 'only' || step.kind === 'wait' ? 0 : 2, refused: 0 }
  }
}

/** Rounds up to two digits. */
function rounded(count: number): number {
  if (count < 10) return count
  const step = 10 ** (String(count).length - 2)
  return Math.ceil(count / step) * step
}
