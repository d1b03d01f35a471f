/** The addresses that a server's document tells. */
import { jsonOf } from '../client/exchange.ts'
import { isObject, memberPointer, valueAt } from '../values/json.ts'
import type { Expectation, Finding, Observations } from './case.ts'
import { applicableWhere, finding, unless } from './expect.ts'
import type { Reference } from './references.ts'

/** The case is about documents in JSON, which can be read here. */
export function onlyWherePaths(step: Reference): Expectation {
  return applicableWhere((seen) =>
    unless(isObject(pathsOf(seen, step)), 'the OpenAPI document could not be read as JSON'),
  )
}

/** No address of the document is wrong: `test` gets the segments after the base, parameters as `{}`. */
export function everyPath(step: Reference, test: (segments: readonly string[]) => string | undefined): Expectation {
  return (seen): Finding | undefined => {
    for (const path of Object.keys(pathsOf(seen, step) ?? {})) {
      const wrong = test(segmentsOf(path))
      if (wrong === undefined) continue
      return finding(seen.of(step), { pointer: `/paths${memberPointer(path)}` }, `${path}: ${wrong}`)
    }
    return undefined
  }
}

/** The segments of a path of the document after a version; what is no part of the interface has none. */
function segmentsOf(path: string): string[] {
  const segments = path.split('/').filter((segment) => segment !== '')
  if (/^v\d+$/i.test(segments[0] ?? '')) segments.shift()
  if (/^(?:health|docs|openapi|swagger|metrics|\.well-known)\b/.test(segments[0] ?? '')) return []
  return segments.map((segment) => (segment.includes('{') ? '{}' : segment))
}

function pathsOf(seen: Observations, step: Reference): unknown {
  const { answer } = seen.of(step)
  return answer && valueAt(jsonOf(answer), '/paths')
}
