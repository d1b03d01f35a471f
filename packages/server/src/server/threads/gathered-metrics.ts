/** The metrics of all threads as one text: what each of them has counted, added up. */
import type { MetricObject, Registry } from 'prom-client'
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
export function gatherMetrics(threads: Threads): GatheredMetrics {
  const reports = new Map<object, ThreadMetrics>()
  /** What threads that have ended had counted. Several may end at once, so that each sum waits for the one before. */
  let former: Promise<ThreadMetrics> = Promise.resolve([])
  /** What threads have reported, with what is true of the process once. */
  const reported = () => {
    const [one = [], ...others] = reports.values()
    return [one, ...others.map((report) => report.filter((metric) => !isOfProcess(metric)))]
  }
  return {
    async read() {
      const asked = [...threads.reports()].map(async ([thread, report]) => {
        const found = await Promise.race([report().catch(() => undefined), later()])
        if (found !== undefined) reports.set(thread, found)
      })
      await Promise.all(asked)
      const present = [...reported(), [workers(threads.count())]]
      return (await sum([await former, ...present])).metrics()
    },
    note: (thread, report) => void reports.set(thread, report),
    ended(thread) {
      const last = reports.get(thread)
      reports.delete(thread)
      if (last === undefined) return
      const counted = last.filter((metric) => isCounted(metric) && !isOfProcess(metric))
      former = former.then(async (before) => (await sum([before, counted])).getMetricsAsJSON())
    },
  }
}

function workers(count: number): object {
  const words = { name: 'resourced_workers', help: 'Threads that answer requests.', type: 'gauge' }
  return { ...words, aggregator: 'sum', values: [{ value: count, labels: {} }] }
}

function isCounted(metric: object): boolean {
  return ['counter', 'histogram'].includes(String((metric as MetricObject).type))
}

function isOfProcess(metric: object): boolean {
  return (metric as MetricObject).name.startsWith('process_')
}

async function sum(reports: readonly ThreadMetrics[]): Promise<Registry> {
  const { AggregatorRegistry } = await import('prom-client')
  return AggregatorRegistry.aggregate(reports.filter(({ length }) => length > 0) as object[])
}

function later(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), patience).unref())
}
