/**
 * Runs the tests that follow the engine on PostgreSQL: `npm run test:postgres` on 18, `npm run test:postgres:15` on 15.
 * `--mostly` leaves out what takes long and tells little more; `--briefly` tries only the rules that hang most on what is stored. Files may be named, and options of `node --test`:
 * `npm run test:postgres -- test/scenarios/del.test.ts`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { type Version, whyNoPostgres } from '../test/postgres/programs.ts'
import { testFiles } from '../test/postgres/test-files.ts'

const [version, ...words] = process.argv.slice(2) as [Version, ...string[]]
const missing = process.env.TEST_POSTGRES === undefined ? whyNoPostgres(version) : undefined
if (missing !== undefined) {
  console.error(`Nothing was tried on PostgreSQL ${version}: ${missing}.`)
  // 18 comes with the packages, on Linux; 15 does not, and is tried where it is.
  process.exit(version === '18' && process.platform === 'linux' ? 1 : 0)
}

/** What hangs most on how an engine keeps and finds things. */
const brief =
  /^test\/(?:upgrade|scenarios\/(?:con|con-writers|del.*|job.*|met-idempotency|pag.*|qry|res.*|search))\.test\.ts$/

/** All scenarios behind a pooler, all permissions, all conditions on the wire: minutes. */
const long = /^test\/(?:postgres\/pooler|permissions|wire\/conditions)/

const named = words.some((word) => word.endsWith('.ts'))
const briefly = words.includes('--briefly')
const mostly = words.includes('--mostly')
const given = words.filter((word) => word !== '--briefly' && word !== '--mostly')
const files = named
  ? []
  : (await testFiles()).filter(({ file, follows }) => follows && isWanted(file)).map(({ file }) => file)

/** What is about PostgreSQL alone, or about both engines at once, is tried by `npm run test:unit` already, on 18. */
function isWanted(file: string): boolean {
  const isItsOwn = /^(?:test\/differential\/|src\/storage\/postgres\/|test\/move\.test)/.test(file)
  // Thousands of generated requests have a command of their own.
  if (file.startsWith('test/schemathesis/')) return false
  if (briefly) return brief.test(file)
  if (mostly && long.test(file)) return false
  return version !== '18' || !isItsOwn
}

// Half of the work is done by the server: one more file at a time than Node would take.
const options = [
  ...[
    '--test',
    '--test-timeout=600000',
    `--test-concurrency=${availableParallelism()}`,
    '--test-global-setup=test/postgres/global-setup.ts',
  ],
  ...[...given, ...files],
]
const child = spawn(process.execPath, options, {
  stdio: 'inherit',
  env: { ...process.env, TEST_ENGINE: 'postgres', TEST_POSTGRES_VERSION: version },
})
// Who ends this ends the tests.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1
