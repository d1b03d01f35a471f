/**
 * A connection of `pg`: it prepares each statement once, can be discarded at once, never ends the process, and reads
 * password files. A statement can run with several lists of values as one transaction.
 */
import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import pg from 'pg'
import { BoundedMap } from '../sql/bounded-map.ts'
import type { Row, Statement } from '../transaction.ts'
import { isOfServer, isUnprepared, type Place, UnfitServer } from './errors.ts'
import type { Hosts, SessionState } from './hosts.ts'
import { addressOf, type ClientConfig } from './settings.ts'

/** How many statements a connection keeps prepared. */
const mostPrepared = 500

/**
 * For how many schemas a connection is used. Its server process keeps the descriptions of their tables and the plans of
 * their statements, about 200 kB for each schema.
 */
const mostSchemas = 100

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
  /** The schema that each of its transactions has to choose; `undefined`: the connection is in the right one. */
  pooledSchema: string | undefined
  /** Whether it was closed at once: it must not be used any more. */
  isDiscarded = false
  /** Whether its server has become another than the address asks for: it must not be used again. */
  isUnfit = false
  /** Whether a commit has ended without the standby that it should wait for: its connection must not be used again. */
  isUnreplicated = false
  /** Its server: an index of `Hosts.servers`. */
  readonly server: number
  /** Whether statements are prepared under names. Poolers in transaction mode may not keep them. */
  readonly #isNaming: boolean
  /** The names of its prepared statements, by schema and text: their shapes come from queries. */
  readonly #names = new BoundedMap<string>(mostPrepared, (_, name) => this.#deallocate(name))
  /** Numbers of the texts that schemas share, so that no key contains a text. */
  readonly #texts = new BoundedMap<number>(mostPrepared)
  /** How many names and numbers were made. */
  #made = 0
  /** The schemas that it was used for. */
  readonly #schemas = new Set<string>()
  /** Whether the statement that chooses a schema is being prepared. */
  #choosesSchemas = false
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
    // PostgreSQL only warns. The message is in the language of the server, the name of its function is not.
    this.on('notice', ({ routine }) => {
      if (routine === 'SyncRepWaitForLSN') this.isUnreplicated = true
    })
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

  /** Whether it was used for so many schemas that a new connection takes less memory. */
  get isWorn(): boolean {
    return this.#schemas.size > mostSchemas
  }

  /** How many bytes were received on it. */
  get bytesReceived(): number {
    return (this as unknown as Inside).connection.stream.bytesRead ?? 0
  }

  /**
   * Runs a statement, prepared once under a name. Several may be sent without waiting for answers: PostgreSQL runs them
   * in order.
   *
   * @param schema the one that the running transaction has chosen: PostgreSQL plans a statement for one schema
   */
  prepareAndRun(statement: Statement, schema?: string): Promise<Row[]> {
    const { text, values, isScript } = statement
    const key = this.#keyOf(text, schema)
    const name = isScript === true ? undefined : this.#nameOf(key)
    return new Promise((resolve, reject) => {
      // `pg` uses a query object as it is, and copies any other configuration.
      const query = new pg.Query({ name, text, values } as pg.QueryConfig, undefined, (error, result) => {
        if (!error) return resolve(result.rows)
        this.#forgetUnprepared(key, name, error)
        reject(error)
      })
      this.query(query)
    })
  }

  /** Runs a statement that is a transaction of its own, in a schema; left out: that of the connection. */
  async prepareAndRunIn(schema: string | undefined, statement: Statement): Promise<Row[]> {
    if (schema === undefined) return this.prepareAndRun(statement)
    return (await this.prepareAndRunAll([statement], schema))[0] as Row[]
  }

  /**
   * Runs a statement with several lists of values as one transaction: either all of them succeed, or none has changed
   * anything.
   *
   * @param statements all with the same text, and at least one
   * @param schema left out: that of the connection
   * @returns the rows of each
   */
  prepareAndRunAll(statements: readonly [Statement, ...Statement[]], schema?: string): Promise<Row[][]> {
    const [{ text }] = statements
    const key = this.#keyOf(text, schema)
    const choice = schema === undefined ? undefined : this.#choiceOf(schema)
    // `pg` takes the first statement that is parsed for the named one.
    const name = choice?.name === undefined && schema !== undefined ? undefined : this.#nameOf(key)
    const values = statements.map((each) => each.values)
    return new Promise((resolve, reject) => {
      const query = new RepeatedQuery({ name, text, values, choice }, (error, results) => {
        if (!error) return resolve(results.map(({ rows }) => rows))
        this.#forgetUnprepared(key, name, error)
        reject(error)
      })
      this.query(query)
    })
  }

  /** The statement that chooses a schema for a transaction; its name, once the connection has it prepared. */
  #choiceOf(schema: string): SchemaChoice {
    if (!this.#isNaming) return { schema, name: undefined }
    if (!this.#choosesSchemas) {
      this.#choosesSchemas = true
      const query = { name: choosing.name, text: choosing.text, values: [schema] }
      this.query(query).catch(() => {
        this.#choosesSchemas = false
      })
    }
    const isPrepared = (this as unknown as Inside).connection.parsedStatements[choosing.name] !== undefined
    return { schema, name: isPrepared ? choosing.name : undefined }
  }

  #keyOf(text: string, schema: string | undefined): string {
    if (schema === undefined) return text
    this.#schemas.add(schema)
    return `${schema} ${this.#texts.of(text, () => ++this.#made)}`
  }

  #nameOf(key: string): string | undefined {
    return this.#isNaming ? this.#names.of(key, () => `r${++this.#made}`) : undefined
  }

  /** An earlier statement in the pipeline should have prepared this one, and failed. */
  #forgetUnprepared(key: string, name: string | undefined, error: unknown): void {
    if (name !== undefined && isUnprepared(error) && this.#names.get(key) === name) this.#names.delete(key)
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

/**
 * Finds the password in the text of a file: the first line that matches.
 *
 * @returns `undefined` where none does
 */
export function passwordIn(text: string, { host, port, database, user }: Place): string | undefined {
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
function readPasswordFile(login: Place): string | undefined {
  const file = process.env.PGPASSFILE ?? join(homedir(), '.pgpass')
  try {
    const { mode } = statSync(file)
    const isPrivate = process.platform === 'win32' || (mode & 0o077) === 0
    return isPrivate ? passwordIn(readFileSync(file, 'utf8'), login) : undefined
  } catch {
    return undefined
  }
}

interface Repeated {
  readonly name: string | undefined
  readonly text: string
  readonly values: readonly (readonly unknown[])[]
  /** The schema that the transaction runs in; left out: that of the connection. */
  readonly choice?: SchemaChoice | undefined
}

/** A schema, and the name under which the statement that chooses it is prepared; `undefined`: it is not. */
interface SchemaChoice {
  readonly schema: string
  readonly name: string | undefined
}

/** The statement that chooses the only schema of a transaction. It has no rows, which `pg` could not read. */
const choosing = { name: 'schema', text: "select where set_config('search_path', $1, true) is null" } as const

/** The part of a `pg` connection that this file uses. */
interface Connection {
  parse(statement: { readonly name: string; readonly text: string }): void
  bind(portal: { readonly portal: string; readonly statement: string; readonly values: readonly string[] }): void
  execute(portal: { readonly portal: string }): void
  sync(): void
}

type Result = { readonly rows: Row[] }
type Done = (error: Error | undefined, results: readonly Result[]) => void

/** What `pg.Query` has, but for its types. */
interface Inside {
  values: readonly unknown[]
  prepare(connection: Connection): void
}

const prototype = pg.Query.prototype as unknown as Inside

/** PostgreSQL commits when it is told that the pipeline ends: after the last list of values. */
class RepeatedQuery extends pg.Query {
  readonly #lists: Repeated['values']
  readonly #choice: Repeated['choice']

  constructor({ name, text, values, choice }: Repeated, done: Done) {
    const chosen = choice === undefined ? 0 : 1
    const collected = (error: Error | undefined, results: unknown) =>
      done(error, ([results].flat() as Result[]).slice(chosen))
    super({ name, text } as pg.QueryConfig, undefined, collected)
    this.#lists = values
    this.#choice = choice
  }

  requiresPreparation(): boolean {
    return true
  }

  prepare(connection: Connection): void {
    if (this.#choice !== undefined) choose(connection, this.#choice)
    for (const values of this.#lists) {
      ;(this as unknown as Inside).values = values
      prototype.prepare.call(this, connection)
    }
    connection.sync()
  }

  /** Called for each list of values after it is bound. */
  _getRows(connection: Connection): void {
    connection.execute({ portal: '' })
  }
}

function choose(connection: Connection, { schema, name = '' }: SchemaChoice): void {
  if (name === '') connection.parse({ name, text: choosing.text })
  connection.bind({ portal: '', statement: name, values: [schema] })
  connection.execute({ portal: '' })
}
