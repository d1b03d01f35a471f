/** The top level of a declaration: its name, its versions, its limits. */
import { limitDefaults } from '../limit-defaults.ts'
import { at } from '../place.ts'
import { checkKeys, checkText, checkTitle, checkWhole, expectRecord, own } from './expect.ts'
import { checkInterfaceName } from './names.ts'
import { mustBe, type Report } from './problem.ts'
import { checkRates } from './rates.ts'

const keys = ['name', 'title', 'description', 'resources', 'versions', 'versionCarriers', 'changes', 'limits']

/** Checks everything but the resources. */
export function checkInterface(report: Report, declaration: Readonly<Record<string, unknown>>): void {
  checkKeys(report, '', declaration, keys)
  checkInterfaceName(report, own(declaration, 'name'))
  checkTitle(report, 'title', own(declaration, 'title'))
  checkText(report, 'description', own(declaration, 'description'))
  checkVersions(report, own(declaration, 'versions'))
  checkCarriers(report, own(declaration, 'versionCarriers'))
  checkChanges(report, own(declaration, 'changes'))
  checkLimits(report, own(declaration, 'limits'), own(declaration, 'resources'))
}

const oneVersion = 'Keep one version for now, such as versions: { v1: {} }, or leave `versions` out.'

function checkVersions(report: Report, versions: unknown): void {
  if (versions === undefined || !expectRecord(report, 'versions', versions, 'versions: { v1: {} }')) return
  const names = Object.keys(versions)
  if (names.length === 0) report('versions', 'must name a version', 'Write { v1: {} }, or leave `versions` out.')
  if (names.length > 1) report('versions', 'names several versions: these are not served yet', oneVersion)
  for (const name of names) {
    const path = at('versions', name)
    if (!/^v[1-9]\d{0,5}$/.test(name)) report(path, 'must be v and a number', 'Write v1, v2 and so on.')
    const version = versions[name]
    if (!expectRecord(report, path, version, `${path}: {}`)) continue
    for (const key of Object.keys(version)) {
      const known = ['deprecated', 'sunset', 'afterSunset', 'guide']
      if (!known.includes(key)) checkKeys(report, path, { [key]: true }, known)
      else if (names.length === 1)
        report(at(path, key), 'needs a version that follows: several are not served yet', 'Remove it.')
    }
  }
}

function checkCarriers(report: Report, carriers: unknown): void {
  if (carriers === undefined || (Array.isArray(carriers) && carriers.length === 1 && carriers[0] === 'path')) return
  const message = 'asks for the version elsewhere than in the path: this is not served yet'
  if (Array.isArray(carriers) && carriers.length > 0)
    report('versionCarriers', message, 'Write ["path"], or leave it out.')
  else report('versionCarriers', mustBe('an array of carriers', carriers), 'Write ["path"], or leave it out.')
}

function checkChanges(report: Report, changes: unknown): void {
  if (changes === undefined || (Array.isArray(changes) && changes.length === 0)) return
  if (!Array.isArray(changes)) report('changes', mustBe('an array', changes), 'Leave it out.')
  else report('changes', 'describes older versions: several versions are not served yet', 'Remove it for now.')
}

function checkLimits(report: Report, limits: unknown, resources: unknown): void {
  if (limits === undefined || !expectRecord(report, 'limits', limits, 'limits: { pageSize: { max: 100 } }')) return
  checkKeys(report, 'limits', limits, ['pageSize', 'rate', 'bodyBytes'])
  checkWhole(report, 'limits.bodyBytes', own(limits, 'bodyBytes'), 1_024, 1_073_741_824)
  checkPageSize(report, own(limits, 'pageSize'))
  checkRates(report, own(limits, 'rate'), resources)
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
