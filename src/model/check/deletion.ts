/** Checks the `deletion` of a resource (DEL-1 to DEL-10). */
import { isObject } from '../plain-copy.ts'
import { parseDuration } from '../time.ts'
import type { Part, ResourceView } from './parts.ts'

const keys = ['variant', 'gracePeriod', 'restorable', 'asynchronous', 'answer', 'repeated', 'bulk', 'byFilter']

/** Checks how records are deleted. */
export function checkDeletion(resource: ResourceView): void {
  const deletion = resource.part.key('deletion')
  if (!deletion.optionalObject('deletion: { variant: "soft" }')) return
  deletion.keys(keys)
  deletion.key('variant').choice(['soft', 'hard'])
  deletion.key('answer').choice(['empty', 'summary'])
  deletion.key('repeated').choice(['not-found', 'no-content'])
  deletion.key('restorable').flag()
  checkGracePeriod(deletion.key('gracePeriod'))
  checkAsynchronous(deletion.key('asynchronous'))
  checkBulk(deletion.key('bulk'))
  deletion.key('byFilter').flag()
  if (deletion.record['variant'] === 'hard') checkHard(deletion.key('restorable'), deletion.key('gracePeriod'))
}

/** Records of the variant `hard` are not kept for a while. */
function checkHard(restorable: Part, gracePeriod: Part): void {
  const remedy = 'Remove it, or write variant: soft.'
  if (restorable.value === true) restorable.report('contradicts the variant hard: nothing is left to restore', remedy)
  if (parseDuration(gracePeriod.text).kind === 'duration') {
    gracePeriod.report('contradicts the variant hard: nothing is kept', remedy)
  }
}

function checkGracePeriod(period: Part): void {
  if (period.isAbsent) return
  const reading = parseDuration(period.text)
  if (reading.kind === 'malformed') {
    period.mustBe('an ISO 8601 duration', 'Write one such as "P30D", "PT12H" or "PT90S".')
  } else if (reading.kind === 'calendar') {
    const remedy = 'Write days: "P30D" for a month, "P365D" for a year.'
    period.report('counts months or years, which are not all of one length', remedy)
  } else if (reading.milliseconds === 0) {
    period.report('is no time at all', 'Write a longer one, or variant: hard.')
  } else if (reading.milliseconds > 36_525 * 86_400_000) {
    period.report('is longer than a hundred years', 'Write a shorter one.')
  }
}

function checkAsynchronous(part: Part): void {
  if (part.isAbsent || part.value === 'never' || part.value === 'always') return
  if (!isObject(part.value)) {
    part.mustBe('"never", "always" or { above: a number }', 'Write { above: 1000 }.')
    return
  }
  part.keys(['above'])
  part.key('above').requiredWhole(0, 1_000_000_000)
}

function checkBulk(bulk: Part): void {
  if (bulk.isAbsent || bulk.value === false) return
  if (!isObject(bulk.value)) {
    const remedy = bulk.value === true ? 'Leave it out: it is on.' : 'Write { max: 1000 }.'
    bulk.mustBe('false or { max: a number }', remedy)
    return
  }
  bulk.keys(['max'])
  bulk.key('max').requiredWhole(1, 10_000)
}
