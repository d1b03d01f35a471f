/** What an older version makes of plans (VER-2): the drafts of its changes, and the outcome in its terms. */
import type { Draft } from '../model/record.ts'
import { hasConversions, type MappedResource, type RecordValues, type Resource } from '../model/resource.ts'
import { issueFromStored } from '../versions/translate-issue.ts'
import { createToStored, jsonFromStored, recordFromStored, updateToStored } from '../versions/translate-record.ts'
import { bodyOfUpdate, draftOfCreate, draftOfUpdate, indexKeyIssues, needsReading } from './draft.ts'
import type { Create, Outcome, Update } from './plan.ts'

/** The stored record that a POST of any version would make. */
export function draftCreate(plan: Create): Draft {
  const { resource, versionResource } = plan
  if (versionResource === undefined) return withIndexKeys(resource, draftOfCreate(plan))
  const { fromStored } = versionResource.mapping
  const parent = plan.parent && { ...plan.parent, field: fromStored.get(plan.parent.field) ?? '' }
  const draft = draftOfCreate({ ...plan, resource: versionResource, parent })
  return withIndexKeys(resource, createToStored(versionResource, draft, draftOfCreate({ ...plan, body: {} })))
}

/** A draft of a stored record, with an issue for each text that is too long for an index. */
function withIndexKeys(resource: Resource, draft: Draft): Draft {
  const found = indexKeyIssues(resource, draft)
  return found.length === 0 ? draft : { ...draft, issues: [...draft.issues, ...found] }
}

/** What an update makes of a record: a draft, or why there is none. */
type Drafted =
  | { readonly kind: 'draft'; readonly draft: Draft }
  | { readonly kind: 'forbidden' }
  | Exclude<ReturnType<typeof bodyOfUpdate>, { kind: 'patched' }>

/**
 * The stored record that a PUT or PATCH of any version would make of `current`, or why it makes none.
 *
 * @param isReadable whether the caller may read `current`
 */
export function draftUpdate(plan: Update, current: RecordValues, isReadable = true): Drafted {
  const { resource, versionResource } = plan
  if (!isReadable && needsReading(plan, versionResource ?? resource)) return { kind: 'forbidden' }
  const asked = versionResource === undefined ? plan : { ...plan, resource: versionResource }
  const record = versionResource === undefined ? current : recordFromStored(versionResource, current)
  const body = bodyOfUpdate(asked, record)
  if (body.kind !== 'patched') return body
  const draft = draftOfUpdate(asked, record, body.value, isReadable)
  const stored = versionResource === undefined ? draft : updateToStored(versionResource, current, draft)
  return { kind: 'draft', draft: withIndexKeys(resource, stored) }
}

/** The outcome of a plan in terms of the older version that the client uses. */
export function outcomeFromStored(resource: MappedResource, outcome: Outcome): Outcome {
  switch (outcome.kind) {
    case 'invalid':
    case 'conflict':
      return { ...outcome, issues: outcome.issues.map((issue) => issueFromStored(resource.mapping, issue)) }
    case 'replayed':
      return { ...outcome, answer: outcomeFromStored(resource, outcome.answer) }
  }
  // The same outcome comes back unchanged where it can: answers that are kept are found by it.
  if (!hasConversions(resource)) return outcome
  switch (outcome.kind) {
    case 'record':
    case 'created':
      return { ...outcome, json: jsonFromStored(resource, outcome.json) }
    case 'updated':
      return { ...outcome, json: outcome.json === undefined ? undefined : jsonFromStored(resource, outcome.json) }
    case 'page':
      return { ...outcome, json: jsonFromStored(resource, `[${outcome.json}]`) }
    default:
      return outcome
  }
}
