/** What two declarations differ in and their OpenAPI documents do not tell, though clients feel it. */

import { escapeStep } from '../model/place.ts'
import type { Catalog, Resource } from '../model/resource.ts'
import { compareAccess } from './declared/access.ts'
import { compareDeletion } from './declared/deletion.ts'
import { compareFields } from './declared/fields.ts'
import { compareRules } from './declared/rules.ts'
import type { Said } from './declared/said.ts'
import type { Difference } from './finding.ts'

/** Everything in which two catalogs differ beside their documents. */
export function compareCatalogs(old: Catalog, now: Catalog): Difference[] {
  const resources = [...old.resources.values()].flatMap((was) => {
    const is = now.resources.get(was.name)
    return is === undefined ? [] : compareResources(was, is).map((each) => told(now.version, was.name, each))
  })
  return [...resources, ...compareLimits(old, now).map((each) => told(now.version, undefined, each))]
}

function compareResources(was: Resource, is: Resource): Said[] {
  const cached: Said[] =
    is.maxAge > was.maxAge ? [{ kind: 'cached-longer', at: ['maxAge'], before: was.maxAge, after: is.maxAge }] : []
  return [
    ...compareAccess(was, is),
    ...compareDeletion(was, is),
    ...compareFields(was, is),
    ...compareRules(was, is),
    ...cached,
  ]
}

function compareLimits({ limits: was }: Catalog, { limits: is }: Catalog): Said[] {
  const found: Said[] = []
  if (is.bodyBytes < was.bodyBytes) {
    found.push({ kind: 'body-limit-lowered', at: ['limits', 'bodyBytes'], before: was.bodyBytes, after: is.bodyBytes })
  }
  for (const name of ['count', 'bytes'] as const) {
    const [before, after] = [was.exports[name], is.exports[name]]
    if (after < before)
      found.push({ kind: 'export-limit-lowered', at: ['limits', 'exports', name], keyword: name, before, after })
  }
  const rates = [
    ['caller', was.rate.caller, is.rate.caller] as const,
    ...[...is.rate.actions].map(([name, rate]) => [name, was.rate.actions.get(name), rate] as const),
  ]
  for (const [name, before, after] of rates) {
    if (before !== undefined && after.most >= before.most && after.most / after.window >= before.most / before.window)
      continue
    const shown = (rate: typeof before) => rate && `${rate.most} in ${rate.window} s`
    const at = name === 'caller' ? ['limits', 'rate', 'caller'] : ['limits', 'rate', 'actions', name]
    found.push({ kind: 'rate-lowered', at, keyword: name, before: shown(before), after: shown(after) })
  }
  return found
}

function told(version: string, resource: string | undefined, { at, ...said }: Said): Difference {
  const steps = resource === undefined ? at : ['resources', resource, ...at]
  const pointer = steps.map((step) => `/${escapeStep(step)}`).join('')
  return {
    ...said,
    version,
    resources: resource === undefined ? [] : [resource],
    operations: [],
    places: [{ in: 'new', of: 'declaration', pointer }],
  }
}
