/** How records are deleted (DEL-1 to DEL-10). */

import { isRecord } from '../field.ts'
import { at } from '../place.ts'
import { parseDuration } from '../time.ts'
import { checkChoice, checkFlag, checkKeys, checkWhole, expectRecord, mustBe, own, type Report } from './problem.ts'
import type { ResourceView } from './views.ts'

const keys = ['variant', 'gracePeriod', 'restorable', 'asynchronous', 'answer', 'repeated', 'bulk', 'byFilter']

/** Checks the `deletion` of a resource. */
export function checkDeletion(report: Report, resource: ResourceView): void {
  const path = at(resource.path, 'deletion')
  const deletion = own(resource.declared, 'deletion')
  if (deletion === undefined || !expectRecord(report, path, deletion, 'deletion: { variant: "soft" }')) return
  checkKeys(report, path, deletion, keys)
  checkChoice(report, at(path, 'variant'), own(deletion, 'variant'), ['soft', 'hard'])
  checkChoice(report, at(path, 'answer'), own(deletion, 'answer'), ['empty', 'summary'])
  checkChoice(report, at(path, 'repeated'), own(deletion, 'repeated'), ['not-found', 'no-content'])
  checkFlag(report, at(path, 'restorable'), own(deletion, 'restorable'))
  checkGracePeriod(report, at(path, 'gracePeriod'), own(deletion, 'gracePeriod'))
  checkAsynchronous(report, at(path, 'asynchronous'), own(deletion, 'asynchronous'))
  checkBulk(report, at(path, 'bulk'), own(deletion, 'bulk'))
  checkFlag(report, at(path, 'byFilter'), own(deletion, 'byFilter'))
  if (deletion.variant === 'hard') checkHard(report, path, deletion)
}

/** What is deleted for good is not kept for a while. */
function checkHard(report: Report, path: string, deletion: Readonly<Record<string, unknown>>): void {
  const remedy = 'Remove it, or write variant: soft.'
  if (deletion.restorable === true)
    report(at(path, 'restorable'), 'contradicts the variant hard: nothing is left to restore', remedy)
  if (typeof deletion.gracePeriod === 'string' && parseDuration(deletion.gracePeriod).kind === 'duration') {
    report(at(path, 'gracePeriod'), 'contradicts the variant hard: nothing is kept', remedy)
  }
}

function checkGracePeriod(report: Report, path: string, period: unknown): void {
  if (period === undefined) return
  const reading = typeof period === 'string' ? parseDuration(period) : { kind: 'malformed' as const }
  if (reading.kind === 'malformed') {
    report(path, mustBe('an ISO 8601 duration', period), 'Write one such as "P30D", "PT12H" or "PT90S".')
  } else if (reading.kind === 'calendar') {
    report(
      path,
      'counts months or years, which are not all of one length',
      'Write days: "P30D" for a month, "P365D" for a year.',
    )
  } else if (reading.milliseconds === 0) {
    report(path, 'is no time at all', 'Write a longer one, or variant: hard.')
  } else if (reading.milliseconds > 36_525 * 86_400_000) {
    report(path, 'is longer than a hundred years', 'Write a shorter one.')
  }
}

function checkAsynchronous(report: Report, path: string, value: unknown): void {
  if (value === undefined || value === 'never' || value === 'always') return
  if (!isRecord(value)) {
    report(path, mustBe('"never", "always" or { above: a number }', value), 'Write { above: 1000 }.')
  } else {
    checkKeys(report, path, value, ['above'])
    checkWhole(report, at(path, 'above'), own(value, 'above') ?? null, 0, 1_000_000_000)
  }
}

function checkBulk(report: Report, path: string, bulk: unknown): void {
  if (bulk === undefined || bulk === false) return
  if (!isRecord(bulk)) {
    report(
      path,
      mustBe('false or { max: a number }', bulk),
      bulk === true ? 'Leave it out: it is on.' : 'Write { max: 1000 }.',
    )
    return
  }
  checkKeys(report, path, bulk, ['max'])
  checkWhole(report, at(path, 'max'), own(bulk, 'max') ?? null, 1, 10_000)
}
