/** Where `Link` (RFC 8288) leads. */
import { type Answer, fieldOf } from './exchange.ts'

/**
 * Targets by relation type, as paths with queries: no other server is ever asked.
 *
 * @param base the address that was asked, which relative targets begin from
 */
export function linksOf(answer: Answer, base: string): ReadonlyMap<string, string> {
  const targets = new Map<string, string>()
  for (const [, target = '', parameters = ''] of (fieldOf(answer, 'Link') ?? '').matchAll(/<([^<>]*)>([^<]*)/g)) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters)
    if (rel === null || !URL.canParse(target, base)) continue
    const { pathname, search } = new URL(target, base)
    for (const type of (rel[1] ?? rel[2] ?? '').toLowerCase().split(/\s+/)) {
      if (!targets.has(type)) targets.set(type, pathname + search)
    }
  }
  return targets
}
