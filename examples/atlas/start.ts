/** `npm start`: the atlas over HTTPS, loaded at the first start, with a key, three commands to try, and the console. */
import { createServer } from 'node:net'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, showProgress } from 'resourced-check/terminal'
import { always } from 'resourced-contract/model/predicate'
import type { Catalog, Resource } from 'resourced-contract/model/resource'
import { withoutCredentials } from 'resourced-contract/model/text'
import { explain } from '../../packages/server/src/cli/explain.ts'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { loadCatalog } from '../../packages/server/src/cli/load-declaration.ts'
import { serveUntilStopped } from '../../packages/server/src/cli/serve.ts'
import { type LogLevel, logLevels, logTo } from '../../packages/server/src/server/observe/log.ts'
import { openStorage } from '../../packages/server/src/server/open-database.ts'
import type { Serving } from '../../packages/server/src/server/serve.ts'
import { readPort } from '../../packages/server/src/server/settings.ts'
import type { KeyStore, Storage } from '../../packages/server/src/storage/storage.ts'
import { fill, isLoaded, loadAtlas } from './load.ts'

const file = '.resourced/atlas.db'
const database = process.env.DATABASE_URL || `sqlite:${file}`

/** Loads what is missing, and serves. */
async function start(): Promise<void> {
  const host = process.env.HOST || '127.0.0.1'
  const port = readPort(process.env.PORT || '8443', '--port')
  const catalog = await loadCatalog(fileURLToPath(new URL('resources.yaml', import.meta.url)))
  if (!(await isThere(catalog))) {
    const release = await hold(host, port)
    await load(catalog)
    await release()
  }
  // For people at a terminal a line for each request would hide the commands below.
  const level = logLevels.find((each) => each === process.env.LOG_LEVEL) ?? ('warn' satisfies LogLevel)
  const observe = logTo(level)
  const options = { database, host, port, folder: '.resourced', rateLimit: 'declared' } as const
  const serving = await serveUntilStopped({ ...options, catalog, observe })
  const { storage } = serving.app
  say(`\nThe atlas is served at ${serving.url}\n`)
  const key = await sayKey(storage.keys)
  for (const line of await commands(storage, catalog, serving, key)) say(line)
  say('In a browser, which warns of the certificate because it was made on this machine. Sign in with the key:\n')
  say(`  ${reachable(serving.origin)}/console\n`)
  say('Ctrl-C stops it.')
}

/** Whether the atlas is in the database. Elsewhere than in its own file, the first key is made when all of it is. */
async function isThere(catalog: Catalog): Promise<boolean> {
  if (database === `sqlite:${file}`) return isLoaded(file)
  const { keys, close } = await openStorage({ database }, catalog)
  const known = await keys.list()
  await close()
  return known.length > 0
}

async function load(catalog: Catalog): Promise<void> {
  const progress = showProgress({ title: 'Loading the atlas', unit: 'cities' })
  const started = performance.now()
  let cities = 0
  const show = (count: number, part: number) => {
    cities = count
    progress.update(count, part)
  }
  if (database === `sqlite:${file}`) {
    await loadAtlas(file, catalog, (count, part) => {
      show(count, part)
      if (part === 1) progress.say('All cities are in; making the indexes.')
    })
  } else {
    const storage = await openStorage({ database }, catalog)
    await fill(storage, catalog, show)
    await storage.close()
  }
  progress.end()
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  const place = database === `sqlite:${file}` ? relative('.', resolve(file)) : withoutCredentials(database)
  say(`Loaded every country and ${format(cities)} cities into ${place} in ${seconds} s.`)
}

/** Holds the port while the atlas is loaded: a port that is taken is told before the wait, not after it. */
async function hold(host: string, port: number): Promise<() => Promise<void>> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(port, host, listening)
  })
  return () => new Promise((closed) => server.close(() => closed()))
}

/** Makes a key at the first start, and shows it that once. Gives what stands for it in commands. */
async function sayKey(keys: KeyStore): Promise<string> {
  const known = (await keys.list()).findLast(({ revoked_at }) => revoked_at === null)
  if (known !== undefined) {
    say(`Put your key, the one that begins with ${known.hint}, into KEY:  export KEY=…`)
    say(
      `Lost it? Make another:  npm run resourced -- keys create --subject me --roles admin --database ${withoutCredentials(database)}\n`,
    )
    return '$KEY'
  }
  const { key, stored } = makeKey('developer', ['admin'], null)
  await keys.add(stored)
  say('Your key, shown this once. It may do everything:\n')
  say(`  ${key}\n`)
  return key
}

/** Three commands that work as they stand. */
async function commands(
  storage: Storage,
  catalog: Catalog,
  { url, caFile }: Serving,
  key: string,
): Promise<readonly string[]> {
  const address = reachable(url)
  const trust = caFile === undefined ? '' : ` --cacert ${quoted(resolve(caFile))}`
  const curl = (path: string) => `  curl${trust} -H "Authorization: Bearer ${key}" '${address}${path}'\n`
  const city = await largest(storage, catalog.resources.get('cities') as Resource)
  const search = ['Search:', curl('/cities?q=san+jose&sort=-population')]
  if (city === undefined) return search
  return [
    `One city, ${city.name}:`,
    curl(`/cities/${city.id}`),
    'The ten largest cities of its country:',
    curl(`/countries/${city.country_id}/cities?sort=-population&per_page=10`),
    ...search,
  ]
}

/** An address that listens everywhere is asked at this machine. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}

async function largest(
  storage: Storage,
  cities: Resource,
): Promise<{ readonly id: string; readonly name: string; readonly country_id: string } | undefined> {
  const outcome = await storage.run({
    kind: 'read-page',
    resource: cities,
    parent: undefined,
    filter: always,
    permitted: always,
    search: undefined,
    deleted: undefined,
    sort: [{ field: 'population', descending: true }],
    page: { style: 'page', page: 1, perPage: 1 },
    fields: undefined,
    conditions: {},
  })
  return outcome.kind === 'page' && outcome.count > 0 ? JSON.parse(outcome.json) : undefined
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

try {
  await start()
} catch (error) {
  say(explain(error).replace('with --port', 'with PORT=8444 npm start').replace('--port', 'PORT'))
  process.exitCode = 1
}
