/** Two reports of one server: what got better, and what worse. */
import type { Report } from '../run/check.ts'
import type { Verdict } from '../run/verdict.ts'
import { format } from './json.ts'

const good: ReadonlySet<unknown> = new Set<Verdict>(['holds'])
const bad: ReadonlySet<unknown> = new Set<Verdict>(['fails', 'advice'])

/**
 * What has changed since an earlier report, as text.
 *
 * @param before what `jsonReport` wrote, parsed
 * @throws Error where it is something else
 */
export function compareReports(before: unknown, after: Pick<Report, 'rules'>): string {
  const earlier = casesOf(before)
  const better: string[] = []
  const worse: string[] = []
  const other: string[] = []
  const now = after.rules.flatMap(({ cases }) => cases)
  for (const { id, title, verdict } of now) {
    const was = earlier.get(id)
    if (was === verdict) continue
    const line = `  ${id}  ${title}: ${was ?? 'not there'} → ${verdict}`
    if (bad.has(verdict)) worse.push(line)
    else if (good.has(verdict)) better.push(line)
    else other.push(line)
  }
  const gone = [...earlier.keys()].filter((id) => !now.some((each) => each.id === id))
  other.push(...gone.map((id) => `  ${id}: ${earlier.get(id)} → not asked`))
  if (better.length + worse.length + other.length === 0) return 'Nothing has changed.\n'
  const part = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? [] : [`${title} (${lines.length})`, ...lines, '']
  return `${[...part('Worse', worse), ...part('Better', better), ...part('Otherwise', other)].join('\n').trimEnd()}\n`
}

function casesOf(report: unknown): Map<string, string> {
  const { format: found, rules } = (report ?? {}) as { format?: unknown; rules?: unknown }
  if (found !== format || !Array.isArray(rules)) throw new Error(`it is no report that --save wrote (${format})`)
  const cases = rules.flatMap((rule: { cases?: readonly { id: string; verdict: string }[] }) => rule.cases ?? [])
  return new Map(cases.map(({ id, verdict }) => [id, verdict]))
}
