/**
 * `resourced doctor [FILE]`: checks what would fail or lose data on this machine, and says what to do. It changes
 * nothing, creates nothing, and waits for no server.
 */
import { existsSync } from 'node:fs'
import { styleText } from 'node:util'
import { counted, print } from 'resourced-check/terminal'
import type { Catalog } from 'resourced-contract/model/resource'
import { withoutCredentials } from 'resourced-contract/model/text'
import { isInMemory } from '../server/database-address.ts'
import type { TlsOptions } from '../server/node/certificates.ts'
import { catalogAt, type DatabaseOptions, databaseFile, openHost } from '../server/open-database.ts'
import type { Settings } from '../server/settings.ts'
import { checkDatabase } from './doctor/database.ts'
import { type Diagnosis, ok, problem, type Severity, warning } from './doctor/diagnosis.ts'
import {
  checkDisk,
  checkFileSystem,
  checkMemory,
  checkOpenFiles,
  checkPermissions,
  checkPort,
} from './doctor/machine.ts'
import { checkReferences } from './doctor/references.ts'
import { checkTenants } from './doctor/tenants.ts'
import { checkTls } from './doctor/tls.ts'
import { explain } from './explain.ts'
import { loadCatalog } from './load-declaration.ts'
import { poolOfWorker, workersOf } from './serve-command.ts'
import { missingRuntime } from './supported-node.js'

interface DoctorOptions extends DatabaseOptions, TlsOptions, Pick<Settings, 'workers' | 'metricsPort'> {
  readonly port: number
  readonly metricsHost: string
  readonly json?: boolean
}

/** Runs all checks. The exit code is 1 if one found a problem. `tenant` is the name of one that is checked too. */
export async function doctorCommand(
  file: string | undefined,
  { tenant, ...options }: DoctorOptions & { readonly tenant?: string },
): Promise<void> {
  const { port, metricsPort } = options
  // Wrong options are refused before anything is checked.
  const workers = workersOf(options.workers, options)
  // So is a file that is not there: a mistyped name would be one finding among others, on standard output.
  if (file !== undefined && !existsSync(file)) await loadCatalog(file)
  const { catalog, diagnosis } = await checkDeclarationFile(file)
  const path = databaseFile(options)
  const found: readonly (Diagnosis | undefined)[] = [
    checkNode(),
    checkMemory(),
    checkOpenFiles(),
    diagnosis,
    ...(catalog === undefined ? [] : checkReferences(catalog)),
    ...(path === undefined ? [] : [checkPermissions(path), checkFileSystem(path), checkDisk(path)]),
    ...(await checkContent(options, { workers, catalog, tenant })),
    ...checkTls(options),
    await checkPort('port', options.host, port),
    ...(metricsPort === undefined ? [] : [await checkPort('metrics port', options.metricsHost, metricsPort)]),
  ]
  const all = found.filter((each) => each !== undefined).map(oneLine)
  print(options.json === true ? `${JSON.stringify(all, null, 2)}\n` : `${all.map(formatted).join('\n')}\n`)
  if (all.some(({ severity }) => severity === 'problem')) process.exitCode = 1
}

function checkNode(): Diagnosis {
  const missing = missingRuntime()
  return missing === undefined ? ok('Node.js', `Node.js ${process.versions.node}.`) : problem('Node.js', missing)
}

async function checkDeclarationFile(
  file: string | undefined,
): Promise<{ readonly catalog?: Catalog; readonly diagnosis: Diagnosis }> {
  const check = 'declaration'
  try {
    const catalog = await loadCatalog(file)
    const { size } = catalog.resources
    return { catalog, diagnosis: ok(check, `${counted(size, 'collection')}, no mistakes.`) }
  } catch (error) {
    return { diagnosis: problem(check, explain(error)) }
  }
}

interface ContentCheck {
  readonly workers: number
  readonly catalog: Catalog | undefined
  /** The name of a tenant, whose database is checked beside that of the operators. */
  readonly tenant: string | undefined
}

async function checkContent(options: DoctorOptions, { workers, catalog, tenant }: ContentCheck): Promise<Diagnosis[]> {
  if (isInMemory(options.database)) {
    const remedy = 'Use --database sqlite:FILE or postgres://….'
    return [warning('database', 'A database in memory is lost when the server stops.', remedy)]
  }
  try {
    const { databaseUnsafe: unsafe = false } = options
    const pool = poolOfWorker(options.databasePool, workers) ?? 10
    const given = { address: options.database, now: Date.now(), pool, workers, unsafe }
    const host = await openHost(options)
    // Before the tenants are read: none is created between the two that would have no row.
    const databases = await host.databases()
    const examined = await host.administer().examine(catalog && catalogAt(options, catalog))
    const tenants = examined?.tenants
    const entry = tenants?.find(({ name }) => name === tenant)
    const own = entry && (await host.administer(entry.id).examine(catalog))
    await host.close()
    const hash = catalog?.tenants && host.hashOf(catalog)
    const place = `The database of the tenant ${JSON.stringify(tenant)}`
    return [
      ...checkDatabase(examined, given),
      ...(tenants === undefined ? [] : checkTenants({ tenants, databases, hash, now: given.now })),
      ...(own === undefined ? [] : checkDatabase(own, { ...given, address: place })),
      ...(tenant === undefined || own !== undefined
        ? []
        : [problem('tenants', `${place} does not exist.`, noDatabase)]),
    ]
  } catch (error) {
    return [problem('database', explain(error))]
  }
}

/** What is found can contain line breaks, and addresses with passwords. */
function oneLine({ finding, remedy, ...rest }: Diagnosis): Diagnosis {
  const line = (text: string) => withoutCredentials(text.replaceAll(/\s+/g, ' ').trim())
  return { ...rest, finding: line(finding), ...(remedy ? { remedy: line(remedy) } : {}) }
}

const noDatabase = 'resourced tenants list shows the tenants. The first use of one makes its database.'

const colors: Readonly<Record<Severity, 'green' | 'yellow' | 'red'>> = {
  ok: 'green',
  warning: 'yellow',
  problem: 'red',
}

function formatted({ check, severity, finding, remedy = '' }: Diagnosis): string {
  const label = styleText(colors[severity], severity.padEnd(7), { stream: process.stdout })
  return `${label}  ${check.padEnd(12)}  ${`${finding} ${remedy}`.trim()}`
}
