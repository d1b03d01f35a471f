/** Serves from the command line on this thread, and stops on a signal or when the main thread says so. */
import { flushCompileCache } from 'node:module'
import { say } from 'resourced-check/terminal'
import { operatorRole } from 'resourced-contract/model/tenants'
import { withoutCredentials } from 'resourced-contract/model/text'
import { defaultDatabase } from '../server/database-address.ts'
import { inBlocks, type LogLevel, logTo } from '../server/observe/log.ts'
import type { Observation, Observe } from '../server/observe/observe.ts'
import { readableLog } from '../server/observe/readable-log.ts'
import { flushTraces } from '../server/observe/tracing.ts'
import { type ServeOptions, type Serving, serve } from '../server/serve.ts'
import type { ThreadLink } from '../server/threads/thread-link.ts'
import { isDeprecated, isRetired, type Version, type Versions } from '../versions/versions.ts'
import { loadVersions } from './load-declaration.ts'
import { commandLog, endProcess, stopOnSignal } from './serving-process.ts'

export interface ServeCommandOptions extends Omit<ServeOptions, 'catalog'> {
  readonly logLevel: LogLevel
  /** Whether the log is for people at a terminal; by default, as standard output is. */
  readonly terminal?: Terminal | undefined
}

/** What a thread of the command starts with. */
export interface CommandThread {
  readonly file: string | undefined
  readonly options: ServeCommandOptions
  /** See `beat`. */
  readonly pulse: SharedArrayBuffer
}

/** Serves on this thread until a signal, or the main thread, stops it. */
export async function serveHere(file: string | undefined, options: ServeCommandOptions): Promise<void> {
  const { thread } = options
  const versions = await loadVersions(file, options.basePath)
  const { stored: catalog } = versions
  const observe = thread === undefined ? commandLog(options.logLevel) : threadLog(thread, options)
  const serving = await serveUntilStopped({
    ...options,
    ...{ catalog, versions },
    observe,
    development: process.env.NODE_ENV === 'development',
  })
  if (thread?.isFirst === false) return
  say(`${catalog.title} is served at ${serving.url}`)
  for (const line of versionLines(versions, serving.origin, Date.now())) say(line)
  say(pagesLine(versions, serving.origin, options.console))
  if (catalog.resources.has('transactions')) {
    say('POST /transactions is off here: it is the address of the collection of this name.')
  }
  if (serving.caFile !== undefined) {
    say(`Its certificate is a local one. Trust it with: curl --cacert ${serving.caFile} ${serving.url}/…`)
  }
  if (serving.metricsUrl !== undefined) say(`Its metrics are at ${serving.metricsUrl}`)
  if (serving.app.maintenance.current !== undefined) {
    say(
      'Maintenance is on: every request gets 503. End it with: npx resourced maintenance off --database ' +
        `${withoutCredentials(options.database)}`,
    )
  }
  // With JWTs a server needs no key.
  if (!options.jwtIssuer && (await serving.app.storage.keys.list()).length === 0) {
    const database = options.database === defaultDatabase ? '' : ` --database ${withoutCredentials(options.database)}`
    const key = 'npx resourced keys create --subject me --roles'
    if (catalog.tenants === undefined) say(`No API key exists yet. Make one with: ${key} admin${database}`)
    else {
      say(`No operator has an API key yet. Make one with: ${key} ${operatorRole}${database}`)
      say(`Create a tenant with: npx resourced tenants create NAME${database}`)
      say(`Then make a key of it with: ${key} admin --tenant NAME${database}`)
    }
  }
}

/** What concerns the whole server, and would be logged by each thread. */
const ofServer: ReadonlySet<Observation['kind']> = new Set(['maintenance', 'certificate', 'purge'])
/** What is logged once, at the start. */
const ofStart: ReadonlySet<Observation['kind']> = new Set(['listening', 'metrics'])

/** A terminal that shows the log. */
export interface Terminal {
  readonly colors: boolean
}

/** The log of a thread; the main thread logs the end, and gets what the thread writes. */
function threadLog(
  { number, isFirst }: ThreadLink,
  { logLevel, terminal }: Pick<ServeCommandOptions, 'logLevel' | 'terminal'>,
): Observe {
  const blocks = inBlocks((block) => void process.stdout.write(block))
  process.once('exit', () => blocks.flush())
  const observe = terminal === undefined ? logTo(logLevel, blocks) : readableLog(logLevel, terminal)
  return (observation) => {
    const { kind } = observation
    if (kind === 'stopped' || (ofStart.has(kind) && !isFirst) || (ofServer.has(kind) && number > 1)) return
    observe(observation)
  }
}

/**
 * Serves until SIGTERM or SIGINT, then stops cleanly (OPS-2); a second signal ends the process at once.
 *
 * @throws what `serve` throws
 */
export async function serveUntilStopped(options: ServeOptions & { readonly observe: Observe }): Promise<Serving> {
  const serving = serve({
    ...options,
    observe(seen) {
      // Before it is logged: a reader of the log may stop the server at once.
      if (seen.kind === 'listening' && options.thread === undefined) stopOnSignal(options.observe, () => end(serving))
      options.observe(seen)
    },
  })
  await serving
  void options.thread?.ended.then(async () => endProcess(await end(serving, options.thread)))
  // Now, because a process that is killed cannot write the cache.
  flushCompileCache?.()
  return serving
}

/** How long a stop waits for spans to be sent, in milliseconds. */
const mostForTraces = 3_000

async function end(serving: Promise<Serving>, thread?: ThreadLink): Promise<number> {
  await (await serving).close()
  await thread?.report()
  await flushTraces(mostForTraces)
  return 0
}

/**
 * One line for each version of several: its address, how a request names it, and when it ends.
 *
 * @param origin of the server, without a slash at the end
 * @param now milliseconds since 1970
 */
export function versionLines(versions: Versions, origin: string, now: number): string[] {
  if (versions.all.size === 1) return []
  return [...versions.all.values()].map((version) => {
    const place = `${origin}${version.basePath || '/'}`
    return `  ${version.name}: ${place}${carrierOf(versions, version)}${stateOf(versions, version, now)}`
  })
}

/** Where the pages for people are. */
export function pagesLine({ basePath }: Versions, origin: string, console: string | undefined): string {
  const root = `${origin}${basePath}`
  return `In a browser: ${console === 'off' ? '' : `${root}/console and `}${root}/docs`
}

function carrierOf({ carriers, current }: Versions, { name, catalog }: Version): string {
  if (carriers.includes('path')) return ''
  const ways: Readonly<Record<string, string>> = {
    header: `API-Version: ${name}`,
    'media-type': `Accept: application/vnd.${catalog.name}.${name}+json`,
    query: `?version=${name}`,
  }
  const words = carriers.map((carrier) => ways[carrier]).join(' or ')
  return name === current.name ? `, with ${words} or without` : `, with ${words}`
}

function stateOf({ current }: Versions, version: Version, now: number): string {
  const { sunsetAt, deprecatedAt, afterSunset } = version
  const day = (moment: number) => new Date(moment).toISOString().slice(0, 10)
  if (version === current) return ' (current)'
  if (sunsetAt !== undefined && isRetired(version, now)) {
    return ` (retired since ${day(sunsetAt)}: ${afterSunset === 'gone' ? '410' : 'redirects'})`
  }
  const until = sunsetAt === undefined ? '' : `, retired from ${day(sunsetAt)}`
  if (deprecatedAt === undefined) return until === '' ? '' : ` (${until.slice(2)})`
  return isDeprecated(version, now)
    ? ` (deprecated since ${day(deprecatedAt)}${until})`
    : ` (deprecated from ${day(deprecatedAt)}${until})`
}
