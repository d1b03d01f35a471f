/** A test for each fault: clients work while it happens, and nothing is lost. */
import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomFrom, seedOfRun } from '../durability/random.ts'
import { assertNone, check, type Findings } from './checks.ts'
import { Cluster, type Route, whyNoCluster, whyNoPartition } from './cluster.ts'
import type { Fault } from './faults.ts'
import { Workload } from './workload.ts'

/** A fault, and how servers reach the database meanwhile. */
export interface Case {
  readonly fault: Fault
  readonly route: Route
  /** For how long no change may be acknowledged, in seconds. */
  readonly pause: number
  /** Whether servers read from a replica as well. */
  readonly hasReplica?: boolean
  /** Whether machines must be cut off. */
  readonly needsPartition?: boolean
}

/** The seed of this run. */
export const seed = seedOfRun()

/** Lets a part of a cluster fail while clients work; gives what the checks find afterwards. */
export async function findingsOf(
  context: TestContext,
  cluster: Cluster,
  { fault, route, hasReplica = false }: Pick<Case, 'fault' | 'route' | 'hasReplica'>,
): Promise<{ readonly findings: Findings; readonly pause: number }> {
  context.diagnostic(`SEED=${seed}`)
  const replica = hasReplica ? await cluster.only('replica') : undefined
  const workload = await Workload.start(context, {
    ...{ cluster, route, random: randomFrom(seed) },
    ...(replica && { replica: (database: string) => cluster.urlAt(replica, database) }),
  })
  await sleep(1_000)
  const since = performance.now()
  await fault(cluster, async () => {
    // What was on its way when the fault began may still be answered.
    await sleep(3_000)
    await workload.succeeded()
    await sleep(1_000)
  })
  await cluster.healthy()
  return check(context, cluster, workload, since)
}

/** Tests cases, one after the other, on one cluster. */
export function survives(cases: Readonly<Record<string, Case>>, options?: Parameters<typeof Cluster.start>[0]): void {
  let cluster: Cluster
  before(async () => {
    if (whyNoCluster === undefined) cluster = await Cluster.start(options)
  })
  after(() => cluster?.stop())
  for (const [name, each] of Object.entries(cases)) {
    const { pause: limit, needsPartition = false } = each
    const skip = (needsPartition ? whyNoPartition : whyNoCluster) ?? false
    test(name, { skip }, async (context) => {
      const { findings, pause } = await findingsOf(context, cluster, each)
      assertNone(findings)
      assert.ok(pause < limit * 1_000, `No change was acknowledged for ${pause} ms.`)
    })
  }
}
