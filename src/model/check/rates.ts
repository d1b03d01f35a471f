/** Rates: of a caller, of an address that fails to authenticate, and of single actions (LIM-1). */
import { isRecord } from '../field-shape.ts'
import { suggest } from '../nearest.ts'
import { at } from '../place.ts'
import { countedActions, parseRate } from '../rate.ts'
import { checkKeys, expectRecord, own } from './expect.ts'
import { mustBe, type Report, show } from './problem.ts'

/** Checks `limits.rate`. */
export function checkRates(report: Report, rate: unknown, resources: unknown): void {
  const path = 'limits.rate'
  if (rate === undefined || !expectRecord(report, path, rate, "rate: { caller: '600/minute' }")) return
  checkKeys(report, path, rate, ['caller', 'address', 'actions'])
  for (const key of ['caller', 'address']) {
    const value = own(rate, key)
    if (value !== undefined) checkRate(report, at(path, key), value)
  }
  checkActions(report, at(path, 'actions'), own(rate, 'actions'), isRecord(resources) ? Object.keys(resources) : [])
}

function checkRate(report: Report, path: string, value: unknown): void {
  if (typeof value === 'string' && parseRate(value) !== undefined) return
  report(path, mustBe('a rate', value), 'Write N/second, N/minute or N/hour: "600/minute".')
}

function checkActions(report: Report, path: string, actions: unknown, collections: readonly string[]): void {
  const example = "actions: { 'tasks.create': '10/minute' }"
  if (actions === undefined || !expectRecord(report, path, actions, example)) return
  for (const [name, rate] of Object.entries(actions)) {
    const place = at(path, name)
    checkAction(report, place, name, collections)
    checkRate(report, place, rate)
  }
}

function checkAction(report: Report, place: string, name: string, collections: readonly string[]): void {
  const [collection = '', action, ...more] = name.split('.')
  if (action === undefined || more.length > 0) {
    const first = collections[0] ?? 'tasks'
    report(place, 'is not a collection and an action', `Write "${first}.create", or * for any: "*.create".`)
  } else if (name === '*.*') {
    report(place, 'is every request', 'Write limits.rate.caller instead.')
  } else if (collection !== '*' && !collections.includes(collection)) {
    report(place, `names a collection that is not declared: ${show(collection)}`, suggest(collection, collections))
  } else if (action === 'readDeleted') {
    report(place, 'is counted as reading', `Write "${collection}.read".`)
  } else if (action !== '*' && !(countedActions as readonly string[]).includes(action)) {
    report(place, `names no action: ${show(action)}`, suggest(action, countedActions))
  }
}
