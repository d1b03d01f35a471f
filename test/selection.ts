/** Which test files run when: `npm test` runs the quick ones on both engines, and `npm run test:all` the others. */

// These take many seconds or much memory, or measure time, which a busy machine disturbs.
const slow = [
  /^src\/changes\/hostile/,
  /^src\/jobs\/import\.test/,
  /^src\/server\/node\/(?:overload|slow-clients|unread|file)\.test/,
  /^src\/storage\/postgres\/(?:query-plan|migrat)/,
  /^src\/storage\/sqlite\/migrate-(?:random|interrupted)/,
  /^src\/cli\/(?:dev|huge-files|import)\.test/,
]

const long = [
  /^src\/(?:cli\/dev|server\/node\/slow-clients)\.test/,
  /^test\/(?:container|documentation|package|power-cut|schemathesis)\//,
  /^test\/(?:backup|canaries|command-errors|deletion-crash|durability|move|permissions|remembered|workers)\.test/,
  /^test\/(?:checker\/conditions|races\/pairs|wire\/large-files)\.test/,
  /^test\/browser\/(?:api-page|console-(?:accessibility|browse|openid|session))\.test/,
]

const quickTests =
  /^test\/(?:scenarios\/.*|boundaries|engine|examples|openapi-truth|private-files|readiness|rules|checker\/own|checker\/cases|documentation\/(?:page|links)|wire\/head|client\/(?:bundle|client)|browser\/(?:browser|cors|console-journey|console-permissions))\.test\.ts$/

// Others run these: Schemathesis has groups of its own, and one command needs a Redis server.
const elsewhere = /^test\/(?:schemathesis|redis)\//

/** Whether every change must pass it. */
export function isQuick(file: string): boolean {
  return file.startsWith('test/') ? quickTests.test(file) : !slow.some((pattern) => pattern.test(file))
}

/** Whether it runs after the quick tests. */
export function isRest(file: string): boolean {
  return !isQuick(file) && !elsewhere.test(file)
}

/** Whether it takes half a minute or more: it begins before the others, so that none of it is left at the end. */
export function isLong(file: string): boolean {
  return long.some((pattern) => pattern.test(file))
}

/** Whether it opens pages in a browser. `npm test` runs the quick ones on SQLite only. */
export function opensPages(file: string): boolean {
  return file.startsWith('test/browser/')
}

/**
 * Whether it opens a PostgreSQL database whatever engine the run is for: it tests that engine alone, or compares both.
 */
export function isPostgresOnly(file: string): boolean {
  return /^(?:test\/(?:container|differential|documentation|postgres|races)\/|src\/storage\/postgres\/|test\/(?:move|backup)\.test)/.test(
    file,
  )
}

/** Whether it may run in one process with others: it leaves nothing behind there, and measures no time or memory. */
export function mayShareProcess(file: string): boolean {
  return /^(?:test\/scenarios|console)\/|^src\/(?!server|cli|storage\/(?:sqlite|postgres|transactions\/memory)|plan\/json-patch\.test)/.test(
    file,
  )
}

/** Whether PostgreSQL can change its result: thousands of cases of it are decided above the storage otherwise. */
export function isWorthRepeating(file: string): boolean {
  // Of the pages, the walk through the console and its deletions depend on the database; the others on the browser.
  return !/^test\/(?:postgres\/pooler|permissions|wire\/conditions|power-cut|checker\/(?!own|harms)|browser\/(?!console-journey|deletion))/.test(
    file,
  )
}

/** Whether it tests what depends most on how a database stores and finds things. */
export function isEssential(file: string): boolean {
  return /^test\/scenarios\/(?:con|con-writers|del.*|job.*|met-idempotency|pag.*|qry|res.*|search)\.test\.ts$/.test(
    file,
  )
}

/** Whether it also runs on servers with four workers: it tests what several processes could get wrong together. */
export function concernsWorkers(file: string): boolean {
  return /^test\/(?:races\/|(?:stopping|durability|idempotency-crash|deletion-crash|export-servers|maintenance)\.test)/.test(
    file,
  )
}
