/** Creates records for a test, past access rules: with the checks of a POST, as `resourced import` does. */

import type { CallerView } from 'resourced-contract/model/declared-functions'
import { suggest } from 'resourced-contract/model/nearest'
import { always } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { isRecordId } from 'resourced-contract/model/text'
import { sentenceOf } from 'resourced-contract/spec/faults'
import { uuidv7 } from 'uuidv7'
import type { Outcome } from '../plan/outcome.ts'
import type { Create } from '../plan/plan.ts'
import type { Storage } from '../storage/storage.ts'

/** What creates records. */
interface Seeding {
  readonly catalog: Catalog
  readonly storage: Pick<Storage, 'run'>
  /** The owner of records without an owner field. */
  readonly caller: CallerView
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * Creates records in order, so that a record may refer to those before it.
 *
 * @returns the records as a read gives them
 * @throws TypeError if there is no such collection
 * @throws Error that names the first refused record, its fields and what is wrong with them
 */
export async function seedRecords(
  { catalog, storage, caller, now }: Seeding,
  collection: string,
  records: readonly object[],
): Promise<object[]> {
  const resource = resourceOf(catalog, collection)
  const plans = records.map((record, index): Create => {
    const { id = uuidv7(), ...body } = JSON.parse(JSON.stringify(record)) as Readonly<Record<string, unknown>>
    if (typeof id !== 'string' || !isRecordId(id)) {
      throw refusal(collection, index, ['/id must be a UUID in lower case. Leave it out to get one.'])
    }
    const right = { permitted: always, mayAssignOwner: true, caller }
    return { kind: 'create', resource, id, parent: undefined, body, now, ...right }
  })
  // A transaction begins after those before it, and changes that wait together commit together.
  const outcomes = await Promise.all(plans.map((plan) => storage.run(plan)))
  return outcomes.map((outcome, index) => {
    if (outcome.kind === 'created') return JSON.parse(outcome.json)
    throw refusal(collection, index, mistakesOf(outcome))
  })
}

function resourceOf({ resources }: Catalog, collection: string): Resource {
  const resource = resources.get(collection)
  if (resource !== undefined) return resource
  throw new TypeError(`There is no collection ${JSON.stringify(collection)}. ${suggest(collection, resources.keys())}`)
}

function refusal(collection: string, index: number, mistakes: readonly string[]): Error {
  return new Error(`Record ${index} of ${collection} was refused: ${mistakes.join('; ')}`)
}

function mistakesOf(outcome: Outcome): readonly string[] {
  if (!('issues' in outcome) || outcome.issues === undefined) return [outcome.kind]
  return outcome.issues.map((each) => `${each.pointer ?? ''} ${each.code} ${sentenceOf(each)}`.trim())
}
