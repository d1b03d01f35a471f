/** The faults that a cluster must survive, in groups: one test file and one cluster each. */
import {
  hungLeader,
  hungPatroni,
  hungReplica,
  hungStandby,
  killedPostmaster,
  laggingReplica,
  lossOfEtcd,
  lossOfLeader,
  promotedReplica,
  separatedLeader,
  switchover,
  unpluggedLeader,
} from './faults.ts'
import type { Case } from './survives.ts'

/** In seconds: the key of the leader lasts for 20, and a standby looks every 5 whether it has expired. */
const expiry = 40
/** In seconds: the aim where Patroni notices at once. */
const short = 5

const [hosts, balancer, pooler] = ['several hosts', 'HAProxy', 'PgBouncer'] as const
const needsPartition = true
const replica = { route: balancer, hasReplica: true } as const

/** By what they are called, in groups. */
export const cases = {
  switchover: {
    'a switchover': { fault: switchover, route: hosts, pause: short },
    'a switchover behind a balancer': { fault: switchover, route: balancer, pause: short },
    'a switchover behind a pooler': { fault: switchover, route: pooler, pause: short },
  },
  loss: {
    'the machine of the leader is lost': { fault: lossOfLeader, route: hosts, pause: expiry },
    'the machine of the leader is lost behind a pooler': { fault: lossOfLeader, route: pooler, pause: expiry },
    'PostgreSQL of the leader is killed': { fault: killedPostmaster, route: hosts, pause: 20 },
    'PostgreSQL of the leader is killed behind a balancer': { fault: killedPostmaster, route: balancer, pause: 20 },
    'the machine of the leader hangs': { fault: hungLeader, route: hosts, pause: expiry },
    'the machine of the leader hangs behind a balancer': { fault: hungLeader, route: balancer, pause: expiry },
    'Patroni of the leader hangs': { fault: hungPatroni, route: balancer, pause: expiry },
    'the machine of the synchronous standby hangs': { fault: hungStandby, route: hosts, pause: 20 },
  },
  partition: {
    'the leader has no network': { fault: unpluggedLeader, route: hosts, pause: expiry, needsPartition },
    'the leader reaches clients only': { fault: separatedLeader, route: hosts, pause: expiry, needsPartition },
    'the leader reaches a balancer only': { fault: separatedLeader, route: balancer, pause: expiry, needsPartition },
    'etcd is gone': { fault: lossOfEtcd, route: balancer, pause: short },
  },
  replica: {
    'a replica lags': { fault: laggingReplica, pause: short, ...replica },
    'a replica hangs': { fault: hungReplica, pause: short, ...replica },
    'a switchover while a replica is read': { fault: switchover, pause: short, ...replica },
    'the leader is lost while a replica is read': { fault: lossOfLeader, pause: expiry, ...replica },
    // The last one: afterwards the replica may not follow the leader. So it is not among the tenth either.
    'a replica is promoted by hand': { fault: promotedReplica, pause: expiry, ...replica },
  },
} satisfies Readonly<Record<string, Readonly<Record<string, Case>>>>
