/**
 * A connection of `pg`: it prepares each statement once, can be discarded at once, never ends the process, and reads
 * password files.
 */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { BoundedMap } from '../sql/bounded-map.ts'
import type { Row, Statement } from '../transaction.ts'
import { isOfServer, isUnprepared, UnfitServer } from './errors.ts'
import type { Hosts, SessionState } from './hosts.ts'
import { RepeatedQuery } from './repeated-query.ts'
import { addressOf, type ClientConfig } from './settings.ts'

/** How long the server may take to close a connection, in milliseconds. */
const closeTimeout = 1_000

/** A setting that the server reports unasked, at the start and when it changes. */
interface ParameterStatus {
  readonly parameterName: string
  readonly parameterValue: string
}

interface Inside {
  readonly processID: number | null
  readonly connection: {
    readonly stream: Duplex & { readonly bytesRead?: number }
    readonly parsedStatements: Record<string, string>
    on(event: 'parameterStatus', listener: (message: ParameterStatus) => void): void
  }
  password: unknown
}

/** A connection. */
export class Client extends pg.Client {
  /** Its generation; see `StallWatch`. */
  generation = 0
  /** Whether it was closed at once: it must not be used any more. */
  isDiscarded = false
  /** Whether its server has become another than the address asks for: it must not be used again. */
  isUnfit = false
  /** Its server: an index of `Hosts.servers`. */
  readonly server: number
  /** Whether statements are prepared under names. Poolers in transaction mode may not keep them. */
  readonly #isNaming: boolean
  /** The names of its prepared statements, by text: their shapes come from queries. */
  readonly #names = new BoundedMap<string>(500, (_, name) => this.#deallocate(name))
  /** How many names were made. */
  #made = 0
  readonly #hosts: Hosts | undefined
  /** What the server reports, by the names of its settings. */
  readonly #reported = new Map<string, string>()
  #isOpen = false

  constructor(config?: ClientConfig) {
    const { hosts, server = hosts?.choose() ?? 0 } = config ?? {}
    super(hosts === undefined ? config : { ...config, connectionString: addressOf(hosts.servers[server] ?? '').url })
    this.#hosts = hosts
    this.server = server
    this.#isNaming = config?.keepsSession ?? true
    // Pending queries are rejected with the error. An idle connection needs no handling, but an unhandled event ends
    // the process.
    this.on('error', () => {})
    const inside = this as unknown as Inside
    // Read when the server asks: the password may change while this process runs.
    inside.password ??= () => readPasswordFile(this)
    inside.connection.on('parameterStatus', ({ parameterName, parameterValue }) => {
      this.#reported.set(parameterName, parameterValue)
      if (this.#isOpen && hosts?.isFit(this.#state()) === false) this.isUnfit = true
    })
  }

  override connect(): Promise<pg.Client>
  override connect(callback: (error: Error) => void): void
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const opened = this.#open()
    if (callback === undefined) return opened
    opened.then(() => (callback as () => void)(), callback)
  }

  /** Opens the connection, if its server is what the address asks for. */
  async #open(): Promise<pg.Client> {
    try {
      await super.connect()
      if (this.#hosts?.isChoosy === true) await this.#checkServer(this.#hosts)
    } catch (error) {
      // Not every failure closes the socket.
      this.discard()
      if (isOfServer(error)) this.#hosts?.failed(this.server)
      throw error
    }
    this.#isOpen = true
    this.#hosts?.succeeded(this.server)
    return this
  }

  /** @throws UnfitServer */
  async #checkServer(hosts: Hosts): Promise<void> {
    // Poolers do not report it.
    if (!this.#reported.has('in_hot_standby')) {
      const { rows } = await this.query(`select case when pg_is_in_recovery() then 'on' else 'off' end as standby,
        current_setting('default_transaction_read_only') as reading`)
      this.#reported.set('in_hot_standby', rows[0].standby)
      this.#reported.set('default_transaction_read_only', rows[0].reading)
    }
    if (!hosts.isFit(this.#state())) throw new UnfitServer(hosts.wanted)
  }

  #state(): SessionState {
    const isOn = (name: string) => this.#reported.get(name) === 'on'
    return { isStandby: isOn('in_hot_standby'), isReadOnly: isOn('default_transaction_read_only') }
  }

  override end(): Promise<void>
  override end(callback: (error: Error) => void): void
  override end(callback?: (error: Error) => void): Promise<void> | undefined {
    // A server that the message does not reach would never close the connection.
    const timer = setTimeout(() => this.discard(), closeTimeout).unref()
    this.once('end', () => clearTimeout(timer))
    if (callback === undefined) return super.end()
    super.end(callback)
  }

  /** The id of its server process, for `pg_cancel_backend`. */
  get process(): number | null {
    return (this as unknown as Inside).processID
  }

  /** How many bytes were received on it. */
  get bytesReceived(): number {
    return (this as unknown as Inside).connection.stream.bytesRead ?? 0
  }

  /**
   * Runs a statement, prepared once under a name. Several may be sent without waiting for answers: PostgreSQL runs them
   * in order.
   */
  prepareAndRun({ text, values }: Statement): Promise<Row[]> {
    const name = this.#nameOf(text)
    return new Promise((resolve, reject) => {
      // `pg` uses a query object as it is, and copies any other configuration.
      const query = new pg.Query({ name, text, values } as pg.QueryConfig, undefined, (error, result) => {
        if (!error) return resolve(result.rows)
        this.#forgetUnprepared(text, name, error)
        reject(error)
      })
      this.#gather()
      this.query(query)
    })
  }

  /**
   * Runs a statement with several lists of values as one transaction: either all of them succeed, or none has changed
   * anything.
   *
   * @param statements all with the same text, and at least one
   * @returns the rows of each
   */
  prepareAndRunAll(statements: readonly [Statement, ...Statement[]]): Promise<Row[][]> {
    const [{ text }] = statements
    const name = this.#nameOf(text)
    const values = statements.map((each) => each.values)
    return new Promise((resolve, reject) => {
      const query = new RepeatedQuery({ name, text, values }, (error, results) => {
        if (!error) return resolve(results.map(({ rows }) => rows))
        this.#forgetUnprepared(text, name, error)
        reject(error)
      })
      this.#gather()
      this.query(query)
    })
  }

  /**
   * Corks the socket until the turn of the event loop ends, so that all statements of the turn are one write: each
   * write costs as much as a short statement.
   */
  #gather(): void {
    const { stream } = (this as unknown as Inside).connection
    if (stream.writableCorked > 0) return
    stream.cork()
    setImmediate(() => stream.uncork())
  }

  #nameOf(text: string): string | undefined {
    return this.#isNaming ? this.#names.of(text, () => `r${++this.#made}`) : undefined
  }

  /** An earlier statement in the pipeline should have prepared this text, and failed. */
  #forgetUnprepared(text: string, name: string | undefined, error: unknown): void {
    if (name !== undefined && isUnprepared(error) && this.#names.get(text) === name) this.#names.delete(text)
  }

  #deallocate(name: string): void {
    // pg keeps the texts of prepared statements as long as the connection lives.
    delete (this as unknown as Inside).connection.parsedStatements[name]
    // If this fails, the connection has ended, and its statements with it.
    this.query(`deallocate ${name}`).catch(() => {})
  }

  /**
   * Closes the socket at once; pending queries are rejected.
   *
   * @param reason why its server is avoided for a while
   */
  discard(reason?: string): void {
    this.isDiscarded = true
    const { stream } = (this as unknown as Inside).connection
    if (reason === undefined) stream.destroy()
    else {
      this.#hosts?.failed(this.server)
      stream.destroy(Object.assign(new Error(reason), { code: 'ETIMEDOUT' }))
    }
  }
}

/** The connection that a password file entry must match. */
export interface Login {
  readonly host: string
  readonly port: number
  readonly database?: string | undefined
  readonly user?: string | undefined
}

/**
 * Finds the password in the text of a file: the first line that matches.
 *
 * @returns `undefined` where none does
 */
export function passwordIn(text: string, { host, port, database, user }: Login): string | undefined {
  // A Unix socket counts as localhost.
  const asked = [host.startsWith('/') ? 'localhost' : host, String(port), database, user]
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith('#')) continue
    const fields = fieldsOf(line)
    if (fields.length < 5) continue
    if (asked.every((each, index) => fields[index]?.raw === '*' || fields[index]?.value === each)) {
      return fields[4]?.value
    }
  }
  return undefined
}

/** The fields of a line: a colon within one has a backslash before it, and so has a backslash. */
function fieldsOf(line: string): { readonly raw: string; readonly value: string }[] {
  const found = line.match(/(?:^|:)(?:\\.|[^:\\])*/g) ?? []
  return found.map((each, index) => {
    const raw = index === 0 ? each : each.slice(1)
    return { raw, value: raw.replaceAll(/\\(.)/g, '$1') }
  })
}

/**
 * Reads a password from the file that `PGPASSFILE` names, or `~/.pgpass`. A file that other users may read is ignored.
 */
export function readPasswordFile(login: Login): string | undefined {
  const file = process.env.PGPASSFILE ?? join(homedir(), '.pgpass')
  try {
    const { mode } = statSync(file)
    const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0
    return isPrivate ? passwordIn(readFileSync(file, 'utf8'), login) : undefined
  } catch {
    return undefined
  }
}
