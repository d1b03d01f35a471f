/**
 * A cluster of PostgreSQL with Patroni, etcd, HAProxy and PgBouncer, configured as
 * docs/how-to/survive-the-loss-of-a-machine.md says.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { blocksOf } from '../documentation/page.ts'
import { fastFolder } from '../postgres/account.ts'
import { freePort } from '../postgres/free-port.ts'
import { query } from '../postgres/query.ts'
import { guardedFolder } from '../postgres/watchdog.ts'
import { until } from '../until.ts'
import { Machine } from './machine.ts'
import { type Host, hasNamespaces, loopback, networkOf } from './network.ts'

const programs = {
  patroni: '/usr/bin/patroni',
  'etcd-server': '/usr/bin/etcd',
  haproxy: '/usr/sbin/haproxy',
  pgbouncer: '/usr/sbin/pgbouncer',
  'postgresql-15': '/usr/lib/postgresql/15/bin/postgres',
}
const missing = Object.entries(programs).flatMap(([name, path]) => (existsSync(path) ? [] : name))

/** Why no cluster can be started on this machine; `undefined`: one can. */
export const whyNoCluster =
  missing.length === 0 ? undefined : `not installed (on Debian 12: apt-get install ${missing.join(' ')})`

/** Why no machine of it can be cut off. */
export const whyNoPartition = whyNoCluster ?? (hasNamespaces ? undefined : 'network namespaces need root')

/** How a server reaches the primary. */
export type Route = 'several hosts' | 'HAProxy' | 'PgBouncer'

/** What Patroni says of a machine. */
interface Member {
  readonly name: string
  readonly role: 'leader' | 'sync_standby' | 'replica'
  readonly state: string
  readonly timeline?: number
}

const password = 'not-a-secret'

/** A running cluster. */
export class Cluster {
  /** Those with PostgreSQL and Patroni. */
  readonly machines: readonly Machine[]
  readonly etcd: Machine
  readonly #proxy: Machine
  readonly #bouncer: Machine
  readonly #apis: ReadonlyMap<Machine, string>
  readonly #isSynchronous: boolean
  readonly stop: () => Promise<void>

  private constructor(
    parts: Pick<Cluster, 'machines' | 'etcd' | 'stop'> & {
      readonly proxy: Machine
      readonly bouncer: Machine
      readonly apis: ReadonlyMap<Machine, string>
      readonly isSynchronous: boolean
    },
  ) {
    this.machines = parts.machines
    this.etcd = parts.etcd
    this.stop = parts.stop
    this.#proxy = parts.proxy
    this.#bouncer = parts.bouncer
    this.#apis = parts.apis
    this.#isSynchronous = parts.isSynchronous
  }

  /** Starts one. `isSynchronous: false` is `synchronous_mode: false`. */
  static async start({ count = 3, isSynchronous = true } = {}): Promise<Cluster> {
    const { folder, remove } = guardedFolder(fastFolder())
    try {
      const hosts = await networkOf(folder, count + 1)
      const port = (usual: number) => (hasNamespaces ? usual : freePort())
      const etcd = await etcdOn(hosts.pop() as Host, folder, port)
      const apis = new Map<Machine, string>()
      for (const [index, host] of hosts.entries()) {
        const place = { folder, name: `db${index + 1}` }
        const machine = new Machine(place, host, await port(5432), [programs.patroni, 'patroni.yml'])
        const api = `${host.address}:${await port(8008)}`
        machine.keep('patroni.yml', patroniFile(machine, api, etcd.address, isSynchronous))
        apis.set(machine, api)
      }
      const machines = [...apis.keys()]
      const proxy = new Machine({ folder, name: 'haproxy' }, loopback, await freePort(), [
        ...[programs.haproxy, '-db', '-f', 'haproxy.cfg'],
      ])
      proxy.keep('haproxy.cfg', proxyFile(proxy, apis))
      const bouncer = new Machine({ folder, name: 'pgbouncer' }, loopback, await freePort(), [
        ...[programs.pgbouncer, 'pgbouncer.ini'],
      ])
      bouncer.keep('pgbouncer.ini', bouncerFile(bouncer, proxy))
      bouncer.keep('userlist.txt', `"resourced" "${password}"\n`)
      const cluster = new Cluster({ machines, etcd, proxy, bouncer, apis, isSynchronous, stop: remove })
      etcd.start()
      for (const machine of [...machines, proxy, bouncer]) machine.start()
      await cluster.healthy()
      await cluster.run(`create role resourced login password '${password}'`)
      return cluster
    } catch (error) {
      await remove()
      throw error
    }
  }

  /** The address of a database, for `--database`. */
  urlOf(route: Route, database: string): string {
    const places = {
      'several hosts': this.machines.map(({ address }) => address).join(','),
      HAProxy: this.#proxy.address,
      PgBouncer: this.#bouncer.address,
    }
    return `postgres://resourced:${password}@${places[route]}/${database}?target_session_attrs=read-write`
  }

  /** The address of a database on one machine. */
  urlAt(machine: Machine, database: string, role = 'resourced'): string {
    return `postgres://${role}:${password}@${machine.address}/${database}`
  }

  /** Makes an empty database; gives its name. */
  async createDatabase(): Promise<string> {
    const name = `trial_${randomBytes(4).toString('hex')}`
    await this.run(`create database ${name} owner resourced`)
    await this.#everywhere(name)
    return name
  }

  /** Waits until every machine has a database and the role: a server that lacks them answers like a wrong address. */
  async #everywhere(database: string): Promise<void> {
    const reach = (machine: Machine) => query(this.urlAt(machine, database), 'select 1')
    await until(() => Promise.all(this.machines.map(reach)).then(Boolean, () => false))
  }

  /** Runs a statement on the primary as the superuser. */
  async run(text: string): Promise<Record<string, unknown>[]> {
    return query(this.urlAt(await this.only('leader'), 'postgres', 'postgres'), text)
  }

  /** The machine that has a role, by what Patroni says. */
  async only(role: Member['role']): Promise<Machine> {
    for (let attempt = 0; ; attempt++) {
      const name = (await this.members()).find((member) => member.role === role)?.name
      const found = this.machines.find((machine) => machine.name === name)
      if (found !== undefined) return found
      if (attempt === 600) throw new Error(`No machine is ${role}.`)
      await sleep(100)
    }
  }

  /** What the first machine that answers says of all of them; nothing: none answers. */
  async members(): Promise<readonly Member[]> {
    for (const api of this.#apis.values()) {
      const answer = await fetch(`http://${api}/cluster`, { signal: AbortSignal.timeout(1_000) }).catch(() => undefined)
      const json = (await answer?.json().catch(() => undefined)) as { readonly members?: Member[] } | undefined
      if (json?.members !== undefined) return json.members
    }
    return []
  }

  /** Waits until every machine runs, and what is acknowledged is on two of them. */
  async healthy(): Promise<void> {
    const states = new Set(['running', 'streaming'])
    for (const end = performance.now() + 300_000; ; await sleep(200)) {
      const members = await this.members()
      const has = (role: string) => members.some((member) => member.role === role)
      const isWhole = members.filter(({ state }) => states.has(state)).length === this.machines.length
      const isOne = new Set(members.map(({ timeline }) => timeline)).size === 1
      if (isWhole && isOne && has('leader') && (!this.#isSynchronous || has('sync_standby'))) return
      if (performance.now() > end) {
        const logs = this.machines.map(({ name, log }) => `${name}:\n${log}`)
        throw new Error(`The cluster is not healthy: ${JSON.stringify(members)}\n${logs.join('\n')}`)
      }
    }
  }

  /** Moves the leader in order, as `patronictl switchover` does. */
  async switchover(): Promise<void> {
    const leader = await this.only('leader')
    const candidate = await this.only('sync_standby')
    const answer = await fetch(`http://${this.#apis.get(leader)}/switchover`, {
      method: 'POST',
      body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
    })
    if (answer.status !== 200) throw new Error(`Patroni answers ${answer.status}: ${await answer.text()}`)
  }
}

async function etcdOn(host: Host, folder: string, port: (usual: number) => number | Promise<number>): Promise<Machine> {
  const [clients, peers] = [await port(2379), await port(2380)]
  const url = `http://${host.address}:${clients}`
  return new Machine({ folder, name: 'etcd' }, host, clients, [
    ...[programs['etcd-server'], '--enable-v2', '--data-dir', 'data', '--log-level', 'error'],
    ...['--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', `http://127.0.0.1:${peers}`],
  ])
}

const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/survive-the-loss-of-a-machine.md'), 'utf8')

/** A file of the guide, changed. Each change must have something to change. */
function fileOfGuide(name: string, changes: readonly (readonly [RegExp, string])[]): string {
  const block = blocksOf(page).find(({ words }) => words.includes(name))
  if (block === undefined) throw new Error(`The guide has no ${name}.`)
  return changes.reduce((text, [from, to]) => {
    if (text.search(from) === -1) throw new Error(`${name} of the guide has no ${from}.`)
    return text.replaceAll(from, to)
  }, `${block.text}\n`)
}

function patroniFile({ name, host, address, folder }: Machine, api: string, etcd: string, isSynchronous: boolean) {
  const text = fileOfGuide('patroni.yml', [
    [/hosts: .*/g, `hosts: ${etcd}`],
    [/name: db1/g, `name: ${name}`],
    [/10\.0\.0\.11:5432/g, address],
    [/10\.0\.0\.11:8008/g, api],
    [/10\.0\.0\.0\/24/g, host.address.replace(/\d+$/, '0/24')],
    [/\/var\/lib\/postgresql\/15\/library/g, join(folder, 'data')],
    [/SECRET/g, password],
    [/synchronous_mode: true/g, `synchronous_mode: ${isSynchronous}`],
  ])
  // Servers of several users would have one place for their sockets.
  return `${text}  parameters:\n    unix_socket_directories: ${folder}\n`
}

function proxyFile({ address }: Machine, apis: ReadonlyMap<Machine, string>): string {
  const text = fileOfGuide('haproxy.cfg', [
    [/127\.0\.0\.1:5000/g, address],
    [/^ {2}server .*\n/gm, ''],
  ])
  const servers = [...apis].map(([{ name, address }, api]) => `  server ${name} ${address} port ${api.split(':')[1]}\n`)
  return text + servers.join('')
}

function bouncerFile({ port }: Machine, proxy: Machine): string {
  return fileOfGuide('pgbouncer.ini', [
    [/library = host=127\.0\.0\.1 port=5000/g, `* = host=127.0.0.1 port=${proxy.port}`],
    [/listen_port = 6432/g, `listen_port = ${port}`],
    [/\/etc\/pgbouncer\/userlist\.txt/g, 'userlist.txt'],
  ])
}
