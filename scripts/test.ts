/**
 * Runs tests in groups, and prints a line for each group, and failures in full. Lanes take test files from one queue,
 * and there is another one while processors have nothing to do, so that every processor is busy until the end.
 *
 * The name of a test file says when it runs. `quick` runs what every change must pass, on both engines: `x.test.ts`.
 * `rest` runs `x.slow.test.ts` and the folder `browser/` once, and again a part of what another engine or several workers
 * change most. With TEST_UNTIL (seconds since 1970), no run of it begins after that time, and those that are left are
 * named: continuous integration has half an hour, however slow its machine is.
 * `release` runs `x.release.test.ts`, and all others again where the first two did not repeat them.
 * `postgres 18` and `postgres 15` run all tests that follow the engine, `package NAME` the quick ones of one package.
 * Test files and options of `node --test` after the word run instead of its selection, on that engine.
 */
import { spawn } from 'node:child_process'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { noBrowser } from '../test/browser/chromium.ts'
import { whyNoCluster } from '../test/failover/cluster.ts'
import { type Cluster, startCluster } from '../test/postgres/cluster.ts'
import { type Version, whyNoPostgres } from '../test/postgres/programs.ts'
import { testFiles } from '../test/postgres/test-files.ts'
import { buildProgramOfTests } from './package/build-package.ts'

/** When a test runs, by its name. */
const kindOf = (file: string) =>
  /\.(slow|release)\.test\.ts$/.exec(file)?.[1] ?? (/^test\/browser\//.test(file) ? 'slow' : 'quick')
/** Their files open both engines, or one, whatever engine the run is for. */
const choosesEngines = (file: string) =>
  /^test\/(?:container|differential|documentation|engines|postgres|races)\/|\/storage\/postgres\//.test(file)
/** `npm test` takes the scenarios of `core/` on PostgreSQL, and `test:all` these. */
const isLateOnPostgres = (file: string) => /^test\/scenarios\/[^/]+$/.test(file)
/** What they test is decided above the storage, so that PostgreSQL cannot change it. */
const isAboveStorage = (file: string) =>
  /^test\/(?:scenarios\/http|checker|proxies|wire)\/|\/src\/(?:providers|server|cli)\//.test(file)
/**
 * Tests of these rooms may share a process: they leave nothing behind there, and measure no time or memory. A process
 * takes seconds to load the program.
 */
const mayShareProcess = (file: string) =>
  kindOf(file) === 'quick' &&
  /^(?:test\/(?:client|scenarios|tenants)\/|packages\/(?!server\/src\/(?:server|cli)\/))/.test(file)
/** They begin first: they take minutes, as do many files that share a process. */
const isLong = (file: string) =>
  /^test\/(?:checker\/own\.|documentation\/|package\/|permissions\.release|power-cut\/|schemathesis\/|workers\.)/.test(
    file,
  ) || /^test\/(?:races\/pairs|postgres\/import-tables|postgres\/pooler)\./.test(file)
/** They begin last: the parts of the console and of the checker, each for itself. */
const isPart = (file: string) =>
  /^test\/(?:browser\/(?!console-(?:accessibility|browse|hostile|journey))|checker\/(?!command|harms))/.test(file)

/** Test files that run in the same way, and have one line of results. */
interface Group {
  readonly title: string
  readonly files: readonly string[]
  /** The PostgreSQL that the tests run on; they run on SQLite where it is left out. */
  readonly version?: Version
  /** How many workers the servers have that the tests start; one where it is left out, and changes are no messages. */
  readonly workers?: string
  /** How many requests Schemathesis generates for each operation. */
  readonly examples?: string
  /** Which servers of other stacks are checked. */
  readonly strangers?: string
  /** Which cases of the checker are tried on each of its faults. */
  readonly checker?: string
  /** Whether files share a process, which loads the program once. Otherwise each file has its own. */
  readonly shared?: boolean
}

/** What one run of Node's test runner takes of a group. */
interface Run {
  readonly group: Group
  readonly files: readonly string[]
}

/** What the finished runs of a group have come to. */
interface Tally {
  unfinished: number
  passed: number
  failed: number
  skipped: number
  seconds: number
}

const processors = availableParallelism()
// Many tests wait for most of their time: for a disk, a timer, or a server that starts.
const lanes = processors + 1
/** How many runs there are at most while processors have nothing to do. */
const mostRuns = 3 * processors
/** When no run begins any more, in milliseconds since 1970. */
const until = 1_000 * Number(process.env.TEST_UNTIL ?? Number.POSITIVE_INFINITY)
/** How often the processors are looked at, in milliseconds, and the idle part of the time that makes a run begin. */
const look = { every: 1_000, idle: 0.2 }
// What one test file, or a server that it starts, has compiled, the next need not. Never in a shared folder: Node runs
// what is there.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../.resourced/compiled')

/** The folder of the program that tests start as a process. */
const program = join(import.meta.dirname, '../.resourced/program')

const [selection = 'quick', ...words] = process.argv.slice(2)
const asked: Version = words[0] === '15' ? '15' : '18'
const given = selection === 'package' ? [] : words.filter((word) => word !== '15' && word !== '18')
// npm runs the scripts of a package in its folder.
process.chdir(join(import.meta.dirname, '..'))
const onPostgres = selection === 'postgres'

if (noBrowser !== false) {
  console.error(`No test runs in a browser: ${noBrowser}.`)
  // `npm test` needs Node only; all tests need a browser.
  if (selection === 'rest' || selection === 'release') process.exitCode = 1
}
if (whyNoCluster !== undefined && (selection === 'rest' || selection === 'release')) {
  console.error(`No test of failovers runs: ${whyNoCluster}.`)
}
const clusters = new Map<Version, Promise<Cluster>>()
const durations: { readonly name: string; readonly seconds: number }[] = []
try {
  if (given.length === 0) process.env.TEST_COMMAND = await buildProgramOfTests(program)
  const runs = given.length > 0 ? [namedRun()] : (await groupsOf()).flatMap(runsOf)
  if (!(await runAll(runs))) process.exitCode = 1
} finally {
  for (const cluster of clusters.values()) await (await cluster).stop()
}

/** Options of the test runner may be among the words. */
function namedRun(): Run {
  return { group: { title: 'named files', files: given, ...(onPostgres && { version: asked }) }, files: given }
}

async function groupsOf(): Promise<readonly Group[]> {
  const all = (await testFiles()).filter(({ file }) => !isElsewhere(file))
  const files = all.map(({ file }) => file)
  const of = (kind: string) => files.filter((file) => kindOf(file) === kind)
  const following = all.filter(({ follows }) => follows).map(({ file }) => file)
  const repeated = following.filter((file) => !choosesEngines(file))
  if (selection === 'package') {
    return grouped(
      `packages/${words[0]}`,
      of('quick').filter((file) => file.startsWith(`packages/${words[0]}/`)),
    )
  }
  if (onPostgres) return grouped(`PostgreSQL ${asked}`, asked === '15' ? following : repeated, asked)
  if (selection === 'quick') {
    const quick = repeated.filter(
      (file) => kindOf(file) === 'quick' && !isAboveStorage(file) && !isLateOnPostgres(file),
    )
    return [...grouped('PostgreSQL 18', quick, '18'), ...grouped('SQLite', of('quick'))]
  }
  const workers = of('slow').filter((file) => /^test\/(?:races|crash)\//.test(file))
  const isOfWorkers = (file: string) => /^test\/(?:races\/workers\/|crash\/idempotency)/.test(file)
  const isOfThreads = (file: string) => file.startsWith('test/races/workers/')
  const isOfMessages = (file: string) =>
    /^test\/scenarios\/(?:core\/|(?:del-bulk|del-restore|evt-webhooks|res-prepare|aut-keys)\.)/.test(file)
  // What depends on how an engine writes and locks.
  const isOfCrashes = (file: string) =>
    /^test\/crash\/(?:durability|idempotency|lost-changes|purge-race|transactions)|\/src\/jobs\//.test(file)
  const isOfChecker = (file: string) => /^test\/checker\/(?!strangers)/.test(file)
  const slow = repeated.filter((file) => kindOf(file) === 'slow')
  const late = repeated.filter(isLateOnPostgres)
  const third = late.filter((_, index) => index % 3 === 0)
  const generated = ['test/schemathesis/schemathesis.test.ts']
  if (selection === 'release') {
    const apart = repeated.filter((file) => kindOf(file) === 'quick' && isAboveStorage(file))
    const others = late.filter((file) => !third.includes(file))
    return [
      { title: 'Schemathesis, SQLite', files: generated, examples: '5' },
      { title: 'Schemathesis, PostgreSQL 18', files: generated, examples: '5', version: '18' },
      { title: 'Other stacks', files: ['test/checker/strangers.slow.test.ts'], strangers: 'all' },
      ...grouped('Checker', of('slow').filter(isOfChecker)).map((group) => ({ ...group, checker: 'rule' })),
      ...grouped('SQLite', [...of('release'), ...of('slow').filter(isOfThreads)]),
      ...withWorkers(workers.filter((file) => !isOfWorkers(file))),
      ...grouped('PostgreSQL 18', [...apart, ...others, ...slow.filter((file) => !isOfCrashes(file))], '18'),
      ...grouped('PostgreSQL 15', following, '15'),
    ]
  }
  return [
    { title: 'Schemathesis, SQLite', files: generated, examples: '4' },
    ...grouped(
      'SQLite',
      of('slow').filter((file) => !isOfThreads(file)),
    ),
    ...withWorkers([...workers.filter(isOfWorkers), ...files.filter(isOfMessages)]),
    ...grouped('PostgreSQL 18', [...third, ...slow.filter(isOfCrashes)], '18'),
  ]
}

/** These have groups and commands of their own. */
function isElsewhere(file: string): boolean {
  return /^test\/(?:(?:schemathesis|redis)\/|failover\/.*\.release\.)/.test(file)
}

/** Files whose servers have four workers, and whose changes are messages between threads. */
function withWorkers(files: readonly string[]): Group[] {
  return grouped('4 workers', files).map((group) => ({ ...group, workers: '4' }))
}

/** Files of one engine: those that may share a process, and the others. */
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
    { title: `${title}, one process`, files: sharing, shared: true, ...engine },
    { title: `${title}, a process for each file`, files: apart, ...engine },
  ]
  return groups.filter((group) => group.files.length > 0)
}

/** A run for each processor where files share a process; otherwise one for each file. */
function runsOf(group: Group): Run[] {
  const parts = group.shared
    ? Array.from({ length: processors }, (_, part) => group.files.filter((_, index) => index % processors === part))
    : group.files.map((file) => [file])
  return parts.filter((files) => files.length > 0).map((files) => ({ group, files }))
}

/** @returns whether all tests have passed */
async function runAll(runs: readonly Run[]): Promise<boolean> {
  // A lane that took a long one last would end long after the others. No test may depend on those before it.
  const ranks = new Map(runs.map((each) => [each, rankOf(each) + Math.random()]))
  const waiting = runs.toSorted((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0))
  const tallies = new Map<Group, Tally>()
  for (const { group } of runs) {
    const tally = tallies.get(group) ?? { unfinished: 0, passed: 0, failed: 0, skipped: 0, seconds: 0 }
    tallies.set(group, { ...tally, unfinished: tally.unfinished + 1 })
  }
  let passed = true
  const running = new Set<Promise<void>>()
  const begin = () => {
    const next = Date.now() < until ? waiting.shift() : undefined
    if (next === undefined) return
    const begun = run(next, tallies.get(next.group) as Tally).then((hasPassed) => {
      if (!hasPassed) passed = false
      running.delete(begun)
      if (running.size < lanes) begin()
    })
    running.add(begun)
  }
  for (let lane = 0; lane < lanes; lane++) begin()
  const idle = idleMeter()
  const timer = setInterval(() => {
    if (idle() > look.idle && running.size < mostRuns) begin()
  }, look.every)
  while (running.size > 0) await Promise.race(running)
  clearInterval(timer)
  for (const [group, tally] of tallies) if (tally.unfinished > 0) tell(group, tally)
  if (waiting.length > 0) {
    const names = waiting.flatMap(({ group, files }) => files.map((file) => `       ${file} (${group.title})`))
    console.log([`No time was left for ${names.length} files:`, ...names].join('\n'))
    if (waiting.length === runs.length) passed = false
  }
  const longest = durations.toSorted((one, other) => other.seconds - one.seconds).slice(0, 10)
  const lines = longest.map(({ name, seconds }) => `${seconds.toFixed(0).padStart(6)} s  ${name}`)
  if (lines.length > 1) console.log(['The longest:', ...lines].join('\n'))
  return passed
}

/** Measures in which part of the time since the last call the processors had nothing to do, from 0 to 1. */
function idleMeter(): () => number {
  const times = () =>
    cpus().map(({ times }) => ({ idle: times.idle, all: Object.values(times).reduce((a, b) => a + b) }))
  let before = times()
  return () => {
    const now = times()
    const spent = (of: 'idle' | 'all') => now.reduce((sum, each, index) => sum + each[of] - before[index]![of], 0)
    const share = spent('idle') / spent('all')
    before = now
    return share
  }
}

/** When a run begins: before those of a higher rank, and among those of its own by chance. */
function rankOf({ group, files }: Run): number {
  if (group.shared === true || files.some(isLong)) return 0
  return files.every(isPart) ? 2 : 1
}

/** @returns whether its tests have passed */
async function run({ group, files }: Run, tally: Tally): Promise<boolean> {
  const { title, version, workers, examples, strangers, checker, shared = false } = group
  // Tests of SQLite use 18 too: some compare both engines.
  const database = await databaseOf(version ?? '18')
  const started = performance.now()
  const options = ['--test', '--test-timeout=600000', shared ? '--test-isolation=none' : '--test-concurrency=1']
  const child = spawn(process.execPath, [...options, '--test-reporter=spec', ...files], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...(examples && { SCHEMATHESIS_EXAMPLES: examples }),
      ...(strangers && { STRANGERS: strangers }),
      ...(checker && { CHECKER: checker }),
      ...{ ...process.env, ...database, ...(workers && { TEST_WORKERS: workers }) },
      TEST_ENGINE: version === undefined ? 'sqlite' : 'postgres',
    },
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const counts = Object.fromEntries([...output.matchAll(/^ℹ (\w+) (\d+)/gm)].map(([, name, count]) => [name, count]))
  const seconds = (performance.now() - started) / 1000
  tally.seconds += seconds
  if (files.length === 1) durations.push({ name: `${files[0]} (${title.replace(/,.*/, '')})`, seconds })
  for (const [name, word] of [
    ['passed', 'pass'],
    ['failed', 'fail'],
    ['skipped', 'skipped'],
  ] as const) {
    tally[name] += Number(counts[word] ?? 0)
  }
  if (code !== 0) {
    const failures = output.indexOf('\n✖ failing tests:')
    console.log(`${title}: ${files.join(' ')} failed`)
    // Errors of no test are told in one line each, before the failures.
    for (const [line] of output.matchAll(/^ℹ (?:Error|Warning): .*/gm)) console.log(line)
    console.log(failures === -1 ? output : output.slice(failures))
  }
  if (--tally.unfinished === 0) tell(group, tally)
  return code === 0
}

function tell({ title }: Group, { passed, failed, skipped, seconds }: Tally): void {
  console.log(`${title}: ${passed} passed, ${failed} failed, ${skipped} skipped, ${seconds.toFixed(0)} s`)
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
