import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeKey } from '../packages/server/src/cli/keys.ts'
import { loadCatalog } from '../packages/server/src/cli/load-declaration.ts'
import { openSqliteKeys } from '../packages/server/src/storage/sqlite/administration.ts'
import { openSqlite } from '../packages/server/src/storage/sqlite/storage.ts'

const program = fileURLToPath(new URL('../examples/atlas/start.ts', import.meta.url))
const declaration = fileURLToPath(new URL('../examples/atlas/resources.yaml', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'resourced-atlas-'))
const running = new Set<ChildProcess>()
after(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

/** Starts the atlas in the folder; `said` grows. */
function start(environment: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [program], { cwd: folder, env: { ...process.env, PORT: '0', ...environment } })
  running.add(child)
  const started = { child, said: '', exit: once(child, 'exit').finally(() => running.delete(child)) }
  child.stderr.on('data', (text) => {
    started.said += text
  })
  return started
}

/** Waits until something was said. */
async function hears(started: ReturnType<typeof start>, what: RegExp): Promise<void> {
  while (!what.test(started.said)) await Promise.race([once(started.child.stderr as never, 'data'), started.exit])
}

/** Runs what the terminal shows, as a shell does. */
async function run(command: string, environment: Readonly<Record<string, string>>): Promise<unknown> {
  const child = spawn('sh', ['-c', command.replace('curl ', 'curl -sS ')], { env: { ...process.env, ...environment } })
  let answer = ''
  let said = ''
  child.stdout.on('data', (text) => {
    answer += text
  })
  child.stderr.on('data', (text) => {
    said += text
  })
  await once(child, 'close')
  assert.equal(said, '')
  return JSON.parse(answer)
}

const commandsOf = (said: string) => [...said.matchAll(/^ {2}(curl .*)$/gm)].map(([, command]) => command as string)
const stop = async ({ child, exit }: ReturnType<typeof start>) => {
  child.kill('SIGTERM')
  assert.deepEqual(await exit, [0, null])
}

test('the atlas is loaded once, completely, and is served; the printed commands work', {
  timeout: 240_000,
}, async (context) => {
  const file = join(folder, '.resourced/atlas.db')

  await context.test('a load that is killed leaves no file that could be taken for the atlas', async () => {
    const killed = start()
    // The first line of progress comes after three seconds, or the load is through by then.
    await hears(killed, /Loading the atlas: |All cities are in/)
    killed.child.kill('SIGKILL')
    await killed.exit
    const names = readdirSync(join(folder, '.resourced'))
    assert.ok(names.length > 0 && names.every((name) => name.startsWith('atlas.db.loading-')), names.join())
  })

  // Someone makes a key before there is an atlas: it moves into it.
  const { key, stored } = makeKey('early', ['admin'], null)
  const early = openSqliteKeys(file)
  await early.keys.add(stored)
  await early.close()
  chmodSync(file, 0o640)

  await context.test('the next start loads the atlas', async () => {
    const first = start()
    await hears(first, /Ctrl-C stops it/)
    assert.match(first.said, /Loaded every country and 138,398 cities into \.resourced\/atlas\.db in/)
    assert.match(first.said, new RegExp(`the one that begins with ${stored.hint}, into KEY`))
    const [city, largest, found] = (await Promise.all(
      commandsOf(first.said).map((command) => run(command, { KEY: key })),
      // biome-ignore lint/suspicious/noExplicitAny: answers of three shapes
    )) as any[]
    assert.equal(city.name, 'Shanghai')
    assert.equal(largest.data.length, 10)
    assert.deepEqual(largest.data[0], city)
    assert.ok(largest.pagination.total_count > 1_000)
    assert.equal(found.data[0].name, 'San Jose')
    await stop(first)
    assert.deepEqual(readdirSync(join(folder, '.resourced')).sort(), ['atlas.db', 'tls'])
    assert.equal(statSync(file).mode & 0o777, 0o640, 'whoever could read the file before can read it now')
  })

  await context.test('its tables and indexes are those of any other database', async () => {
    const usual = join(folder, 'usual.db')
    await openSqlite(await loadCatalog(declaration), { path: usual }).close()
    const schemaOf = (path: string) => {
      const database = new DatabaseSync(path, { readOnly: true })
      // Of a full-text index the first part is made at the start, the others with their first words.
      const rows = database
        .prepare(
          "select type, name, sql from sqlite_schema where name not like 'resourced_words_%' order by type, name",
        )
        .all()
      const check = database.prepare('pragma integrity_check').get()
      database.close()
      assert.deepEqual({ ...check }, { integrity_check: 'ok' })
      return rows.map((row) => ({ ...row }))
    }
    assert.deepEqual(schemaOf(file), schemaOf(usual))
  })

  await context.test('a second start loads nothing', async () => {
    const before = readFileSync(file).length
    const second = start()
    await hears(second, /Ctrl-C stops it/)
    assert.doesNotMatch(second.said, /Load/)
    assert.equal(commandsOf(second.said).length, 3)
    await stop(second)
    assert.equal(readFileSync(file).length, before)
  })

  await context.test(
    'if all keys are revoked, a new key is printed once, in commands that work as printed',
    async () => {
      const { keys, close } = openSqliteKeys(file)
      await keys.revoke(stored.id, new Date().toISOString())
      await close()
      const third = start()
      await hears(third, /Ctrl-C stops it/)
      const shown = /^ {2}(rsk_\w+)$/m.exec(third.said)?.[1] as string
      const [command] = commandsOf(third.said) as [string]
      assert.ok(command.includes(shown))
      // biome-ignore lint/suspicious/noExplicitAny: a city
      assert.equal(((await run(command, {})) as any).name, 'Shanghai')
      await stop(third)
      const fourth = start()
      await hears(fourth, /Ctrl-C stops it/)
      assert.ok(!fourth.said.includes(shown))
      await stop(fourth)
    },
  )
})

test('a port in use is reported in a sentence, before anything is loaded', async (context) => {
  const other = createServer()
  context.after(() => other.close())
  await once(other.listen(0, '127.0.0.1'), 'listening')
  const { port } = other.address() as { port: number }
  const refused = start({ PORT: String(port) })
  assert.deepEqual(await refused.exit, [1, null])
  assert.equal(
    refused.said,
    `Port ${port} is in use. Stop what listens there, or choose another with PORT=8444 npm start.\n`,
  )
})

test('an invalid port is reported in a sentence', async () => {
  const refused = start({ PORT: 'http' })
  assert.deepEqual(await refused.exit, [1, null])
  assert.equal(refused.said, 'PORT takes a number from 0 to 65535, not "http".\n')
})
