/**
 * Metrics in the format of Prometheus (OPS-1, OPS-7). Labels are words of the declaration, of the contract and of HTTP,
 * and nothing that clients send (SEC-3), so that the number of series is limited. For versions with an end, a limited
 * number of callers' ids are labels too. They are served to administrators at `/health/metrics`, and over plain HTTP on
 * a port of their own that clients of the interface do not reach.
 */

import type { Metric } from 'prom-client'
import { withoutCredentials } from 'resourced-contract/model/text'
import { everyMethod } from '../../request/target.ts'
import { isLeaving } from '../../versions/versions.ts'
import type { Observation, Observe } from './observe.ts'
import { packageVersion } from './package-version.ts'

/** Collected metrics. */
export interface Metrics {
  /** Subscribe it to an application. */
  readonly observe: Observe
  /** The media type of the text. */
  readonly contentType: string
  /** Everything as it is now, as text. */
  read(): Promise<string>
  /** The same as data, which `prom-client` adds up for several workers. */
  report(): Promise<readonly object[]>
}

/** Changes in a commit: one, unless many arrive at once. */
const changeBuckets = [1, 2, 4, 8, 16, 32, 64, 128, 256]

/** Seconds; durations of observations are milliseconds. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

const methods = new Set(everyMethod)

/**
 * Begins to collect metrics: of requests and jobs, and of the process, its memory and its event loop.
 *
 * @example
 * const metrics = await collectMetrics()
 * const app = createApp(declaration, { observe: metrics.observe })
 */
export async function collectMetrics(): Promise<Metrics> {
  // Servers without metrics start faster without the module.
  const { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } = await import('prom-client')
  const registry = new Registry()
  const registers = [registry]
  const requests = countRequests()
  new Counter({
    name: 'resourced_requests_total',
    help: 'Requests answered.',
    labelNames: ['method', 'route', 'status'],
    registers,
    collect() {
      this.reset()
      for (const { labels, count } of requests.all()) this.inc({ ...labels }, count)
    },
  })
  // A registry only asks for the name and the values.
  registry.registerMetric(requests.durations as unknown as Metric)
  const commitDurations = new Histogram({
    name: 'resourced_commit_duration_seconds',
    help: 'How long commits took, from their first statement until they were on the disk.',
    buckets,
    registers,
  })
  const commitChanges = new Histogram({
    name: 'resourced_commit_changes',
    help: 'How many changes were decided in one commit.',
    buckets: changeBuckets,
    registers,
  })
  const versions = countVersions()
  new Counter({
    name: 'resourced_version_requests_total',
    help: 'Requests for each version; of those that are to go, for each caller.',
    labelNames: ['version', 'caller'],
    registers,
    collect() {
      this.reset()
      for (const { version, caller, requests } of versions.counts()) this.inc({ version, caller }, requests)
    },
  })
  let running = 0
  new Gauge({
    name: 'resourced_requests_in_flight',
    help: 'Requests not answered yet.',
    registers,
    collect() {
      this.set(running)
    },
  })
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter({ name: `resourced_${name}_total`, help, labelNames, registers })
  const unreadable = counter('unreadable_requests', 'Requests that could not be parsed.', 'code')
  const turnedAway = counter('turned_away_requests', 'Requests rejected unread because of overload.')
  const failures = counter('failures', 'Answers of 500 and above.', 'code')
  const refused = counter('credentials_refused', 'Credentials refused, and why.', 'credential', 'reason')
  const commits = counter('commits', 'Commits of changes; long work has commits of its own.')
  const jobs = counter('jobs', 'Jobs that are over.', 'task', 'status')
  const batches = counter('job_batch_failures', 'Batches of jobs that failed; they are tried again.', 'task')
  const openStreams = new Gauge({ name: 'resourced_event_streams_open', help: 'Open streams of events.', registers })
  const endedStreams = counter('event_streams_ended', 'Streams of events that have ended, and why.', 'reason')
  const sentEvents = counter('events_sent', 'Events written to streams.')
  const deliveries = counter('delivery_attempts', 'Attempts to deliver events, and what came of them.', 'to', 'outcome')
  const disabled = counter('webhooks_disabled', 'Webhooks that the server turned off.')
  const refusals = counter('rate_limit_refusals', 'Requests beyond a quota.', 'quota')
  const maintenance = new Gauge({
    name: 'resourced_maintenance',
    help: '1 while maintenance is on, else 0.',
    registers,
    aggregator: 'max',
  })
  const build = new Gauge({
    name: 'resourced_build_info',
    help: 'What runs.',
    labelNames: ['version'],
    registers,
    aggregator: 'first',
  })
  build.set({ version: packageVersion() }, 1)
  collectDefaultMetrics({ register: registry })

  function count(observation: Extract<Observation, { kind: 'request' }>): void {
    const method = methods.has(observation.method) ? observation.method : 'other'
    const { route = 'other', status } = observation
    running--
    versions.count(observation)
    requests.count(method, route, status, observation.duration / 1_000)
    if (status >= 500) failures.inc({ code: observation.code ?? 'other' })
  }

  return {
    contentType: registry.contentType,
    read: () => registry.metrics(),
    report: () => registry.getMetricsAsJSON(),
    observe(observation) {
      switch (observation.kind) {
        case 'arrival':
          running++
          return
        case 'request':
          return count(observation)
        case 'unreadable':
          return unreadable.inc({ code: observation.code })
        case 'turned-away':
          return turnedAway.inc()
        case 'failure':
          return observation.task === undefined ? undefined : batches.inc({ task: observation.task })
        case 'credential-refused':
          return refused.inc({ credential: observation.credential, reason: observation.reason })
        case 'commit':
          commits.inc()
          commitDurations.observe(observation.duration / 1_000)
          return commitChanges.observe(observation.changes)
        case 'job':
          return jobs.inc({ task: observation.task, status: observation.status })
        case 'stream':
          if (observation.state === 'opened') return openStreams.inc()
          openStreams.dec()
          return endedStreams.inc({ reason: observation.reason })
        case 'events-sent':
          return sentEvents.inc(observation.events)
        case 'delivery':
          return deliveries.inc({ to: observation.to, outcome: observation.outcome })
        case 'webhook-disabled':
          return disabled.inc()
        case 'refusal':
          return refusals.inc({ quota: observation.quota })
        case 'maintenance':
          return observation.tenant === undefined ? maintenance.set(observation.state === 'on' ? 1 : 0) : undefined
      }
    },
  }
}

interface RequestLabels {
  readonly method: string
  readonly route: string
  readonly status: string
}

/** How long the requests of a class of statuses took: how many by bucket (the last has no bound), and all of them. */
interface Durations {
  readonly labels: RequestLabels
  readonly counts: number[]
  seconds: number
}

/** The requests of one status. */
interface RequestSeries {
  readonly labels: RequestLabels
  readonly durations: Durations
  count: number
}

/**
 * Begins to count requests. The library builds a text of the labels of each request to find its series, twice, which
 * takes a tenth of the processor time of a GET in process: so it gets the numbers when they are read.
 */
function countRequests() {
  const routes = new Map<string, Map<string, Map<number, RequestSeries>>>()
  const classes = new Map<string, Durations>()
  const begin = (method: string, route: string, status: number): RequestSeries => {
    const labels = { method, route, status: `${Math.floor(status / 100)}xx` }
    const classKey = `${method} ${route} ${labels.status}`
    const durations = classes.get(classKey) ?? { labels, counts: [...buckets, 0].fill(0), seconds: 0 }
    classes.set(classKey, durations)
    const series = { labels: { method, route, status: String(status) }, durations, count: 0 }
    const methods = routes.get(route) ?? new Map<string, Map<number, RequestSeries>>()
    routes.set(route, methods.set(method, (methods.get(method) ?? new Map()).set(status, series)))
    return series
  }
  const name = 'resourced_request_duration_seconds'
  const help = 'How long requests took until their answer was ready to be sent.'
  const valuesOf = ({ labels, counts, seconds }: Durations) => {
    let total = 0
    const upTo = counts.map((count, index) => {
      total += count
      return { labels: { le: buckets[index] ?? '+Inf', ...labels }, value: total, metricName: `${name}_bucket` }
    })
    const sums = Object.entries({ _sum: seconds, _count: total })
    return [...upTo, ...sums.map(([end, value]) => ({ labels, value, metricName: `${name}${end}` }))]
  }
  return {
    all: () => [...routes.values()].flatMap((methods) => [...methods.values()].flatMap((all) => [...all.values()])),
    durations: {
      name,
      get: async () => {
        const values = [...classes.values()].flatMap(valuesOf)
        return { name, help, type: 'histogram', aggregator: 'sum', values }
      },
    },
    count(method: string, route: string, status: number, seconds: number) {
      // A text of all three as a key would have to be made, and hashed, for each request.
      const series = routes.get(route)?.get(method)?.get(status) ?? begin(method, route, status)
      series.count++
      let bucket = 0
      while (bucket < buckets.length && seconds > buckets[bucket]!) bucket++
      series.durations.counts[bucket]!++
      series.durations.seconds += seconds
    },
  }
}

/** The most callers that are distinguished for each version with an end; all others count as one. */
export const mostCallers = 1_000

// Subjects of tokens have any length, and series are kept as long as the process runs.
const longestCaller = 200

/** The number of requests for a version. */
export interface VersionUse {
  readonly version: string
  /** Empty if callers are not distinguished: for versions without an end, and for unauthenticated callers. */
  readonly caller: string
  readonly requests: number
}

/** Counts requests for versions, and who uses those that will end. */
export interface VersionUsage {
  count(observation: Pick<Extract<Observation, { kind: 'request' }>, 'version' | 'caller'>): void
  counts(): readonly VersionUse[]
}

/** Begins to count requests for versions. */
export function countVersions(): VersionUsage {
  const versions = new Map<string, Map<string, number>>()
  return {
    count({ version, caller = '' }) {
      if (version === undefined) return
      let callers = versions.get(version.name)
      if (callers === undefined) {
        callers = new Map()
        versions.set(version.name, callers)
      }
      const known = isLeaving(version) ? caller : ''
      const before = callers.get(known)
      if (before !== undefined) callers.set(known, before + 1)
      else {
        const name = labelOf(known, callers.size)
        callers.set(name, (callers.get(name) ?? 0) + 1)
      }
    },
    counts: () =>
      [...versions].flatMap(([version, callers]) =>
        [...callers].map(([caller, requests]) => ({ version, caller, requests })),
      ),
  }
}

/** The label of a caller. An issuer may have made a subject of a secret, which is masked (SEC-3). */
function labelOf(caller: string, known: number): string {
  if (caller.length > longestCaller || known >= mostCallers) return 'other'
  return withoutCredentials(caller)
}
