/** What the databases of a host share: connections to the primary and to its replica. */
import { FairTurns } from '../fair-turns.ts'
import type { OnReplica } from '../storage.ts'
import { continueNumbers, isCoordinator, type Node, nodesOf, onNode } from './citus.ts'
import { Database, type Place } from './database.ts'
import { toStorageFault } from './errors.ts'
import { Pools } from './pools.ts'
import { Replica } from './replica.ts'
import { checkDurability, checkServer } from './requirements.ts'
import { withConnection } from './session.ts'
import type { ConnectionOptions } from './settings.ts'

/** How a primary and its replica are reached. */
export interface HostOptions extends ConnectionOptions {
  /** Whether to accept a database that may lose acknowledged changes in a power cut. */
  readonly unsafe?: boolean | undefined
  /** A replica, `postgres://…`, for reads that it can answer with the primary's current state. */
  readonly replica?: string | undefined
  readonly onReplica?: OnReplica | undefined
}

/** How many schemas are created or migrated at once: each needs a connection of its own. */
const mostBroughtUp = 4

/** How often the nodes of schemas are read anew, in milliseconds. */
const movesInterval = 1_000

/** The place of a schema on Citus, whose connections change where the schema moves. */
interface NodePlace extends Place {
  readonly options: HostOptions & { readonly schema: string }
  pools: Pools
  node: Node
}

/** Connections that are made when the first storage asks for them. */
export class HostConnections {
  readonly #turns = new FairTurns({ running: mostBroughtUp, waiting: 10_000, patience: 60_000 })
  /** By address: that of the server, and those of nodes of Citus. */
  readonly #pools = new Map<string, Pools>()
  #isCoordinator: boolean | undefined
  readonly #onNodes = new Set<NodePlace>()
  #moves: NodeJS.Timeout | undefined
  #replica: Replica | undefined

  /** The connections to a primary. */
  pools(options: HostOptions): Pools {
    const pools = this.#pools.get(options.url) ?? new Pools(options)
    this.#pools.set(options.url, pools)
    return pools
  }

  /**
   * Where a database is used: on the server, or on the node of Citus that has its schema at the moment.
   *
   * @returns `isOnNode`: replicas of the server do not have it. `leave` is called when it is closed
   */
  async place(options: HostOptions): Promise<Place & { readonly isOnNode: boolean; leave(): void }> {
    const { schema } = options
    const node = await this.#nodeOf(options)
    if (schema === undefined || node === undefined) return { pools: this.pools(options), isOnNode: false, leave() {} }
    const pools = await this.#poolsOf(options, node)
    await enter(pools, schema)
    const place = { options: { ...options, schema }, node, pools, registry: this.pools(options) }
    this.#onNodes.add(place)
    this.#moves ??= setInterval(() => void this.#followMoves(options).catch(() => {}), movesInterval).unref()
    return Object.assign(place, { isOnNode: true, leave: () => void this.#onNodes.delete(place) })
  }

  /** The connections that lead to a schema, deleted or not. */
  async reach(options: HostOptions): Promise<Pools> {
    const node = await this.#nodeOf(options)
    return node === undefined ? this.pools(options) : this.#poolsOf(options, node)
  }

  async #nodeOf(options: HostOptions): Promise<Node | undefined> {
    const { schema } = options
    return schema === undefined ? undefined : (await this.#nodesOf(options, [schema])).get(schema)
  }

  async #nodesOf(options: HostOptions, schemas: readonly string[]): Promise<ReadonlyMap<string, Node>> {
    if (this.#isCoordinator === false) return new Map()
    const found = this.pools(options).transactions.use(async (client) => {
      this.#isCoordinator ??= await isCoordinator(client)
      return this.#isCoordinator ? nodesOf(client, schemas) : new Map<string, Node>()
    })
    return found.catch((error: unknown) => {
      throw toStorageFault(error)
    })
  }

  /** The connections to a node, once it is found fit. */
  async #poolsOf(options: HostOptions, node: Node): Promise<Pools> {
    const there = onNode(options, node)
    if (!this.#pools.has(there.url)) {
      await withConnection({ ...there, schema: undefined }, async (client) => {
        await checkServer(client)
        if (options.unsafe !== true) await checkDurability(client)
      })
    }
    return this.pools(there)
  }

  /** Uses schemas on the nodes that they were moved to. */
  async #followMoves(options: HostOptions): Promise<void> {
    const places = [...this.#onNodes]
    if (places.length === 0) return
    const nodes = await this.#nodesOf(options, [...new Set(places.map(({ options: { schema } }) => schema))])
    const follow = async (place: NodePlace) => {
      const { schema } = place.options
      const node = nodes.get(schema)
      if (node === undefined || (node.host === place.node.host && node.port === place.node.port)) return
      const pools = await this.#poolsOf(place.options, node)
      await enter(pools, schema)
      Object.assign(place, { pools, node })
    }
    // Changes of a schema that was not entered go on being refused.
    await Promise.allSettled(places.map(follow))
  }

  /** Creates or migrates a schema when it is its turn. */
  bringUp(schema: string, work: () => Promise<void>): Promise<void> {
    return this.#turns.run({ caller: schema }, work)
  }

  /** The replica; `undefined`: the options name none. */
  replica(options: HostOptions): Replica | undefined {
    const { replica: url } = options
    if (url === undefined) return undefined
    this.#replica ??= this.#openReplica({ ...options, schema: undefined }, url)
    return this.#replica
  }

  #openReplica(options: HostOptions, url: string): Replica {
    const primary = new Database(options, undefined, { pools: this.pools(options) })
    return new Replica(primary, { ...options, url }, options.unsafe ?? false, options.onReplica)
  }

  /** Waits for all work, then closes all connections. */
  async close(): Promise<void> {
    clearInterval(this.#moves)
    await this.#replica?.close()
    await Promise.all([...this.#pools.values()].map((pools) => pools.close()))
  }
}

async function enter(pools: Pools, schema: string): Promise<void> {
  await pools.transactions
    .use((client) => continueNumbers(client, schema))
    .catch((error: unknown) => {
      throw toStorageFault(error)
    })
}
