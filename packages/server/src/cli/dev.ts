/**
 * `resourced dev [FILE]`: serves a declaration while it is being edited. What was served last goes on until a change is
 * complete, without mistakes, and loses no data that nobody agreed to lose.
 *
 * The administrator's key: the database has only its hash, so a file keeps the key for the next start. The file is
 * readable by its owner alone.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { confirm, hasTerminal, say } from 'resourced-check/terminal'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { ConfigurationError, UsageError } from 'resourced-contract/spec/configuration-error'
import { exampleOf } from '../documents/openapi/schemas.ts'
import { hashOfKey, isKey } from '../policy/api-keys.ts'
import { isElsewhere, isInMemory } from '../server/database-address.ts'
import type { LogLevel } from '../server/observe/log.ts'
import type { Observe } from '../server/observe/observe.ts'
import type { DatabaseOptions } from '../server/open-database.ts'
import { type MayLose, migrateTo, type ServeOptions, type Serving } from '../server/serve.ts'
import { formatSteps, MigrationRefused, type MigrationStep } from '../storage/migration/migration-step.ts'
import type { KeyStore } from '../storage/storage.ts'
import { completeVersions, type Versions } from '../versions/versions.ts'
import { migrationCommand } from './command-line.ts'
import { explain } from './explain.ts'
import { stampOf } from './file-stamp.ts'
import { type Attempt, type Content, declarationOf, isSameContent, tryDeclaration } from './isolated-declaration.ts'
import { makeKey, storedForm } from './keys.ts'
import { findDeclaration } from './load-declaration.ts'
import { pagesLine, serveUntilStopped, versionLines } from './serve.ts'
import { commandLog } from './serving-process.ts'

interface Options extends Omit<ServeOptions, 'catalog' | 'host'> {
  readonly logLevel: LogLevel
}

/** Serves until a signal stops it. */
export async function devCommand(given: string | undefined, options: Options): Promise<void> {
  if (isInMemory(options.database)) {
    throw new UsageError('resourced dev keeps its data while the declaration changes: use sqlite:FILE.')
  }
  requireLocal(options)
  const file = given ?? (await findDeclaration('.'))
  if (file === undefined) {
    throw new ConfigurationError('There is no declaration here: run resourced init to write one, or name a file.')
  }
  const edited = editedDeclaration(file)
  const first = await edited.load()
  if (first.kind === 'failed') throw new ConfigurationError(first.message)
  const complete = (declaration: InterfaceDeclaration) => completeVersions(declaration, options.basePath)
  const versions = complete(await declarationOf(first.content, file))
  const place = { file, database: options.database }
  const migrated = await untilAgreed(place, (mayLose) => migrateTo(options, versions.stored, mayLose))
  if (migrated === undefined) {
    throw new ConfigurationError('Nothing was changed. Undo the change in the declaration, or move the data first.')
  }
  const serving = await serveUntilStopped({
    ...{ ...options, versions, host: '127.0.0.1', http: true, development: true },
    catalog: versions.stored,
    observe: withoutLifecycle(commandLog(options.logLevel)),
  })
  await greet(file, serving, versions, options.console)
  await follow({ edited, place, serving, complete, served: first.content })
}

/**
 * Refuses a database elsewhere: the command makes a key of an administrator in it, and changes its tables.
 *
 * @throws UsageError
 */
function requireLocal({ database }: DatabaseOptions): void {
  if (!isElsewhere(database)) return
  const { hostname } = new URL(database)
  if (['', 'localhost', '127.0.0.1', '[::1]'].includes(hostname)) return
  throw new UsageError(
    `resourced dev makes a key of an administrator and changes tables, and ${hostname} may be another machine. ` +
      'Name a database on localhost, or run resourced serve.',
  )
}

/** A declaration, and the address of the database for it. */
interface Place {
  readonly file: string
  readonly database: string
}

/** Standard error has these in words. */
function withoutLifecycle(observe: Observe): Observe {
  const said = new Set(['listening', 'stopping', 'stopped'])
  return (observation) => {
    if (process.stdout.isTTY !== true || !said.has(observation.kind)) observe(observation)
  }
}

/** A declaration, and the files that its last attempt has read. */
interface EditedDeclaration {
  readonly file: string
  load(): Promise<Attempt>
  hasChanged(): boolean
  /** The state of all files, to compare it with a later one. */
  state(): string
}

function editedDeclaration(file: string): EditedDeclaration {
  let stamps = new Map<string, string>()
  return {
    file,
    load() {
      stamps = new Map()
      return tryDeclaration(file, {
        onRead(path, stamp) {
          // A file that was changed between two reads of one attempt is to be read again.
          if (!stamps.has(path)) stamps.set(path, stamp)
        },
      })
    },
    hasChanged: () => [...stamps].some(([path, stamp]) => stampOf(path) !== stamp),
    state: () => [...stamps.keys()].map(stampOf).join(' '),
  }
}

/** What is served, and what it was made from. */
interface Followed {
  readonly edited: EditedDeclaration
  readonly place: Place
  readonly serving: Serving
  readonly complete: (declaration: InterfaceDeclaration) => Versions
  readonly served: Content
}

/** How often files are compared, in milliseconds. Events of the system are missed in containers and on shared disks. */
const interval = 100
/** How long a change may go on before it is tried anyway, in milliseconds. */
const mostPatience = 1_000
/** How long a mistake must stay before it is shown, in milliseconds: editors save in several steps. */
const settling = 300

/** Serves each new state of the declaration that can be served. Never returns. */
async function follow({ served: first, ...followed }: Followed): Promise<never> {
  const { edited } = followed
  const { file } = edited
  let served = first
  let isOther = false
  for (;;) {
    while (!edited.hasChanged()) await sleep(interval)
    await quiet(edited)
    const attempt = await edited.load()
    if (attempt.kind === 'failed') {
      await sleep(settling)
      if (edited.hasChanged()) continue
      isOther = true
      say(`\n${attempt.message}\n\nThe last version of ${file} without mistakes is still served.`)
    } else if (isSameContent(served, attempt.content)) {
      if (isOther) say(`\n${file} is again as it is served.`)
      isOther = false
    } else {
      isOther = !(await serveNext({ ...followed, served: attempt.content }))
      if (!isOther) served = attempt.content
    }
  }
}

/** Waits until the files stay the same for a moment, or for a second. */
async function quiet(edited: EditedDeclaration): Promise<void> {
  const until = performance.now() + mostPatience
  for (let before = ''; performance.now() < until; ) {
    const now = edited.state()
    if (now === before) return
    before = now
    await sleep(interval / 2)
  }
}

/** Serves what an attempt has read, if the database can follow. */
async function serveNext({ edited, place, serving, complete, served: content }: Followed): Promise<boolean> {
  const { file } = edited
  try {
    const versions = complete(await declarationOf(content, file))
    const result = await untilAgreed(place, (mayLose) => serving.replace(versions, mayLose), edited)
    if (result === undefined) {
      if (!edited.hasChanged()) say(`The version of ${file} before this change is still served.`)
      return false
    }
    say(`\n${file} was changed, and is served at ${result.url}`)
    if (result.steps.length > 0) say(formatSteps(result.steps))
    return true
  } catch (error) {
    say(`\n${explain(error)}\n\nThe last version of ${file} is still served.`)
    return false
  }
}

/**
 * Migrates, and asks where data would be lost.
 *
 * @param edited a question is withdrawn when the declaration changes
 * @returns `undefined` where the answer is no, or there is nobody to ask
 */
async function untilAgreed<T>(
  { file, database }: Place,
  migrate: (mayLose: MayLose) => Promise<T>,
  edited?: EditedDeclaration,
): Promise<T | undefined> {
  let agreed = new Set<string>()
  for (;;) {
    try {
      return await migrate((steps) => losses(steps).every((loss) => agreed.has(loss)))
    } catch (error) {
      if (!(error instanceof MigrationRefused)) throw error
      const { steps } = error
      const isImpossible = steps.some((step) => step.impossible)
      const what = isImpossible ? 'cannot be applied to the database' : 'would lose data'
      say(`\nThe change of ${file} ${what}:\n${formatSteps(steps)}`)
      if (isImpossible) {
        say('Change the records or the declaration as the lines marked x say.')
        return undefined
      }
      if (!hasTerminal()) {
        say(
          'There is no terminal to ask, so nothing is changed. Stop resourced dev and run: ' +
            migrationCommand(file, database),
        )
        return undefined
      }
      if (!(await confirm('Apply it, and lose the data of the lines marked !? [y/N] ', edited && changeSignal(edited))))
        return undefined
      agreed = new Set(losses(steps))
    }
  }
}

/** Names the losses of a migration, without their counts: requests may change those meanwhile. */
function losses(steps: readonly MigrationStep[]): string[] {
  return steps
    .filter((step) => step.loses !== 'nothing')
    .map((step) => [step.kind, step.table, 'column' in step ? nameOf(step.column) : ''].join(' '))
}

function nameOf(column: string | { readonly name: string }): string {
  return typeof column === 'string' ? column : column.name
}

/** A signal that is aborted when the declaration has changed. */
function changeSignal(edited: EditedDeclaration): AbortSignal {
  const controller = new AbortController()
  const timer = setInterval(() => {
    if (!edited.hasChanged()) return
    clearInterval(timer)
    controller.abort()
  }, interval).unref()
  return controller.signal
}

/** Says where the interface is, and how to send the first request. */
async function greet(file: string, serving: Serving, versions: Versions, console: string | undefined): Promise<void> {
  const { key, isNew } = await developmentKey(serving.app.storage.keys)
  say(`${versions.stored.title} is served at ${serving.url}`)
  for (const line of versionLines(versions, serving.origin, Date.now())) say(line)
  say(pagesLine(versions, serving.origin, console))
  say(`Changes of ${basename(file)} are served when you save it. Ctrl-C stops.`)
  say(
    `\nYour key, with the role admin, is kept in ${developmentKeyFile}${isNew || isVisible() ? ` and is ${key}` : ''}`,
  )
  const shown = isVisible() ? key : `$(cat ${developmentKeyFile})`
  say(`Try it:\n${exampleRequest(serving.url, versions.current.catalog, shown)}\n`)
}

/** Whether only the developer reads what is written: logs of other programs should not have keys in them. */
function isVisible(): boolean {
  return process.stderr.isTTY === true
}

/**
 * A command that creates a record in the first collection whose required fields have examples. Without such a
 * collection, it lists the first one.
 *
 * @param url of the interface, without a slash at the end
 */
function exampleRequest(url: string, catalog: Catalog, key: string): string {
  const authorization = `--header "Authorization: Bearer ${key}"`
  for (const resource of catalog.resources.values()) {
    const record = exampleRecord(resource)
    if (record === undefined) continue
    const json = JSON.stringify(record).replaceAll("'", String.raw`'\''`)
    return `  curl ${url}/${resource.name} ${authorization} --json '${json}'`
  }
  return `  curl ${url}/${[...catalog.resources.keys()][0] ?? ''} ${authorization}`
}

/** The required fields of a record; `undefined` where one has no example. */
function exampleRecord({ fields }: Resource): Record<string, unknown> | undefined {
  const record: Record<string, unknown> = {}
  for (const field of fields) {
    if (!field.required || field.readOnly || (field.default ?? field.serverDefault) !== undefined) continue
    const value = field.reference === undefined ? exampleOf(field.schema, field.name) : undefined
    if (value === undefined) return undefined
    record[field.name] = value
  }
  return record
}

/** Where the key is kept, beside the database of the default. */
export const developmentKeyFile = '.resourced/dev-key'

const [subject, roles] = ['dev', ['admin']]

/**
 * The key in the file, which works with the database; a new one where the file has none, or where it was revoked.
 *
 * @throws ConfigurationError where the file cannot be read or written
 */
export async function developmentKey(keys: KeyStore, file = developmentKeyFile): Promise<DevelopmentKey> {
  const kept = await readKey(file)
  const known = kept === undefined ? undefined : await keys.find(hashOfKey(kept))
  if (kept !== undefined && known?.revoked_at == null) {
    // Another database, or a new one in the place of a deleted one.
    if (known === undefined) await keys.add(storedForm(kept, subject, roles, null))
    return { key: kept, isNew: false }
  }
  const { key, stored } = makeKey(subject, roles, null)
  await writeKey(file, key)
  await keys.add(stored)
  return { key, isNew: true }
}

/** A key that works. */
export interface DevelopmentKey {
  readonly key: string
  readonly isNew: boolean
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    const text = (await readFile(file, 'utf8')).trim()
    return isKey(text) ? text : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cannotUse(file, error)
  }
}

async function writeKey(file: string, key: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    // Without `wx`, the key would go to wherever a link leads, with the mode of what is there.
    await rm(file, { force: true })
    await writeFile(file, `${key}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw cannotUse(file, error)
  }
}

function cannotUse(file: string, error: unknown): ConfigurationError {
  return new ConfigurationError(
    `The key for development cannot be kept in ${file}: ${(error as Error).message}. Correct that, or remove the file.`,
  )
}
