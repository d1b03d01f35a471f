/** A streaming replica of a cluster: a hot standby, which answers reads. */
import { chownSync, cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { account, fastFolder } from './account.ts'
import { type Cluster, partsOf, run } from './cluster.ts'
import { postmasterOf, type Settings } from './postmaster.ts'
import { query } from './query.ts'
import { guardedFolder } from './watchdog.ts'

/** A replica; its addresses lead to the same databases and roles. */
export interface Replica extends Cluster {
  /** Waits until it has what the other has committed so far. */
  caughtUp(): Promise<void>
  /** Makes it a server of its own, which takes changes. */
  promote(): Promise<void>
}

// What a running server keeps for itself, or makes again (PostgreSQL manual, "Making a base backup").
const emptied = ['pg_wal', 'pg_replslot', 'pg_dynshmem', 'pg_notify', 'pg_serial', 'pg_snapshots', 'pg_stat_tmp', 'pg_subtrans'] // biome-ignore format: one row reads best
const leftOut = new Set(['postmaster.pid', 'postmaster.opts'])

/**
 * Starts a replica of a running cluster, which goes on meanwhile. By hand: `pg_basebackup` is in no package of the
 * registry.
 */
export async function startReplica(primary: Cluster, settings: Settings = {}): Promise<Replica> {
  const { version, programs, guarded: origin, password, tls } = partsOf(primary)
  const guarded = guardedFolder(fastFolder())
  try {
    const slot = `replica_${process.pid}_${Date.now()}`
    await query(primary.adminUrl, `select pg_create_physical_replication_slot('${slot}', true)`)
    await backUp(primary, join(origin.folder, 'data'), join(guarded.folder, 'data'))
    const postmaster = postmasterOf(programs, guarded.folder)
    const following = {
      primary_conninfo: `host=127.0.0.1 port=${primary.port} user=postgres password=${password} sslmode=${tls ? 'require' : 'disable'}`,
      primary_slot_name: slot,
      hot_standby: 'on',
    }
    if (tls)
      for (const name of ['localhost.pem', 'server.crt', 'server.key']) copyOwned(origin.folder, guarded.folder, name)
    // What the primary allows the replica must allow too, or it does not start.
    const parts = { version, programs, guarded, postmaster, password, tls }
    const replica = await run(parts, { ...partsOf(primary).settings, ...following, ...settings })
    return {
      ...replica,
      caughtUp: () => caughtUp(primary, replica),
      async promote() {
        await query(replica.adminUrl, 'select pg_promote(true, 30)')
      },
    }
  } catch (error) {
    await guarded.remove()
    throw error
  }
}

async function backUp(primary: Cluster, from: string, to: string): Promise<void> {
  // Its beginning and its end are said on one connection.
  const client = new pg.Client({ connectionString: primary.adminUrl })
  await client.connect()
  try {
    await client.query("select pg_backup_start('replica', true)")
    copyData(from, to)
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
    writeFileSync(join(to, 'backup_label'), rows[0].labelfile, { mode: 0o600 })
    writeFileSync(join(to, 'standby.signal'), '', { mode: 0o600 })
  } finally {
    await client.end()
  }
  own(to)
}

/** Files may go while they are copied: then all of it is copied again. */
function copyData(from: string, to: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      cpSync(from, to, {
        recursive: true,
        filter(source) {
          const [first = '', ...rest] = relative(from, source).split(sep)
          return !leftOut.has(first) && (rest.length === 0 || !emptied.includes(first))
        },
      })
      for (const name of ['archive_status', 'summaries'])
        mkdirSync(join(to, 'pg_wal', name), { mode: 0o700, recursive: true })
      return
    } catch (error) {
      if (attempt === 5 || (error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      rmSync(to, { recursive: true, force: true })
    }
  }
}

function copyOwned(from: string, to: string, name: string): void {
  cpSync(join(from, name), join(to, name))
  if (account !== undefined) chownSync(join(to, name), account.uid, account.gid)
}

function own(folder: string): void {
  if (account === undefined) return
  for (const each of ['.', ...(readdirSync(folder, { recursive: true }) as string[])])
    chownSync(join(folder, each), account.uid, account.gid)
}

async function caughtUp(primary: Cluster, replica: Cluster): Promise<void> {
  const [now] = await query(primary.adminUrl, 'select pg_current_wal_flush_lsn()::text as place')
  for (let attempt = 0; attempt < 5_000; attempt++) {
    const [found] = await query(
      replica.adminUrl,
      `select coalesce(pg_last_wal_replay_lsn() >= '${now?.['place']}', false) as reached`,
    )
    if (found?.['reached'] === true) return
    await sleep(20)
  }
  throw new Error(`The replica does not come as far as ${now?.['place']}.`)
}
