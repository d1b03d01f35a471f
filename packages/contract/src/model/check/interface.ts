/** Checks what concerns the whole interface: its name, limits, rates (LIM-1) and versions (VER-1 to VER-4). */
import { countedActions } from '../declaration.ts'
import { limitDefaults } from '../limits.ts'
import { eventCollections, historyCollection, tenantsCollection } from '../names.ts'
import { suggest } from '../nearest.ts'
import { isObject } from '../plain-copy.ts'
import { momentOf } from '../time.ts'
import { checkInterfaceName } from './names.ts'
import { type Part, show } from './parts.ts'
import { checkDuration } from './resource.ts'

/** Checks everything but the resources and the changes. */
export function checkInterface(declaration: Part): void {
  checkInterfaceName(declaration.key('name'))
  declaration.key('title').title()
  checkVersions(declaration.key('versions'), declaration.key('versionCarriers'))
  checkLimits(declaration.key('limits'), Object.keys(declaration.key('resources').record))
  checkEvents(declaration)
  checkTenants(declaration)
}

function checkLimits(limits: Part, collections: readonly string[]): void {
  checkPageSize(limits.key('pageSize'))
  checkActions(limits.key('rate').key('actions'), collections)
}

function checkPageSize(pageSize: Part): void {
  const [size, max] = [pageSize.key('default'), pageSize.key('max')]
  const largest = max.value ?? limitDefaults.pageSize.max
  if (typeof size.value === 'number' && typeof largest === 'number' && size.value <= 10_000 && size.value > largest) {
    const unsaid = max.isAbsent ? ', which it is unless said' : ''
    const remedy = `Write at most ${largest}, or raise limits.pageSize.max.`
    size.report(`is larger than the maximum of ${largest}${unsaid}`, remedy)
  }
}

function checkActions(actions: Part, collections: readonly string[]): void {
  for (const [name, part] of actions.entries()) checkAction(part, name, collections)
}

function checkAction(part: Part, name: string, collections: readonly string[]): void {
  const [collection = '', action, ...more] = name.split('.')
  if (action === undefined || more.length > 0) {
    const first = collections[0] ?? 'tasks'
    part.report('is not a collection and an action', `Write "${first}.create", or * for any: "*.create".`)
  } else if (name === '*.*') {
    part.report('is every request', 'Write limits.rate.caller instead.')
  } else if (collection !== '*' && !collections.includes(collection)) {
    part.report(`names a collection that is not declared: ${show(collection)}`, suggest(collection, collections))
  } else if (action === 'readDeleted' || action === 'readHistory') {
    part.report('is counted as reading', `Write "${collection}.read".`)
  } else if (action !== '*' && !(countedActions as readonly string[]).includes(action)) {
    part.report(`names no action: ${show(action)}`, suggest(action, countedActions))
  }
}

/** Checks how long events are kept, and the names that the interface keeps for itself where something needs them. */
function checkEvents(declaration: Part): void {
  checkDuration(declaration.key('limits').key('events').key('retention'), 'Write a longer one, such as "P7D".')
  const resources = declaration.key('resources').entries()
  const [events] = resources.filter(([, { record }]) => record['events'] === true)
  if (events !== undefined) checkTakenBy(declaration, events[0], 'events', eventCollections)
  const [history] = resources.filter(([, { record }]) => record['history'] === true || isObject(record['history']))
  if (history !== undefined) checkTakenBy(declaration, history[0], 'history', [historyCollection])
}

/** Checks the grace period of tenants, and limits that have no effect without them. */
function checkTenants(declaration: Part): void {
  const [tenants, limits] = [declaration.key('tenants'), declaration.key('limits')]
  checkDuration(tenants.key('gracePeriod'), 'Write a longer one, such as "P30D".')
  if (!tenants.isAbsent) checkTaken(declaration, 'the interface has tenants', 'remove "tenants"', [tenantsCollection])
  const most = limits.key('tenants')
  if (!most.isAbsent && tenants.record['create'] !== 'first-use') {
    const remedy = 'Write tenants: { caller: "claims.team", create: "first-use" }, or remove this.'
    most.report('has no effect where no first use creates tenants', remedy)
  }
  const rate = limits.key('rate').key('tenant')
  if (!rate.isAbsent && tenants.isAbsent) {
    rate.report('has no effect without tenants', 'Declare tenants: { caller: "claims.team" }, or remove this.')
  }
}

/** Checks that no collection has a name that the interface keeps for itself, because a resource has a feature. */
function checkTakenBy(declaration: Part, first: string, feature: string, names: readonly string[]): void {
  const has = feature === 'history' ? 'a history' : feature
  checkTaken(declaration, `${first} has ${has}`, `remove "${feature}" from ${first}`, names)
}

/** The same for a reason, with what removes it. */
function checkTaken(declaration: Part, reason: string, removal: string, names: readonly string[]): void {
  const message = `is a name that the interface keeps for itself, because ${reason}`
  const remedyFor = (name: string) => `Choose another name, such as "my-${name}", or ${removal}.`
  for (const [name, part] of declaration.key('resources').entries()) {
    if (names.includes(name)) part.reportKey(message, remedyFor(name))
  }
  for (const change of declaration.key('changes').items()) {
    // Older versions have the same addresses.
    const was = change.key('was')
    if (names.includes(was.text)) was.report(message, remedyFor(was.text))
  }
}

const versionKeys = ['deprecated', 'sunset', 'afterSunset', 'guide']

// The form of versions in addresses, header fields and media types.
const versionForm = /^v[1-9]\d{0,5}$/

function checkVersions(versions: Part, carried: Part): void {
  if (!isObject(versions.value)) return
  const all = versions.entries()
  if (all.length === 0) versions.report('must name a version', 'Write { v1: {} }, or leave `versions` out.')
  checkVersionNames(all)
  // A redirect leads to another address.
  const hasAddresses =
    !Array.isArray(carried.value) || carried.value.includes('path') || carried.value.includes('query')
  for (const [index, [, version]] of all.entries()) {
    if (index === all.length - 1) checkCurrentVersion(version)
    else checkEnd(version, hasAddresses)
  }
}

function checkVersionNames(versions: readonly [string, Part][]): void {
  let highest = 0
  for (const [name, version] of versions) {
    const number = Number(name.slice(1))
    if (!versionForm.test(name)) version.report('must be v and a number', 'Write v1, v2 and so on.')
    else if (number < highest) {
      const message = `comes after v${highest}, and the last version is the current one`
      version.report(message, `Write it before v${highest}.`)
    } else highest = number
  }
}

/** The current version has no successor, so it cannot end. */
function checkCurrentVersion(version: Part): void {
  for (const part of versionKeys.map((key) => version.key(key))) {
    if (part.isAbsent) continue
    const remedy = 'Declare the version that follows it too, or remove this.'
    part.report('is in the last version, which is the current one and has no successor', remedy)
  }
}

function checkEnd(version: Part, hasAddresses: boolean): void {
  const deprecated = checkMoment(version.key('deprecated'))
  const sunset = version.key('sunset')
  const ended = checkMoment(sunset)
  if (deprecated !== undefined && ended !== undefined && ended < deprecated) {
    // RFC 9745 section 4.
    sunset.report('is before the version is deprecated', `Write a date after ${version.record['deprecated']}.`)
  }
  const after = version.key('afterSunset')
  if (!after.isAbsent && sunset.isAbsent) {
    after.report('needs a sunset to come after', 'Add sunset, such as "2027-06-01", or remove this.')
  } else if (after.value === 'redirect' && !hasAddresses) {
    const remedy = 'Write "gone", or carry the version in "path" or "query" too.'
    after.report('leads nowhere: all versions have the same addresses', remedy)
  }
  checkGuide(version.key('guide'), !version.key('deprecated').isAbsent || ended !== undefined)
}

function checkMoment(part: Part): number | undefined {
  const moment = momentOf(part.text)
  if (!part.isAbsent && moment === undefined) {
    part.mustBe('a date, or a date-time', 'Write it such as "2027-06-01" or "2027-06-01T08:00:00Z".')
  }
  return moment
}

function checkGuide(guide: Part, isShown: boolean): void {
  if (guide.isAbsent) return
  if (!['https:', 'http:'].includes(URL.parse(guide.text)?.protocol ?? '')) {
    guide.mustBe('the URL of a page', 'Write it whole, such as "https://example.org/v2".')
  }
  if (!isShown) {
    const remedy = 'Add deprecated or sunset, such as "2027-06-01", or remove this.'
    guide.report('is shown only by a version that is deprecated or ends', remedy)
  }
}
