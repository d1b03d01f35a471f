/** Outcomes in terms of older versions. */
import { hasConversions, type MappedResource } from 'resourced-contract/model/resource'
import { jsonFromStored } from '../versions/translate-record.ts'
import type { Outcome } from './outcome.ts'

/** The records of an outcome in terms of the older version that the client uses. */
export function outcomeFromStored(resource: MappedResource, outcome: Outcome): Outcome {
  // The same outcome comes back unchanged where it can: cached responses are found by it.
  if (!hasConversions(resource)) return outcome
  switch (outcome.kind) {
    case 'with-related':
      return { ...outcome, answer: outcomeFromStored(resource, outcome.answer) as typeof outcome.answer }
    case 'replayed':
      return { ...outcome, answer: outcomeFromStored(resource, outcome.answer) }
    case 'record':
    case 'created':
      return { ...outcome, json: jsonFromStored(resource, outcome.json) }
    case 'updated':
      return { ...outcome, json: outcome.json === undefined ? undefined : jsonFromStored(resource, outcome.json) }
    case 'written-many':
    case 'page':
      return { ...outcome, json: jsonFromStored(resource, `[${outcome.json}]`) }
    default:
      return outcome
  }
}
