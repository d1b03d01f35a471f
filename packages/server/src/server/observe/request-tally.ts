/**
 * Counts requests and how long they took, by method, route and status. Each request is counted, so this is done without
 * the library of metrics, which takes ten times as long to find the series of its labels.
 */
import type { Histogram, Registry } from 'prom-client'

/** Counts requests. */
export interface RequestTally {
  /** Labels are words of the declaration and of HTTP, so their number is bounded. */
  count(method: string, route: string, status: number, seconds: number): void
}

/** The requests with the same labels: how many took at most so long, by bucket, and how long all of them took. */
interface Tally {
  readonly buckets: number[]
  seconds: number
}

/** By route, method and status. */
type Tallies = Map<string, Map<string, Map<number, Tally>>>

interface Labels {
  readonly method: string
  readonly route: string
  readonly status: string
}

/**
 * Begins to count, and registers the metrics.
 *
 * @param bounds of the buckets, in seconds, ascending
 */
export async function tallyRequests(registry: Registry, bounds: readonly number[]): Promise<RequestTally> {
  const { Counter } = await import('prom-client')
  const tallies: Tallies = new Map()
  const empty = (): Tally => ({ buckets: Array.from({ length: bounds.length + 1 }, () => 0), seconds: 0 })
  const all = () =>
    [...tallies].flatMap(([route, methods]) =>
      [...methods].flatMap(([method, statuses]) =>
        [...statuses].map(([status, tally]) => ({ method, route, status, tally })),
      ),
    )
  new Counter({
    name: 'resourced_requests_total',
    help: 'Requests answered.',
    labelNames: ['method', 'route', 'status'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { tally, ...labels } of all()) this.inc(labels, sum(tally.buckets))
    },
  })
  const name = 'resourced_request_duration_seconds'
  const durations = {
    name,
    async get() {
      const classes = new Map<string, { readonly labels: Labels; readonly tally: Tally }>()
      for (const { method, route, status, tally } of all()) {
        const labels = { method, route, status: `${Math.floor(status / 100)}xx` }
        const key = JSON.stringify(labels)
        const { tally: total } = classes.get(key) ?? { tally: empty() }
        for (const [bucket, count] of tally.buckets.entries()) total.buckets[bucket]! += count
        total.seconds += tally.seconds
        classes.set(key, { labels, tally: total })
      }
      const values = [...classes.values()].flatMap(({ labels, tally: { buckets, seconds } }) => [
        ...buckets.map((_, bucket) => ({
          labels: { le: bounds[bucket] ?? '+Inf', ...labels },
          value: sum(buckets.slice(0, bucket + 1)),
          metricName: `${name}_bucket`,
        })),
        { labels, value: seconds, metricName: `${name}_sum` },
        { labels, value: sum(buckets), metricName: `${name}_count` },
      ])
      const help = 'How long requests took until their answer was ready to be sent.'
      return { name, help, type: 'histogram', aggregator: 'sum', values }
    },
  }
  // A registry only asks for the name and the values.
  registry.registerMetric(durations as unknown as Histogram)
  return {
    count(method, route, status, seconds) {
      const methods = entryOf(tallies, route, () => new Map())
      const statuses = entryOf(methods, method, () => new Map())
      const tally = entryOf(statuses, status, empty)
      let bucket = 0
      while (bucket < bounds.length && seconds > bounds[bucket]!) bucket++
      tally.buckets[bucket]!++
      tally.seconds += seconds
    },
  }
}

/** The value of a key, which is made where there is none. */
function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}
