/**
 * Runs tests in groups, as many at once as there are processors, and prints failures alone in full.
 *
 * `quick` runs what every change must pass, on both engines; `rest` everything else; `postgres 18` and `postgres 15`
 * all tests that follow the engine. Test files and options of `node --test` after the word run instead of its
 * selection, on that engine.
 */
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { noBrowser } from '../test/browser/chromium.ts'
import { type Cluster, startCluster } from '../test/postgres/cluster.ts'
import { type Version, whyNoPostgres } from '../test/postgres/programs.ts'
import { testFiles } from '../test/postgres/test-files.ts'
import {
  concernsWorkers,
  isEssential,
  isPostgresOnly,
  isQuick,
  isRest,
  isWorthRepeating,
  mayShareProcess,
  opensPages,
} from '../test/selection.ts'

/** Test files that one run of Node's test runner takes. */
interface Group {
  readonly title: string
  readonly files: readonly string[]
  /** The PostgreSQL that the tests run on; they run on SQLite where it is left out. */
  readonly version?: Version
  /** How many workers the servers have that the tests start; one where it is left out. */
  readonly workers?: string
  /** Whether all files run in one process, which loads the program once. Otherwise each file has its own. */
  readonly shared?: boolean
}

const lanes = availableParallelism()
const [selection = 'quick', ...words] = process.argv.slice(2)
const asked: Version = words[0] === '15' ? '15' : '18'
const given = words.filter((word) => word !== '15' && word !== '18')
const onPostgres = selection === 'postgres'

if (noBrowser !== false) {
  console.error(`No test runs in a browser: ${noBrowser}.`)
  // `npm test` needs Node only; all tests need a browser.
  if (selection === 'rest') process.exitCode = 1
}
const clusters = new Map<Version, Promise<Cluster>>()
try {
  const groups = given.length > 0 ? [{ title: 'named files', files: given, ...on(asked) }] : await groupsOf()
  if ((await runAll(groups)) > 0) process.exitCode = 1
} finally {
  for (const cluster of clusters.values()) await (await cluster).stop()
}

function on(version: Version): Pick<Group, 'version'> {
  return onPostgres ? { version } : {}
}

async function groupsOf(): Promise<readonly Group[]> {
  const all = await testFiles()
  const files = all.map(({ file }) => file)
  const following = all.filter(({ follows }) => follows).map(({ file }) => file)
  const repeated = following.filter((file) => !isPostgresOnly(file))
  if (onPostgres) return grouped(`PostgreSQL ${asked}`, asked === '15' ? following : repeated, asked)
  if (selection === 'quick') {
    const quick = repeated.filter((file) => isQuick(file) && !opensPages(file))
    return [...grouped('PostgreSQL 18', quick, '18'), ...grouped('SQLite', files.filter(isQuick))]
  }
  const rest = repeated.filter((file) => isRest(file) || opensPages(file))
  return [
    ...grouped('SQLite', files.filter(isRest)),
    ...grouped('4 workers', files.filter(concernsWorkers)).map((group) => ({ ...group, workers: '4' })),
    ...grouped('PostgreSQL 18', rest.filter(isWorthRepeating), '18'),
    ...grouped('PostgreSQL 15', repeated.filter(isEssential), '15'),
  ]
}

/**
 * Files of one engine: those that may share a process in a group for each processor, the others in groups of their own.
 */
function grouped(title: string, files: readonly string[], version?: Version): Group[] {
  const missing = version === undefined || process.env.TEST_POSTGRES !== undefined ? undefined : whyNoPostgres(version)
  if (missing !== undefined) {
    console.error(`No test runs on ${title}: ${missing}.`)
    // 18 is installed with the packages, on Linux. 15 is optional: it is tested where Debian's is installed.
    if (version === '18' && process.platform === 'linux') process.exitCode = 1
    return []
  }
  const engine = version === undefined ? {} : { version }
  const sharing = files.filter(mayShareProcess)
  const apart = files.filter((file) => !mayShareProcess(file))
  const groups = [
    ...split(apart).map((part) => ({ title: `${title}, a process for each file`, files: part, ...engine })),
    ...split(sharing).map((part) => ({ title: `${title}, one process`, files: part, shared: true, ...engine })),
  ]
  return groups.filter((group) => group.files.length > 0)
}

function split(files: readonly string[]): string[][] {
  return Array.from({ length: lanes }, (_, lane) => files.filter((_, index) => index % lanes === lane))
}

/** @returns how many groups failed */
async function runAll(groups: readonly Group[]): Promise<number> {
  const waiting = [...groups]
  let failed = 0
  const lane = async () => {
    for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
      if (!(await run(group))) failed++
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return failed
}

async function run({ title, files, version, workers, shared = false }: Group): Promise<boolean> {
  // Tests of SQLite use 18 too: some compare both engines.
  const database = await databaseOf(version ?? '18')
  const started = performance.now()
  const options = ['--test', '--test-timeout=600000', shared ? '--test-isolation=none' : '--test-concurrency=1']
  const child = spawn(process.execPath, [...options, '--test-reporter=spec', ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...{ ...process.env, ...database, ...(workers && { TEST_WORKERS: workers }) },
      TEST_ENGINE: version === undefined ? 'sqlite' : 'postgres',
    },
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const counts = Object.fromEntries([...output.matchAll(/^ℹ (\w+) (\d+)/gm)].map(([, name, count]) => [name, count]))
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.log(`${title}: ${counts.pass} passed, ${counts.fail} failed, ${counts.skipped} skipped, ${seconds} s`)
  const failures = output.indexOf('\n✖ failing tests:')
  if (code !== 0) console.log(failures === -1 ? output : output.slice(failures))
  return code === 0
}

/** The address of a server that all groups of a version share; each test has a database of its own on it. */
async function databaseOf(version: Version): Promise<Record<string, string>> {
  const own = { TEST_POSTGRES_VERSION: version }
  if (process.env.TEST_POSTGRES !== undefined || whyNoPostgres(version) !== undefined) return own
  // Resourced refuses a database that does not wait for the disk. The data are in memory, where waiting costs little.
  const starting = clusters.get(version) ?? startCluster({ version, settings: { fsync: 'on', full_page_writes: 'on' } })
  clusters.set(version, starting)
  return { ...own, TEST_POSTGRES: (await starting).adminUrl }
}
