/** A PgBouncer in front of a cluster: connections that a transaction has for itself, and nothing longer. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { account, temporaryFolder } from './account.ts'
import { type Cluster, partsOf } from './cluster.ts'
import { freePort } from './free-port.ts'
import { query } from './query.ts'
import { guardedFolder } from './watchdog.ts'

const program = '/usr/sbin/pgbouncer'

/** Why there is none on this machine; `undefined` where there is. */
export const whyNoBouncer = existsSync(program)
  ? undefined
  : `PgBouncer is not at ${program} (on Debian: apt-get install pgbouncer)`

/** A running PgBouncer. */
export interface Bouncer {
  /** The address of the cluster leads around it; this one leads through it, to the database of the same name. */
  through(url: string): string
  stop(): Promise<void>
}

/**
 * Starts one in front of a cluster without TLS.
 *
 * @param settings over its own, such as `{ pool_mode: 'session', default_pool_size: 2 }`
 */
export async function startBouncer(
  cluster: Cluster,
  settings: Readonly<Record<string, string | number>> = {},
): Promise<Bouncer> {
  if (whyNoBouncer !== undefined) throw new Error(whyNoBouncer)
  const { password } = partsOf(cluster)
  const guarded = guardedFolder(temporaryFolder())
  try {
    const keep = (name: string, text: string) => {
      writeFileSync(join(guarded.folder, name), text, { mode: 0o600 })
      if (account !== undefined) chownSync(join(guarded.folder, name), account.uid, account.gid)
    }
    const port = await freePort()
    const all = {
      ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'scram-sha-256' },
      ...{ auth_file: join(guarded.folder, 'users'), pool_mode: 'transaction', max_client_conn: 500, ...settings },
    }
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
    keep('users', `"resourced" "${password}"\n`)
    keep('bouncer.ini', `[databases]\n* = host=127.0.0.1 port=${cluster.port}\n[pgbouncer]\n${lines.join('\n')}\n`)
    const log = join(guarded.folder, 'log')
    const output = openSync(log, 'a', 0o600)
    const child = spawn(program, ['bouncer.ini'], {
      ...{ cwd: guarded.folder, stdio: ['ignore', output, output], detached: true },
      ...account,
    })
    closeSync(output)
    child.on('error', () => {})
    child.unref()
    const through = (url: string) => Object.assign(new URL(url), { port }).href
    await answering(child, through(cluster.url), log)
    return { through, stop: () => guarded.remove() }
  } catch (error) {
    await guarded.remove()
    throw error
  }
}

async function answering(child: ChildProcess, url: string, log: string): Promise<void> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const problem = await query(url, 'select 1').then(
      () => undefined,
      (error: unknown) => String(error),
    )
    if (problem === undefined) return
    const isGone = child.pid === undefined || child.exitCode !== null || child.signalCode !== null
    if (isGone || Date.now() > deadline)
      throw new Error(`PgBouncer does not answer (${problem}):\n${readFileSync(log, 'utf8')}`)
    await sleep(50)
  }
}
