/** The ways in which a part of a cluster fails, and is repaired once clients work again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../postgres/query.ts'
import type { Cluster } from './cluster.ts'

/**
 * Lets a part fail, and repairs it.
 *
 * @param recovered resolves once all clients have succeeded again
 */
export type Fault = (cluster: Cluster, recovered: () => Promise<void>) => Promise<void>

/** The process of PostgreSQL that starts all others. */
const postmaster = /^\/usr\/lib\/postgresql\/15\/bin\/postgres /

/** The leader is moved in order. */
export const switchover: Fault = async (cluster, recovered) => {
  await cluster.switchover()
  await recovered()
}

/** All processes of the leader's machine end at once. */
export const lossOfLeader: Fault = async (cluster, recovered) => {
  const leader = await cluster.only('leader')
  leader.signal('SIGKILL')
  await recovered()
  leader.start()
}

/** PostgreSQL of the leader is killed, and Patroni is not. */
export const killedPostmaster: Fault = async (cluster, recovered) => {
  const leader = await cluster.only('leader')
  leader.signal('SIGKILL', postmaster)
  await recovered()
}

/** The machine of the leader stops, without an answer to anybody, and goes on after another one has taken over. */
export const hungLeader: Fault = async (cluster, recovered) => {
  const leader = await cluster.only('leader')
  leader.signal('SIGSTOP')
  await recovered()
  leader.signal('SIGCONT')
}

/** Patroni of the leader stops, and goes on when another one has taken over. PostgreSQL goes on meanwhile. */
export const hungPatroni: Fault = async (cluster, recovered) => {
  const leader = await cluster.only('leader')
  leader.signal('SIGSTOP', /patroni/)
  // At first, clients may go on.
  await sleep(30_000)
  await recovered()
  leader.signal('SIGCONT', /patroni/)
}

/** The machine of the synchronous standby stops in the same way. */
export const hungStandby: Fault = async (cluster, recovered) => {
  const standby = await cluster.only('sync_standby')
  standby.signal('SIGSTOP')
  await recovered()
  standby.signal('SIGCONT')
}

/** The leader's machine has no network. */
export const unpluggedLeader: Fault = async (cluster, recovered) => {
  const { host } = await cluster.only('leader')
  host.unplug()
  await recovered()
  host.plug()
}

/** The leader reaches its clients, but neither the other machines nor etcd. */
export const separatedLeader: Fault = async (cluster, recovered) => {
  const leader = await cluster.only('leader')
  const others = [...cluster.machines.filter((machine) => machine !== leader), cluster.etcd].map(({ host }) => host)
  leader.host.block(others)
  // At first, clients may go on.
  await sleep(30_000)
  await recovered()
  leader.host.unblock(others)
}

/** etcd is gone for longer than the leader's key lasts. */
export const lossOfEtcd: Fault = async (cluster, recovered) => {
  cluster.etcd.signal('SIGKILL')
  await sleep(30_000)
  await recovered()
  cluster.etcd.start()
}

/** An operator promotes a replica by hand, which goes on alone for a moment and takes changes. */
export const promotedReplica: Fault = async (cluster, recovered) => {
  const url = cluster.urlAt(await cluster.only('replica'), 'postgres', 'postgres')
  await query(url, 'select pg_promote()')
  await query(url, 'create table fork ()').catch(() => {})
  await recovered()
}

/** A replica receives changes, and does not show them. */
export const laggingReplica: Fault = async (cluster, recovered) => {
  const url = cluster.urlAt(await cluster.only('replica'), 'postgres', 'postgres')
  await query(url, 'select pg_wal_replay_pause()')
  await recovered()
  await query(url, 'select pg_wal_replay_resume()')
}

/** The machine of a replica stops. */
export const hungReplica: Fault = async (cluster, recovered) => {
  const replica = await cluster.only('replica')
  replica.signal('SIGSTOP')
  await recovered()
  replica.signal('SIGCONT')
}
