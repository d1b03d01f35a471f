/** The connections of one address, by what they are for. The databases in its schemas share them. */
import { FairTurns } from '../fair-turns.ts'
import { isAnswering, Pool, StallWatch } from './connections.ts'
import { GroupedChanges } from './grouped-changes.ts'
import { hostsOf } from './hosts.ts'
import { type ConnectionOptions, connectionsOf, type Limits, limitsOf } from './settings.ts'

/** For so long transactions wait until another server of the address takes over, in milliseconds. */
const takeover = 5_000

/** How many connections short reads share. */
const shared = 4

/** How long a pipelined change waits for a lock, in milliseconds. */
const shortLock = 50

/** How many slow reads of all callers wait for a connection. */
const mostWaiting = 200

/** Connections, which are opened when they are needed. */
export class Pools {
  readonly limits: Limits
  readonly watch: StallWatch
  readonly transactions: Pool
  /** For changes of one statement. */
  readonly changes: GroupedChanges
  /** For reads that may be slow, so that neither changes nor short reads wait for them. */
  readonly slowReads: Pool
  readonly turns: FairTurns
  /** For short reads, which share connections. */
  readonly reads: Pool
  /** For statements that must not wait behind others. */
  readonly control: Pool
  /** Whether a connection keeps its settings and prepared statements. */
  readonly hasSession: boolean
  /** How long transactions are started again where their server has failed, in milliseconds. */
  readonly patience: number
  /** How often a schema was found missing. */
  missing = 0

  constructor(options: ConnectionOptions) {
    const limits = limitsOf(options)
    this.limits = limits
    const { areSeveral } = hostsOf(options.url)
    this.patience = areSeveral ? takeover : 0
    const shortest = Math.min(limits.statement, limits.read) + limits.grace
    this.watch = new StallWatch(shortest, areSeveral ? (client) => isAnswering(options, client) : undefined)
    const { transactions, changes, slowReads } = connectionsOf(options)
    const poolOf = (max: number, own: Partial<Limits> = {}) =>
      new Pool({ ...options, limits: { ...limits, ...own } }, this.watch, max)
    this.transactions = poolOf(transactions)
    this.changes = new GroupedChanges(poolOf(changes, { lock: Math.min(limits.lock, shortLock) }), changes)
    this.slowReads = poolOf(slowReads, { statement: limits.read })
    this.turns = new FairTurns({ running: slowReads, waiting: mostWaiting, patience: limits.connect })
    this.reads = poolOf(shared, { statement: limits.read })
    this.control = poolOf(1)
    this.hasSession = options.session !== 'off'
  }

  /** Waits for all work, then closes all connections. */
  async close(): Promise<void> {
    const pools = [this.transactions, this.changes, this.slowReads, this.reads, this.control]
    await Promise.all(pools.map((pool) => pool.close()))
  }
}
