/** The versions of a declaration: their names and order, how each of them ends, and what carries them. */

import { carriers } from '../declaration.ts'
import { momentOf } from '../instant.ts'
import { at, item } from '../place.ts'
import { checkChoice, checkKeys, expectRecord, own } from './expect.ts'
import { mustBe, type Report } from './problem.ts'

const keys = ['deprecated', 'sunset', 'afterSunset', 'guide']

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
    checkKeys(report, path, version, keys)
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
  for (const key of keys.filter((each) => own(version, each) !== undefined)) {
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
