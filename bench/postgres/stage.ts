/**
 * What all measurements on PostgreSQL share: a cluster of their own, the atlas in it, and how much the cluster has
 * worked.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import pg from 'pg'
import type { Catalog } from 'resourced-contract/model/resource'
import { fill } from '../../examples/atlas/load.ts'
import { openStorage } from '../../packages/server/src/server/open-database.ts'
import { type Cluster, startCluster } from '../../test/postgres/cluster.ts'
import type { Version } from '../../test/postgres/programs.ts'
import { query } from '../../test/postgres/query.ts'
import { processesIn } from '../../test/postgres/watchdog.ts'
import type { Records } from '../competitors.ts'
import { loadResource } from '../declared.ts'
import { loadCore } from '../machine.ts'
import { createKey, declaration } from '../ours.ts'

/** Where measurements setup. */
export interface Stage {
  readonly cluster: Cluster
  readonly catalog: Catalog
  readonly records: Records
  /** What every request carries. */
  readonly authorization: string
  /** The address of a fresh copy of the atlas, in a database of its own. */
  copy(): Promise<string>
  /** Seconds of processor time that all processes of PostgreSQL together have used. */
  work(): number
}

// As on a small machine of its own, and as safe: fsync, full_page_writes and synchronous_commit are on.
const settings = {
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  autovacuum: 'on',
  wal_compression: 'off',
}

/** Starts a cluster on the core of the load, and loads the atlas as any client of the storage would. */
export async function setStage(version: Version): Promise<Stage> {
  const cluster = await startCluster({ version, settings, fsync: true })
  moveTo(loadCore, cluster)
  const { catalog } = await loadResource(declaration, 'cities')
  const template = await cluster.createDatabase()
  const storage = await openStorage({ database: template }, catalog)
  await fill(storage, catalog, () => {})
  await storage.close()
  const authorization = `Bearer ${createKey(template)}`
  await query(asAdministrator(cluster, template), 'vacuum (analyze, freeze)')
  await query(cluster.adminUrl, 'checkpoint')
  const records = await recordsOf(template)
  let copies = 0
  return {
    cluster,
    catalog,
    records,
    authorization,
    async copy() {
      const name = `copy_${++copies}`
      const source = new URL(template).pathname.slice(1)
      await query(cluster.adminUrl, `create database ${name} owner resourced template ${source} strategy file_copy`)
      return Object.assign(new URL(template), { pathname: `/${name}` }).href
    },
    work: () => workOf(cluster),
  }
}

/** The address of a database for the superuser. */
export function asAdministrator(cluster: Cluster, url: string): string {
  return Object.assign(new URL(cluster.adminUrl), { pathname: new URL(url).pathname }).href
}

/** Puts all processes of a cluster, and so those that it makes later, on one core. */
function moveTo(core: number, { folder }: Cluster): void {
  for (const each of processesIn(`${folder}/data`)) {
    spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', String(core), String(each)])
  }
}

/** What a benchmark has to know of the records: as the server shows them. */
async function recordsOf(url: string): Promise<Records> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const read = async (columns: string, collection: string) =>
    (await client.query(`select ${columns} from ${collection} order by _row`)).rows
  const records = {
    countries: await read('id, name', 'countries'),
    cities: await read(
      'id, name, country_id, population::float8, feature, capital, admin_code, latitude, longitude',
      'cities',
    ),
  }
  await client.end()
  return records
}

/**
 * The fields of proc_pid_stat(5), in hundredths: of each process its own time and the system's for it, and of the
 * postmaster that of those who have ended.
 */
export function workOf({ folder }: Cluster): number {
  const postmaster = Number(readFileSync(`${folder}/data/postmaster.pid`, 'utf8').split('\n')[0])
  let ticks = 0
  for (const each of processesIn(`${folder}/data`)) {
    const [user = 0, system = 0, ended = 0, endedSystem = 0] = timesOf(each)
    ticks += user + system + (each === postmaster ? ended + endedSystem : 0)
  }
  return ticks / 100
}

function timesOf(id: number): number[] {
  try {
    const fields = readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return fields.slice(11, 15).map(Number)
  } catch {
    // It has just ended: the postmaster has its time.
    return []
  }
}
