/**
 * Which server of an address a connection goes to, where it names several or says which ones are fit:
 * `target_session_attrs`, `load_balance_hosts` and `connect_timeout` as libpq has them.
 */
import { BoundedMap } from '../sql/bounded-map.ts'
import { StorageFault } from '../storage.ts'
import { readAddress } from './address.ts'
import { isOfServer } from './errors.ts'

/** What a server says about a session. */
export interface SessionState {
  /** Whether the server replays the log of another one. */
  readonly isStandby: boolean
  /** Whether transactions may only read. */
  readonly isReadOnly: boolean
}

/** The words of `target_session_attrs`: the servers that are fit, and how messages describe them. */
const targets = {
  any: { isFit: () => true, words: 'any server' },
  'read-write': {
    isFit: (state: SessionState) => !state.isStandby && !state.isReadOnly,
    words: 'one that takes changes',
  },
  'read-only': { isFit: (state: SessionState) => state.isStandby || state.isReadOnly, words: 'a read-only one' },
  primary: { isFit: (state: SessionState) => !state.isStandby, words: 'a primary' },
  standby: { isFit: (state: SessionState) => state.isStandby, words: 'a standby' },
  'prefer-standby': { isFit: (state: SessionState) => state.isStandby, words: 'a standby' },
}

/** For so long a server that has failed is tried after the others, in milliseconds. */
const avoidance = 1_000

/** The time limit of a connection where another server can be tried, and the address has none, in milliseconds. */
const shortConnect = 2_000

/** Connections to one address share what they find out about its servers. */
export class Hosts {
  /** The address of each server. */
  readonly servers: readonly string[]
  /** The time limit of a connection to a server, in milliseconds; `undefined`: the address says none. */
  readonly connectTimeout: number | undefined
  readonly #target: keyof typeof targets
  readonly #isBalanced: boolean
  /** Until when each server is avoided, by `performance.now()`. */
  readonly #avoided: number[]
  #next = 0
  /** How many servers in succession have failed, or were not fit. */
  #misses = 0

  /** @throws StorageFault if the address is not understood */
  constructor(text: string) {
    const address = readAddress(text)
    if (address === undefined) throw new StorageFault('failed', 'The address of the database is not understood.')
    const { servers, choice } = address
    this.servers = servers
    this.#target = oneOf(choice, 'target_session_attrs', Object.keys(targets) as (keyof typeof targets)[])
    this.#isBalanced = oneOf(choice, 'load_balance_hosts', ['disable', 'random']) === 'random'
    this.connectTimeout = timeoutOf(choice) ?? (servers.length > 1 ? shortConnect : undefined)
    this.#avoided = servers.map(() => 0)
    if (this.#isBalanced) this.#next = Math.floor(Math.random() * servers.length)
  }

  /** Whether another server may take over what one has lost. */
  get areSeveral(): boolean {
    return this.servers.length > 1 || this.isChoosy
  }

  /** Whether the state of a session decides whether its server is fit. */
  get isChoosy(): boolean {
    return this.#target !== 'any'
  }

  /** How many connections are tried before the last failure is reported. */
  get #attempts(): number {
    return this.servers.length + (this.#target === 'prefer-standby' ? this.servers.length : 0)
  }

  /** The server for a new connection: an index of `servers`. */
  choose(): number {
    const now = performance.now()
    const order = this.servers.map((_, index) => (this.#next + index) % this.servers.length)
    const chosen = order.find((each) => Number(this.#avoided[each]) <= now) ?? this.#next
    if (this.#isBalanced) this.#next = (chosen + 1) % this.servers.length
    return chosen
  }

  /** Whether a session is fit. If no standby is to be had, any server is, where one was only preferred. */
  isFit(state: SessionState): boolean {
    const isLast = this.#target === 'prefer-standby' && this.#misses >= this.servers.length
    return isLast || targets[this.#target].isFit(state)
  }

  /** What the address asks for, for messages. */
  get wanted(): string {
    return `${targets[this.#target].words}, as target_session_attrs=${this.#target} asks for`
  }

  /**
   * Opens a connection: to one server after the other, until it succeeds.
   *
   * @param open opens a new one (`choose`)
   */
  async connected<T>(open: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await open()
      } catch (error) {
        if (attempt === this.#attempts || !isOfServer(error)) throw error
      }
    }
  }

  /** A connection to a server was opened, and its session is fit. */
  succeeded(index: number): void {
    this.#avoided[index] = 0
    this.#misses = 0
  }

  /** A connection to a server was refused or lost, or its session is not fit: the next one goes to another server. */
  failed(index: number): void {
    this.#misses++
    this.#avoided[index] = performance.now() + avoidance
    if (this.#next === index) this.#next = (index + 1) % this.servers.length
  }
}

/** The word that an address says; the first one where it says none. */
function oneOf<Word extends string>(choice: ReadonlyMap<string, string>, name: string, words: readonly Word[]): Word {
  const given = choice.get(name) ?? words[0]
  const word = words.find((each) => each === given)
  if (word !== undefined) return word
  throw notUnderstood(name, given, `It can be ${words.join(', ')}.`)
}

/** In milliseconds. As for libpq, 0 is no limit, and 1 is 2. */
function timeoutOf(choice: ReadonlyMap<string, string>): number | undefined {
  const given = choice.get('connect_timeout')
  if (given === undefined || given === '0') return undefined
  if (/^\d{1,5}$/.test(given)) return Math.max(2, Number(given)) * 1_000
  throw notUnderstood('connect_timeout', given, 'It is a number of seconds, such as 5.')
}

function notUnderstood(name: string, given: string | undefined, remedy: string): StorageFault {
  return new StorageFault('failed', `The address of the database has ${name}=${given}. ${remedy}`)
}

// A program has two addresses, and tests have many.
const known = new BoundedMap<Hosts>(100)

/** The servers of an address. */
export function hostsOf(address: string): Hosts {
  return known.of(address, () => new Hosts(address))
}
