/** The top level of a declaration: its name, its versions, its limits. */
import { limitDefaults } from '../limit-defaults.ts'
import { checkKeys, checkText, checkTitle, checkWhole, expectRecord, own } from './expect.ts'
import { checkInterfaceName } from './names.ts'
import type { Report } from './problem.ts'
import { checkRates } from './rates.ts'
import { checkVersions } from './versions.ts'

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
