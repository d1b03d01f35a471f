/** Reads Prometheus' text format, as far as the server writes it. */

export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const line = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const label = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

export function readMetrics(text: string): Sample[] {
  return text.split('\n').flatMap((each) => {
    const [, name, labels = '', value] = line.exec(each) ?? []
    if (name === undefined || each.startsWith('#')) return []
    const pairs = [...labels.matchAll(label)].map(([, key = '', content = '']) => [key, unescaped(content)])
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }]
  })
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character))
}

/** The sum of the samples of a metric by the value of a label, the greatest first. */
export function sumBy(samples: readonly Sample[], name: string, by: string): [string, number][] {
  const sums = new Map<string, number>()
  for (const sample of samples) {
    if (sample.name !== name) continue
    const key = sample.labels[by] ?? ''
    sums.set(key, (sums.get(key) ?? 0) + sample.value)
  }
  return [...sums].sort(([, one], [, other]) => other - one)
}

export function sumOf(samples: readonly Sample[], name: string): number {
  return samples.filter((sample) => sample.name === name).reduce((sum, { value }) => sum + value, 0)
}

/** Fewer observations say nothing about a hundredth of them: the first requests of a server are its slowest. */
const fewest = 100

/**
 * The value below which a share of all observations of a histogram lies: the bound of its bucket. Beyond the last
 * bucket it is the bound before, and the value is not within.
 *
 * @returns `undefined` if too little was observed
 */
export function quantile(
  samples: readonly Sample[],
  name: string,
  share: number,
): { readonly bound: number; readonly isWithin: boolean } | undefined {
  const buckets = sumBy(samples, `${name}_bucket`, 'le')
    .map(([bound, count]) => [bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound), count] as const)
    .sort(([one], [other]) => one - other)
  const total = buckets.at(-1)?.[1] ?? 0
  if (total < fewest) return undefined
  const [bound = 0] = buckets.find(([, count]) => count >= share * total) ?? []
  const isWithin = Number.isFinite(bound)
  return { bound: isWithin ? bound : (buckets.at(-2)?.[0] ?? 0), isWithin }
}
