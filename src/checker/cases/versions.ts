/** VER: versions. */
import type { Case } from '../case/case.ts'
import { altogether, answerOf, everyAnswerOf, field, finding, noField, refused, status } from '../case/expect.ts'
import { given, record, when, whereDemanded } from '../case/steps.ts'
import { fieldOf, jsonOf } from '../client/exchange.ts'
import { valueAt } from '../values/json.ts'

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** A date as HTTP writes it (RFC 9110 section 5.6.7). */
const httpDate = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/

const old = '{deprecated}{path}'

export const versions: readonly Case[] = [
  {
    id: 'VER-1/once',
    title: 'The version stands in the path once: twice leads nowhere',
    kind: 'reading',
    needs: ['list', 'version'],
    steps: [given('list', 'GET', '{collection}'), when('twice', 'GET', '{base}{collection}')],
    expect: [refused('twice')],
    mend: 'Let the version be a part of the path at one place, in front of everything.',
  },
  {
    id: 'VER-1/disagreement',
    title: 'A path and a header field that name two versions are refused with 400',
    kind: 'reading',
    needs: ['list', 'version', 'version-field', 'deprecated'],
    steps: [
      given('list', 'GET', '{collection}'),
      when('both', 'GET', '{collection}', { headers: { '{version-field}': '{deprecated-version}' } }),
    ],
    expect: [status('both', 400)],
    mend: 'Compare all that names a version in a request, and answer 400 where two differ.',
  },
  {
    id: 'VER-2/one-database',
    title: 'A record that was made in the current version is there in the older one',
    kind: 'changing',
    needs: ['create', 'read', 'list', 'deprecated'],
    steps: [given('list', 'GET', old), record(), when('older', 'GET', `${old}/{one.id}`)],
    expect: [
      status('older', 200),
      answerOf('older', 'is the same record', (answer, seen, exchange) => {
        const at = `/${seen.collection.id}`
        const id = valueAt(jsonOf(answer), at) ?? valueAt(jsonOf(answer), seen.profile.names.items + at)
        return String(id) === seen.fill('{one.id}')
          ? undefined
          : finding(exchange, 'body', `its identifier is ${String(id)} in place of ${seen.fill('{one.id}')}`)
      }),
    ],
    mend: 'Serve all versions from the same records: a version is another form of them, and no copy.',
  },
  {
    id: 'VER-2/deletion',
    title: 'A record that was deleted in the current version is gone in the older one',
    kind: 'changing',
    needs: ['create', 'read', 'list', 'delete', 'deprecated'],
    after: ['VER-2/one-database'],
    steps: [
      record(),
      given('deleted', 'DELETE', '{one}', { headers: whereDemanded }),
      when('older', 'GET', `${old}/{one.id}`),
    ],
    expect: [status('older', 404)],
    mend: 'Serve all versions from the same records: a version is another form of them, and no copy.',
  },
  {
    id: 'VER-3/works',
    title: 'A deprecated version works',
    kind: 'reading',
    needs: ['list', 'deprecated'],
    steps: [when('list', 'GET', old)],
    expect: [status('list', 200)],
    mend: 'Go on serving a version until its sunset.',
  },
  {
    id: 'VER-3/says-so',
    title: 'A deprecated version says that it is',
    kind: 'reading',
    needs: ['list', 'deprecated'],
    after: ['VER-3/works'],
    steps: [when('list', 'GET', old)],
    expect: [
      answerOf('list', 'has Deprecation, Sunset, Warning or a Link that tells', (answer, _, exchange) => {
        const isTold = ['Deprecation', 'Sunset', 'Warning'].some((name) => fieldOf(answer, name) !== undefined)
        const links = fieldOf(answer, 'Link') ?? ''
        if (isTold || /rel="?[^"]*\b(deprecation|sunset|successor-version|latest-version)\b/.test(links))
          return undefined
        return finding(exchange, { field: 'Deprecation' }, 'nothing tells that the version is deprecated')
      }),
    ],
    mend: 'Send Deprecation (RFC 9745) and Sunset (RFC 8594) with every answer of the version.',
  },
  {
    id: 'VER-3/deprecation',
    title: 'Deprecation says since when, as RFC 9745 writes it',
    level: 'should',
    kind: 'reading',
    needs: ['list', 'deprecated'],
    after: ['VER-3/says-so'],
    steps: [when('list', 'GET', old)],
    expect: [
      field('list', 'Deprecation', 'is a date such as @1688169599', (value) =>
        /^@-?\d+$/.test(value) ? undefined : `${value} is none`,
      ),
    ],
    mend: 'Send “Deprecation: @1688169599”: an at sign and seconds since 1970.',
  },
  {
    id: 'VER-3/sunset',
    title: 'Sunset says until when, as RFC 8594 writes it, and that is to come',
    level: 'should',
    kind: 'reading',
    needs: ['list', 'deprecated'],
    after: ['VER-3/says-so'],
    steps: [when('list', 'GET', old)],
    expect: [
      field('list', 'Sunset', 'is a date of HTTP, and to come', (value) => {
        if (!httpDate.test(value)) return `${value} is no such date`
        return Date.parse(value) > Date.now() ? undefined : `${value} is over, and the version works`
      }),
    ],
    mend: 'Send “Sunset: Sat, 31 Dec 2026 23:59:59 GMT”, the moment from which the version is not served any more.',
  },
  {
    id: 'VER-3/link',
    title: 'Link leads from a deprecated version to its successor, or to what is written about its end',
    level: 'should',
    kind: 'reading',
    needs: ['list', 'deprecated'],
    after: ['VER-3/says-so'],
    steps: [when('list', 'GET', old)],
    expect: [
      field('list', 'Link', 'has successor-version, deprecation or sunset', (value) =>
        /rel="?[^"]*\b(deprecation|sunset|successor-version|latest-version)\b/.test(value)
          ? undefined
          : `${value} has none of them`,
      ),
    ],
    mend: 'Send a Link with rel="successor-version" (RFC 5829), rel="deprecation" or rel="sunset".',
  },
  {
    id: 'VER-3/current',
    title: 'The current version does not say that it is deprecated',
    kind: 'reading',
    needs: ['list', 'deprecated'],
    steps: [when('list', 'GET', '{collection}')],
    expect: [status('list', 200), noField('list', 'Deprecation')],
    mend: 'Send Deprecation with answers of deprecated versions alone.',
  },
  {
    id: 'VER-4/reading',
    title: 'A version past its sunset is answered 410, or redirects',
    kind: 'reading',
    needs: ['list', 'retired'],
    steps: [when('list', 'GET', '{retired}{path}')],
    expect: [isOver('list')],
    mend: 'Answer 410 for everything under a retired version, or redirect (308) to the same address in its successor.',
  },
  {
    id: 'VER-4/writing',
    title: 'A version past its sunset takes no changes: 410, or a redirect',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'delete', 'retired'],
    steps: [
      record(),
      when('old', 'POST', '{retired}{path}', { body: { from: 'example' } }),
      when('old', 'PATCH', '{retired}{path}/{one.id}', { body: { from: 'change' }, headers: whereDemanded }),
      when('old', 'DELETE', '{retired}{path}/{one.id}', { headers: whereDemanded }),
      when('after', 'GET', '{one}'),
    ],
    expect: [isOver('old'), status('after', 200)],
    mend: 'Answer 410 for everything under a retired version, whatever the method.',
  },
  {
    id: 'VER-4/target',
    title: 'A redirect from a version past its sunset leads to a version that works',
    kind: 'reading',
    needs: ['list', 'retired'],
    after: ['VER-4/reading'],
    steps: [when('list', 'GET', '{retired}{path}')],
    expect: [
      altogether('Location is not below the retired version', (seen) => {
        const exchange = seen.of('list')
        const { answer } = exchange
        if (answer === undefined || !redirects.has(answer.status)) return undefined
        const location = fieldOf(answer, 'Location')
        const target = location && URL.parse(location, exchange.asked.url)?.pathname
        const isBelow = !target || `${target}/`.startsWith(`${seen.fill('{retired}')}/`)
        return isBelow ? finding(exchange, { field: 'Location' }, `it leads to ${location ?? 'nothing'}`) : undefined
      }),
    ],
    mend: 'Redirect to the same address in the version that comes after.',
  },
]

function isOver(step: string) {
  return everyAnswerOf(step, 'answers 410, or redirects', (answer, _, exchange) =>
    answer.status === 410 || redirects.has(answer.status)
      ? undefined
      : finding(exchange, 'status', `${answer.status} in place of 410, or 308 and others`),
  )
}
