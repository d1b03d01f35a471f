/**
 * Runs the tests that follow the engine on PostgreSQL: `npm run test:postgres` on 18, `npm run test:postgres:15` on 15.
 * Files may be named, and options of `node --test`: `npm run test:postgres -- test/scenarios/del.test.ts`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { type Version, whyNoPostgres } from '../test/postgres/programs.ts'
import { testFiles } from '../test/postgres/test-files.ts'

const [version, ...given] = process.argv.slice(2) as [Version, ...string[]]
const missing = process.env.TEST_POSTGRES === undefined ? whyNoPostgres(version) : undefined
if (missing !== undefined) {
  console.error(`Nothing was tried on PostgreSQL ${version}: ${missing}.`)
  // 18 comes with the packages; 15 does not, and is tried where it is.
  process.exit(version === '18' ? 1 : 0)
}

const named = given.some((word) => word.endsWith('.ts'))
const files = named ? [] : (await testFiles()).filter(({ follows }) => follows).map(({ file }) => file)
// Half of the work is done by the server: one more file at a time than Node would take.
const words = [
  ...[
    '--test',
    '--test-timeout=600000',
    `--test-concurrency=${availableParallelism()}`,
    '--test-global-setup=test/postgres/global-setup.ts',
  ],
  ...[...given, ...files],
]
const child = spawn(process.execPath, words, {
  stdio: 'inherit',
  env: { ...process.env, TEST_ENGINE: 'postgres', TEST_POSTGRES_VERSION: version },
})
// Who ends this ends the tests.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
const [code] = await once(child, 'exit')
process.exitCode = code ?? 1
