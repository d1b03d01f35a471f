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

const quickTests =
  /^test\/(?:scenarios\/.*|boundaries|engine|examples|openapi-truth|private-files|readiness|rules|checker\/own|checker\/cases|documentation\/(?:page|links)|wire\/head)\.test\.ts$/

// Commands of their own run these: `test:schemathesis`, `test:browser`, and one that needs a Redis server.
const elsewhere = /^test\/(?:schemathesis|browser|redis)\//

/** Whether every change must pass it. */
export function isQuick(file: string): boolean {
  return file.startsWith('src/') ? !slow.some((pattern) => pattern.test(file)) : quickTests.test(file)
}

/** Whether it runs after the quick tests. */
export function isRest(file: string): boolean {
  return !isQuick(file) && !elsewhere.test(file)
}

/**
 * Whether it opens a PostgreSQL database whatever engine the run is for: it tests that engine alone, or compares both.
 */
export function isPostgresOnly(file: string): boolean {
  return /^(?:test\/(?:differential|postgres|races)\/|src\/storage\/postgres\/|test\/(?:move|backup)\.test)/.test(file)
}

/** Whether it may run in one process with others: it leaves nothing behind there and does not measure time. */
export function mayShareProcess(file: string): boolean {
  return /^test\/scenarios\/|^src\/(?!server|cli|storage\/(?:sqlite|postgres)|plan\/json-patch\.test)/.test(file)
}

/** Whether PostgreSQL can change its result: thousands of cases of it are decided above the storage otherwise. */
export function isWorthRepeating(file: string): boolean {
  return !/^test\/(?:postgres\/pooler|permissions|wire\/conditions|power-cut|checker\/(?!own|harms))/.test(file)
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
