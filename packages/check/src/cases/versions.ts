/** VER: versions. */
import { common } from '../case/define.ts'
import { answerOf, everyStatus, field, finding, noField, refused, status, unless } from '../case/expect.ts'
import { after, both, list, one, removed } from '../case/names.ts'
import { base, collection, collectionPath, configured, Reference } from '../case/references.ts'
import { body, create, setUp } from '../case/steps.ts'
import { fieldOf, jsonOf } from '../client/exchange.ts'
import { valueAt } from '../values/json.ts'

const { deprecatedBase, deprecatedVersion, retiredBase, versionField } = configured
const [twice, older, oldStep] = Reference.named('twice', 'older', 'old')

const successor = /rel="?[^"]*\b(deprecation|sunset|successor-version|latest-version)\b/
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** A date as HTTP writes it (RFC 9110 section 5.6.7). */
const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

const old = `${deprecatedBase}${collectionPath}`

export const versions = common({ steps: [list.get(old)] }).define({
  'VER-1/once': {
    title: 'A path with the version twice returns 404',
    needs: ['version'],
    steps: [setUp(list.get(collection)), twice.get(`${base}${collection}`)],
    expect: [refused(twice)],
    remedy: 'Let the version be a part of the path at one place, in front of everything.',
  },
  'VER-1/disagreement': {
    title: 'A path and a header field that name two versions are refused with 400',
    needs: ['deprecated', 'version'],
    steps: [setUp(list.get(collection)), both.get(collection, { headers: { [versionField]: deprecatedVersion } })],
    expect: [status(both, 400)],
    remedy: 'Compare all that names a version in a request, and answer 400 where two differ.',
  },
  'VER-2/one-database': {
    title: 'A record that was created in the current version exists in the older one',
    steps: [setUp(list.get(old)), create(one), older.get(`${old}/${one.id}`)],
    expect: [
      status(older, 200),
      answerOf(older, (answer, seen) => {
        const at = `/${seen.collection.id}`
        const id = valueAt(jsonOf(answer), at) ?? valueAt(jsonOf(answer), seen.profile.names.items + at)
        if (String(id) === seen.fill(one.id)) return undefined
        return `its identifier is ${String(id)} in place of ${seen.fill(one.id)}`
      }),
    ],
    remedy: 'Serve all versions from the same records: a version is another form of them, and no copy.',
  },
  'VER-2/deletion': {
    title: 'A record that was deleted in the current version is deleted in the older one',
    needs: ['list'],
    after: ['VER-2/one-database'],
    steps: [create(one), setUp(removed.delete(one)), older.get(`${old}/${one.id}`)],
    expect: [status(older, 404)],
    remedy: 'Serve all versions from the same records: a version is another form of them, and no copy.',
  },
  'VER-3/works': {
    title: 'A deprecated version works',
    expect: [status(list, 200)],
    remedy: 'Go on serving a version until its sunset.',
  },
  'VER-3/says-so': {
    title: 'A deprecated version has Deprecation',
    after: ['VER-3/works'],
    expect: [
      answerOf(list, (answer, _, exchange) => {
        const isTold = ['Deprecation', 'Sunset', 'Warning'].some((name) => fieldOf(answer, name) !== undefined)
        const links = fieldOf(answer, 'Link') ?? ''
        if (isTold || successor.test(links)) return undefined
        return finding(exchange, { field: 'Deprecation' }, 'nothing tells that the version is deprecated')
      }),
    ],
    remedy: 'Send Deprecation (RFC 9745) and Sunset (RFC 8594) with every answer of the version.',
  },
  'VER-3/deprecation': {
    title: 'Deprecation is a date as in RFC 9745',
    level: 'should',
    after: ['VER-3/says-so'],
    expect: [field(list, 'Deprecation', (value) => unless(/^@-?\d+$/.test(value), `${value} is none`))],
    remedy: 'Send “Deprecation: @1688169599”: an at sign and seconds since 1970.',
  },
  'VER-3/sunset': {
    title: 'Sunset is a date in the future as in RFC 8594',
    level: 'should',
    after: ['VER-3/says-so'],
    expect: [
      field(list, 'Sunset', (value) => {
        if (!httpDate.test(value)) return `${value} is no such date`
        return Date.parse(value) > Date.now() ? undefined : `${value} is over, and the version works`
      }),
    ],
    remedy: 'Send “Sunset: Sat, 31 Dec 2026 23:59:59 GMT”, the moment from which the version is not served any more.',
  },
  'VER-3/link': {
    title: 'Link of a deprecated version has its successor or its documentation',
    level: 'should',
    after: ['VER-3/says-so'],
    expect: [field(list, 'Link', (value) => unless(successor.test(value), `${value} has none of them`))],
    remedy: 'Send a Link with rel="successor-version" (RFC 5829), rel="deprecation" or rel="sunset".',
  },
  'VER-3/current': {
    title: 'The current version has no Deprecation',
    needs: ['deprecated'],
    steps: [list.get(collection)],
    expect: [status(list, 200), noField(list, 'Deprecation')],
    remedy: 'Send Deprecation with answers of deprecated versions alone.',
  },
  'VER-4/reading': {
    title: 'A version past its sunset returns 410 or redirects',
    steps: [list.get(`${retiredBase}${collectionPath}`)],
    expect: [isOver(list)],
    remedy: 'Answer 410 for every address of a retired version, or redirect (308) to its successor.',
  },
  'VER-4/writing': {
    title: 'A version past its sunset refuses changes with 410 or redirects',
    steps: [
      create(one),
      oldStep.post(`${retiredBase}${collectionPath}`, body.example),
      oldStep.patch(`${retiredBase}${collectionPath}/${one.id}`, body.change),
      oldStep.delete(`${retiredBase}${collectionPath}/${one.id}`),
      after.get(one),
    ],
    expect: [isOver(oldStep), status(after, 200)],
    remedy: 'Answer 410 for everything under a retired version, whatever the method.',
  },
  'VER-4/target': {
    title: 'A redirect from a version past its sunset leads to a version that works',
    after: ['VER-4/reading'],
    steps: [list.get(`${retiredBase}${collectionPath}`)],
    expect: [
      (seen) => {
        const exchange = seen.of(list)
        if (!redirects.has(exchange.answer?.status ?? 0)) return undefined
        const location = fieldOf(exchange.answer, 'Location')
        const target = location && URL.parse(location, exchange.asked.url)?.pathname
        const isBelow = !target || `${target}/`.startsWith(`${seen.fill(retiredBase)}/`)
        return isBelow ? finding(exchange, { field: 'Location' }, `it leads to ${location ?? 'nothing'}`) : undefined
      },
    ],
    remedy: 'Redirect to the same address in the version that comes after.',
  },
})

function isOver(step: Reference) {
  return everyStatus(step, 410, ...redirects)
}
