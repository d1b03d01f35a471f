/**
 * Which test files run when: `npm test` runs the quick ones on both engines, `npm run test:all` most others, and
 * `npm run test:release` the rest, and again what the first two did not repeat on another engine.
 */

/** A path as the patterns below have it. */
function placed(file: string): string {
  return file
    .replace('packages/check/src/', 'src/checker/')
    .replace('packages/compare/src/', 'src/changes/')
    .replace('packages/client/src/providers/', 'src/providers/')
    .replace('packages/client/src/', 'src/client/')
    .replace('packages/contract/src/fields/', 'src/http/fields/')
    .replace('packages/console/src/', '')
    .replace(/^packages\/(?:contract|server)\/src\//, 'src/')
}

// These take many seconds or much memory, or measure time, which a busy machine disturbs.
const slow = [
  /^src\/changes\/hostile/,
  /^src\/jobs\/import(?:-staged)?\.test/,
  /^src\/server\/node\/(?:overload|slow-clients|unread|file)\.test/,
  /^src\/storage\/postgres\/(?:query-plan|migrat)/,
  /^src\/storage\/sqlite\/(?:migrate-(?:random|interrupted)|slow-reads)/,
  /^src\/cli\/(?:dev|huge-files|import)\.test/,
]

const long = [
  /^src\/(?:cli\/dev|server\/node\/slow-clients)\.test/,
  /^test\/(?:container|documentation|package|power-cut|schemathesis)\//,
  /^test\/(?:backup|canaries|command-errors|deletion-crash|durability|events-crash|function-crash|injected-faults|move|permissions|remembered|webhooks-crash|workers)\.test/,
  /^test\/(?:checker\/(?:conditions|strangers)|import\/interrupted|postgres\/import-tables|races\/pairs|wire\/large-files)\.test/,
  /^test\/browser\/(?:api-page|console-(?:accessibility|browse|openid|session))\.test/,
]

const quickTests =
  /^test\/(?:scenarios\/.*|boundaries|engine|examples|openapi-truth|private-files|readiness|rules|checker\/own|checker\/cases|documentation\/(?:page|links)|wire\/head|client\/(?:bundle|client)|browser\/(?:browser|cors|console-journey|console-permissions))\.test\.ts$/

// Others run these: Schemathesis has groups of its own, and one command needs a Redis server.
const elsewhere = /^test\/(?:schemathesis|redis)\//

// Long, and about parts that change seldom, or that shorter tests also enter.
const beforeRelease = [
  /^src\/(?:changes\/hostile|storage\/postgres\/(?:migrate-random|query-plan)|storage\/sqlite\/migrate-random)/,
  /^test\/(?:container|differential|generators|power-cut)\//,
  /^test\/(?:canaries|deletion-pace|export-pace|hanging-worker|purge-pace|remembered)\.test/,
  /^test\/browser\/(?:api-page|console-(?:openid|places))\.test/,
  /^test\/(?:checker\/(?:danger|discover|harms-deletion)|races\/large-\w+|wire\/large-files)\.test/,
]

/** Whether every change must pass it. */
export function isQuick(file: string): boolean {
  return file.startsWith('test/') ? quickTests.test(placed(file)) : !slow.some((pattern) => pattern.test(placed(file)))
}

/** Whether it runs after the quick tests. */
export function isRest(file: string): boolean {
  return !isQuick(file) && !elsewhere.test(placed(file)) && !isBeforeRelease(file)
}

/** Whether a release must pass it, and not every change. */
export function isBeforeRelease(file: string): boolean {
  return beforeRelease.some((pattern) => pattern.test(placed(file)))
}

/** Whether it takes half a minute or more: it begins before the others, so that none of it is left at the end. */
export function isLong(file: string): boolean {
  return long.some((pattern) => pattern.test(placed(file)))
}

/** Whether it opens pages in a browser. `npm test` runs the quick ones on SQLite only. */
export function opensPages(file: string): boolean {
  return file.startsWith('test/browser/')
}

/**
 * Whether it opens a PostgreSQL database whatever engine the run is for: it tests that engine alone, or compares both.
 */
export function isPostgresOnly(file: string): boolean {
  return /^(?:test\/(?:container|differential|documentation|postgres|races)\/|src\/storage\/postgres\/|test\/(?:move|backup(?:-forged|-releases)?)\.test)/.test(
    placed(file),
  )
}

/** Whether it may run in one process with others: it leaves nothing behind there, and measures no time or memory. */
export function mayShareProcess(file: string): boolean {
  return /^(?:test\/scenarios|console)\/|^src\/(?!server|cli|storage\/(?:sqlite|postgres|transactions\/memory)|plan\/json-patch\.test)/.test(
    placed(file),
  )
}

/** Whether its result is decided above the storage: on PostgreSQL it runs before a release only. */
export function isAboveStorage(file: string): boolean {
  return /^(?:test\/scenarios\/(?:aut-(?:credentials|jwt|own)|doc|err-(?:bodies|functions)|lim-(?:fetch|rates|shared)|met-prefer|ops-|opt|prefer|qry-refusals|sec|ver-(?:carriers|lifecycle|successor|transcript))|src\/(?:providers|server\/(?:pages|node))\/|src\/cli\/(?:types|versions|serve-jwt)\.|test\/(?:proxies\/|wire\/head))/.test(
    placed(file),
  )
}

/** Whether PostgreSQL can change its result: thousands of cases of it are decided above the storage otherwise. */
export function isWorthRepeating(file: string): boolean {
  // Of the pages, the walk through the console and its deletions depend on the database; the others on the browser.
  return !/^test\/(?:postgres\/pooler|permissions|wire\/conditions|power-cut|checker\/(?!own|harms)|browser\/(?!console-journey|deletion))/.test(
    placed(file),
  )
}

/** Whether PostgreSQL can change its result most, so that the tests after `npm test` repeat it there every time. */
export function isRepeatedFirst(file: string): boolean {
  return /^(?:test\/(?:durability|events|events-crash|function-crash|idempotency-crash|injected-faults|purge-race|upgrade|upgrade-rolling|webhooks-crash)\b|src\/jobs\/import)/.test(
    placed(file),
  )
}

/** Whether it tests what depends most on how a database stores and finds things. */
export function isEssential(file: string): boolean {
  return /^test\/scenarios\/(?:con|con-writers|del|del-dependents|del-purge|job|met-idempotency|pag|qry|res|search)\.test\.ts$/.test(
    placed(file),
  )
}

/** Whether it also runs on servers with four workers: it tests what several processes could get wrong together. */
export function concernsWorkers(file: string): boolean {
  return /^test\/(?:races\/|(?:stopping|durability|idempotency-crash|deletion-crash|export-servers|maintenance)\.test)/.test(
    placed(file),
  )
}

/** Whether it is about changes that workers make at the same time, and short. */
export function isRaceOfWorkers(file: string): boolean {
  return /^test\/(?:races\/(?:idempotency|permissions|rates|sequences|unique)|idempotency-crash)\.test/.test(
    placed(file),
  )
}
