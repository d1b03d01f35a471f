/** Checks what concerns the whole interface: its name, limits, rates (LIM-1) and versions (VER-1 to VER-4). */

import { carriers } from '../declaration.ts'
import { isRecord } from '../field.ts'
import { countedActions, limitDefaults, parseRate } from '../limits.ts'
import { suggest } from '../nearest.ts'
import { at, item } from '../place.ts'
import { momentOf } from '../time.ts'
import { checkInterfaceName } from './names.ts'
import {
  checkChoice,
  checkKeys,
  checkText,
  checkTitle,
  checkWhole,
  expectRecord,
  mustBe,
  own,
  type Report,
  show,
} from './problem.ts'

const keys = ['name', 'title', 'description', 'resources', 'versions', 'versionCarriers', 'changes', 'limits']

/** Checks everything but the resources. */
export function checkInterface(report: Report, declaration: Readonly<Record<string, unknown>>): void {
  checkKeys(report, '', declaration, keys)
  checkInterfaceName(report, own(declaration, 'name'))
  checkTitle(report, 'title', own(declaration, 'title'))
  checkText(report, 'description', own(declaration, 'description'))
  checkVersions(report, own(declaration, 'versions'), own(declaration, 'versionCarriers'))
  checkLimits(report, own(declaration, 'limits'), own(declaration, 'resources'))
}

function checkLimits(report: Report, limits: unknown, resources: unknown): void {
  if (limits === undefined || !expectRecord(report, 'limits', limits, 'limits: { pageSize: { max: 100 } }')) return
  checkKeys(report, 'limits', limits, ['pageSize', 'pageBytes', 'rate', 'keys', 'bodyBytes', 'exports'])
  checkWhole(report, 'limits.bodyBytes', own(limits, 'bodyBytes'), 1_024, 1_073_741_824)
  checkWhole(report, 'limits.pageBytes', own(limits, 'pageBytes'), 65_536, 268_435_456)
  checkPageSize(report, own(limits, 'pageSize'))
  checkRates(report, own(limits, 'rate'), resources)
  checkKeyLimits(report, own(limits, 'keys'))
  checkExports(report, own(limits, 'exports'))
}

function checkKeyLimits(report: Report, limits: unknown): void {
  const path = 'limits.keys'
  if (limits === undefined || !expectRecord(report, path, limits, 'keys: { perSubject: 100 }')) return
  checkKeys(report, path, limits, ['perSubject', 'lastingRoles'])
  checkWhole(report, `${path}.perSubject`, own(limits, 'perSubject'), 1, 1_000_000)
  const roles = own(limits, 'lastingRoles')
  if (roles === undefined) return
  const remedy = 'List the names of roles, such as ["operator"].'
  if (!Array.isArray(roles)) {
    report(`${path}.lastingRoles`, 'is not an array', remedy)
    return
  }
  for (const [index, role] of roles.entries()) {
    if (typeof role === 'string' && role !== '' && !role.startsWith('role:')) continue
    report(`${path}.lastingRoles[${index}]`, 'is not the name of a role', remedy)
  }
}

function checkExports(report: Report, exports: unknown): void {
  const path = 'limits.exports'
  if (exports === undefined || !expectRecord(report, path, exports, 'exports: { count: 20, bytes: 1073741824 }')) return
  checkKeys(report, path, exports, ['count', 'bytes', 'total'])
  checkWhole(report, `${path}.count`, own(exports, 'count'), 1, 10_000)
  checkWhole(report, `${path}.bytes`, own(exports, 'bytes'), 1_024, Number.MAX_SAFE_INTEGER)
  checkWhole(report, `${path}.total`, own(exports, 'total'), 1_024, Number.MAX_SAFE_INTEGER)
}

function checkPageSize(report: Report, pageSize: unknown): void {
  const path = 'limits.pageSize'
  if (pageSize === undefined || !expectRecord(report, path, pageSize, 'pageSize: { default: 20, max: 100 }')) return
  checkKeys(report, path, pageSize, ['default', 'max'])
  const size = own(pageSize, 'default')
  const max = own(pageSize, 'max')
  checkWhole(report, `${path}.default`, size, 1, 10_000)
  checkWhole(report, `${path}.max`, max, 1, 10_000)
  const largest = max ?? limitDefaults.largestPage
  if (typeof size === 'number' && typeof largest === 'number' && size <= 10_000 && size > largest) {
    const unsaid = max === undefined ? ', which it is unless said' : ''
    report(
      `${path}.default`,
      `is larger than the maximum of ${largest}${unsaid}`,
      `Write at most ${largest}, or raise limits.pageSize.max.`,
    )
  }
}

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

const versionKeys = ['deprecated', 'sunset', 'afterSunset', 'guide']

// What a version may be called in addresses, header fields and media types.
const form = /^v[1-9]\d{0,5}$/

/** Checks `versions` and `versionCarriers`. */
export function checkVersions(report: Report, versions: unknown, carriers: unknown): void {
  checkCarriers(report, carriers)
  if (versions === undefined || !expectRecord(report, 'versions', versions, 'versions: { v1: {} }')) return
  const names = Object.keys(versions)
  if (names.length === 0) report('versions', 'must name a version', 'Write { v1: {} }, or leave `versions` out.')
  checkNames(report, names)
  // A redirect needs another address to lead to.
  const addressed = !Array.isArray(carriers) || carriers.includes('path') || carriers.includes('query')
  for (const name of names) {
    const path = at('versions', name)
    const version = versions[name]
    if (!expectRecord(report, path, version, `${path}: {}`)) continue
    checkKeys(report, path, version, versionKeys)
    if (name === names.at(-1)) checkCurrent(report, path, version)
    else checkEnd(report, path, version, addressed)
  }
}

function checkNames(report: Report, names: readonly string[]): void {
  let highest = 0
  for (const name of names) {
    const path = at('versions', name)
    if (!form.test(name)) {
      report(path, 'must be v and a number', 'Write v1, v2 and so on.')
      continue
    }
    const number = Number(name.slice(1))
    if (number < highest) {
      report(path, `stands after v${highest}, and the last version is the current one`, `Write it before v${highest}.`)
    } else highest = number
  }
}

/** Nothing follows the last version, so it cannot end. */
function checkCurrent(report: Report, path: string, version: Readonly<Record<string, unknown>>): void {
  for (const key of versionKeys.filter((each) => own(version, each) !== undefined)) {
    const remedy = 'Declare the version that follows it too, or remove this.'
    report(at(path, key), 'stands in the last version, which is the current one and has no successor', remedy)
  }
}

function checkEnd(report: Report, path: string, version: Readonly<Record<string, unknown>>, addressed: boolean): void {
  const deprecated = checkMoment(report, at(path, 'deprecated'), own(version, 'deprecated'))
  const sunset = checkMoment(report, at(path, 'sunset'), own(version, 'sunset'))
  if (deprecated !== undefined && sunset !== undefined && sunset < deprecated) {
    // RFC 9745 section 4.
    report(at(path, 'sunset'), 'is before the version is deprecated', `Write a date after ${version['deprecated']}.`)
  }
  const after = own(version, 'afterSunset')
  checkChoice(report, at(path, 'afterSunset'), after, ['gone', 'redirect'])
  if (after !== undefined && own(version, 'sunset') === undefined) {
    report(at(path, 'afterSunset'), 'needs a sunset to come after', 'Add sunset, such as "2027-06-01", or remove this.')
  } else if (after === 'redirect' && !addressed) {
    const remedy = 'Write "gone", or carry the version in "path" or "query" too.'
    report(at(path, 'afterSunset'), 'leads nowhere: all versions have the same addresses', remedy)
  }
  checkGuide(report, at(path, 'guide'), own(version, 'guide'))
  if (own(version, 'guide') !== undefined && own(version, 'deprecated') === undefined && sunset === undefined) {
    const remedy = 'Add deprecated or sunset, such as "2027-06-01", or remove this.'
    report(at(path, 'guide'), 'is shown only by a version that is deprecated or ends', remedy)
  }
}

function checkMoment(report: Report, path: string, value: unknown): number | undefined {
  const moment = typeof value === 'string' ? momentOf(value) : undefined
  if (value !== undefined && moment === undefined) {
    report(path, mustBe('a date, or a date-time', value), 'Write it such as "2027-06-01" or "2027-06-01T08:00:00Z".')
  }
  return moment
}

function checkGuide(report: Report, path: string, value: unknown): void {
  const url = typeof value === 'string' ? URL.parse(value) : undefined
  if (value === undefined || url?.protocol === 'https:' || url?.protocol === 'http:') return
  report(path, mustBe('the URL of a page', value), 'Write it whole, such as "https://example.org/v2".')
}

function checkCarriers(report: Report, value: unknown): void {
  if (value === undefined) return
  const path = 'versionCarriers'
  if (!Array.isArray(value) || value.length === 0) {
    report(path, mustBe('an array of carriers', value), 'Write ["path"], or leave it out.')
    return
  }
  for (const [index, carrier] of value.entries()) {
    if (carrier === undefined) report(item(path, index), mustBe('a carrier', carrier), 'Remove it.')
    checkChoice(report, item(path, index), carrier, carriers)
    if (value.indexOf(carrier) < index) report(item(path, index), 'stands here twice', 'Remove it.')
  }
}
