/** The metrics of all workers as one text: what each of them has counted, added up. */
import type { AggregatorRegistry, MetricObject, Registry } from 'prom-client'
import type { Metrics } from '../observe/metrics.ts'

/** Metrics as a worker reports them. */
export type WorkerMetrics = readonly object[]

/** Adds up metrics of workers, including those that have ended: a counter never falls. */
export interface GatheredMetrics extends Pick<Metrics, 'read'> {
  /** Notes the last report of a worker. */
  note(worker: object, report: WorkerMetrics): void
  /** Keeps what a worker has counted when it ends. */
  ended(worker: object): void
}

/** How long a worker may take to report, in milliseconds; then its last report counts. */
const patience = 2_000

/**
 * Begins to gather.
 *
 * @param workers those that run, and how each reports
 */
export async function gatherMetrics(
  workers: () => ReadonlyMap<object, () => Promise<WorkerMetrics>>,
): Promise<GatheredMetrics> {
  const { AggregatorRegistry, Gauge, Registry } = await import('prom-client')
  const own = new Registry()
  new Gauge({
    name: 'resourced_workers',
    help: 'Processes that serve requests.',
    registers: [own],
    collect() {
      this.set(workers().size)
    },
  })
  const reports = new Map<object, WorkerMetrics>()
  let former: WorkerMetrics = []
  const read = async () => {
    const asked = [...workers()].map(async ([worker, report]) => {
      const found = await Promise.race([report().catch(() => undefined), later()])
      if (found !== undefined) reports.set(worker, found)
    })
    await Promise.all(asked)
    const gathered = sum(AggregatorRegistry, [former, ...reports.values(), await own.getMetricsAsJSON()])
    return gathered.metrics()
  }
  return {
    read,
    note: (worker, report) => void reports.set(worker, report),
    ended(worker) {
      const last = reports.get(worker)
      reports.delete(worker)
      if (last === undefined) return
      const counted = last.filter((metric) => ['counter', 'histogram'].includes((metric as MetricObject).type as never))
      void sum(AggregatorRegistry, [former, counted])
        .getMetricsAsJSON()
        .then((sums) => {
          former = sums
        })
    },
  }
}

function sum(registry: typeof AggregatorRegistry, reports: readonly WorkerMetrics[]): Registry {
  return registry.aggregate(reports.filter(({ length }) => length > 0) as object[])
}

function later(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), patience).unref())
}
