/** A network between a server and its database that can fail: it cuts connections, or swallows what is sent. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** What is swallowed: nothing, what the database answers, or everything. */
export type Swallowed = 'nothing' | 'answers' | 'everything'

/** A running proxy. */
export interface Proxy {
  /** The address of a database leads around it; this one leads through it. */
  through(url: string): string
  swallow(what: Swallowed): void
  /** Swallows answers from when a text is sent by a client. */
  swallowAnswersOnce(text: string): void
  /**
   * Swallows what goes over the connections that there are, and tells nobody: as a firewall does that was started
   * again.
   */
  forget(): void
  /** Ends every connection at once. */
  cut(): void
  /** Leads to another port of this machine from now on, and ends every connection, as balancers do after a failover. */
  lead(port: number): void
  /** How many connections there are. */
  readonly count: number
  /** Whether anything is swallowed. */
  readonly isSwallowing: boolean
  stop(): Promise<void>
}

/** Starts one in front of a port of this machine. */
export async function startProxy(port: number): Promise<Proxy> {
  let target = port
  let swallowed: Swallowed = 'nothing'
  let awaited: string | undefined
  const pairs = new Set<readonly Socket[]>()
  const forgotten = new Set<readonly Socket[]>()
  // Half open: it does not answer by itself when a client says farewell.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const database = connect(target, '127.0.0.1')
    const pair = [client, database]
    const isForgotten = () => !pairs.has(pair)
    pairs.add(pair)
    const end = () => {
      // A network that is gone tells nobody.
      if (swallowed === 'everything' || isForgotten()) return
      for (const each of pair) each.destroy()
      pairs.delete(pair)
    }
    for (const each of pair) each.on('error', () => {}).on('close', end)
    client.on('data', (data) => {
      if (awaited !== undefined && data.includes(awaited)) {
        awaited = undefined
        swallowed = 'answers'
      }
      if (swallowed !== 'everything' && !isForgotten()) database.write(data)
    })
    client.on('end', () => {
      if (swallowed !== 'everything' && !isForgotten()) database.end()
    })
    database.on('data', (data) => {
      if (swallowed === 'nothing' && !isForgotten()) client.write(data)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const own = (server.address() as AddressInfo).port
  const cut = () => {
    for (const pair of pairs) for (const each of pair) each.destroy()
    pairs.clear()
  }
  return {
    through: (url) => Object.assign(new URL(url), { port: own }).href,
    swallow(what) {
      swallowed = what
    },
    swallowAnswersOnce(text) {
      awaited = text
    },
    forget() {
      for (const pair of pairs) forgotten.add(pair)
      pairs.clear()
    },
    cut,
    lead(port) {
      target = port
      cut()
    },
    get isSwallowing() {
      return swallowed !== 'nothing'
    },
    get count() {
      return pairs.size
    },
    async stop() {
      cut()
      for (const pair of forgotten) for (const each of pair) each.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
