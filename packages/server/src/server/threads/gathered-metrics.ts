/** The metrics of all threads as one text: what each of them has counted, added up. */
import type { AggregatorRegistry, MetricObject, Registry } from 'prom-client'
import type { Metrics } from '../observe/metrics.ts'

/** Metrics as a thread reports them. */
export type ThreadMetrics = readonly object[]

/** Adds up metrics of threads, including those that have ended: a counter never falls. */
export interface GatheredMetrics extends Pick<Metrics, 'read'> {
  /** Notes the last report of a thread. */
  note(thread: object, report: ThreadMetrics): void
  /** Keeps what a thread has counted when it ends. */
  ended(thread: object): void
}

/** How long a thread may take to report, in milliseconds; then its last report counts. */
const patience = 2_000

/** What is known of the threads that run. */
interface Threads {
  /** How many answer requests. */
  count(): number
  /** How each of them reports. */
  reports(): ReadonlyMap<object, () => Promise<ThreadMetrics>>
}

/** Begins to gather. */
export async function gatherMetrics(threads: Threads): Promise<GatheredMetrics> {
  const { AggregatorRegistry, collectDefaultMetrics, Gauge, Registry } = await import('prom-client')
  const own = new Registry()
  new Gauge({
    name: 'resourced_workers',
    help: 'Threads that answer requests.',
    registers: [own],
    collect() {
      this.set(threads.count())
    },
  })
  // What is true of the process is read once.
  const ofProcess = new Registry()
  collectDefaultMetrics({ register: ofProcess })
  const reports = new Map<object, ThreadMetrics>()
  let former: ThreadMetrics = []
  const read = async () => {
    const asked = [...threads.reports()].map(async ([thread, report]) => {
      const found = await Promise.race([report().catch(() => undefined), later()])
      if (found !== undefined) reports.set(thread, found.filter((metric) => !isOfProcess(metric)))
    })
    await Promise.all(asked)
    const shared = (await ofProcess.getMetricsAsJSON()).filter(isOfProcess)
    const gathered = sum(AggregatorRegistry, [former, ...reports.values(), shared, await own.getMetricsAsJSON()])
    return gathered.metrics()
  }
  return {
    read,
    note: (thread, report) => void reports.set(thread, report.filter((metric) => !isOfProcess(metric))),
    ended(thread) {
      const last = reports.get(thread)
      reports.delete(thread)
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

function isOfProcess(metric: object): boolean {
  return (metric as MetricObject).name.startsWith('process_')
}

function sum(registry: typeof AggregatorRegistry, reports: readonly ThreadMetrics[]): Registry {
  return registry.aggregate(reports.filter(({ length }) => length > 0) as object[])
}

function later(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), patience).unref())
}
