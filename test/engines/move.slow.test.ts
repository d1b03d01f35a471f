/** `resourced move` copies a database to either engine. Afterwards the responses are byte-identical. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { commandFile } from '../command-file.ts'
import { declare, fill as fillTree } from '../deletion/tree.ts'
import { ask, assertGoesOn, fillAddress, serverOn } from '../move.ts'
import { databaseFor, whyNoDatabase } from '../postgres/database.ts'
import { query } from '../postgres/query.ts'
import { startReceiver } from '../receiver.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-move-'))
after(() => rmSync(folder, { recursive: true }))
const declared = pathToFileURL(join(import.meta.dirname, '../declarations-everything.ts')).href
writeFileSync(
  join(folder, 'resources.ts'),
  `export { everythingWithEvents as default } from ${JSON.stringify(declared)}`,
)
writeFileSync(
  join(folder, 'other.json'),
  JSON.stringify({ name: 'other', resources: { samples: { fields: { title: { type: 'string' } } } } }),
)

let files = 0
const sqliteFor = async (_: TestContext) => `sqlite:${join(folder, `${files++}.db`)}`
const engines = { sqlite: sqliteFor, postgres: databaseFor }
type Engine = keyof typeof engines

interface Running {
  readonly child: ReturnType<typeof spawn>
  said(): string
  readonly ended: Promise<number | null>
}

function move(from: string, to: string, declaration = 'resources.ts'): Running {
  const given = ['move', '--from', from, '--to', to, '--declaration', declaration, '--database-unsafe']
  const child = spawn(process.execPath, [commandFile, ...given], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout.on('data', (text) => {
    said += text
  })
  child.stderr.on('data', (text) => {
    said += text
  })
  return { child, said: () => said, ended: new Promise((resolve) => child.on('close', resolve)) }
}

// The files of exports last a day, also by the clock of the command.
const now = Math.floor(Date.now() / 1000) * 1000
const day = 86_400_000

/** A filled database, and what is answered of it. */
async function filled(context: TestContext, engine: Engine) {
  const from = await engines[engine](context)
  const { client, ...filled } = await fillAddress(from, now)
  // One delivery succeeds, and two are pending.
  const receiver = await startReceiver(context, ({ event }) => (event.data.title === 'received' ? 204 : 500))
  assert.equal((await client.send('/v1/webhooks', { body: { url: receiver.url } })).status, 201)
  for (const title of ['received', 'refused', 'refused']) await client.send('/v1/tickets', { body: { title } })
  await client.app.deliveries?.settle()
  const paths = [...filled.paths, '/v1/events', '/v1/webhooks', '/v1/deliveries?status=pending', '/v1/deliveries']
  const answers = await ask(client, paths)
  await client.app.close()
  assert.equal(receiver.got.length, 3)
  return { from, key: filled.key, receiver, paths, answers }
}

const ways: readonly (readonly [Engine, Engine])[] = [
  ['sqlite', 'sqlite'],
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['postgres', 'postgres'],
]
for (const [one, other] of ways) {
  const skip = one === 'postgres' || other === 'postgres' ? (whyNoDatabase ?? false) : false
  test(`from ${one} to ${other}: responses are the same, and unfinished jobs continue`, { skip }, async (context) => {
    const { from, key, paths, answers, receiver } = await filled(context, one)
    const to = await engines[other](context)
    const moving = move(from, to)
    assert.equal(await moving.ended, 0, moving.said())
    assert.match(moving.said(), /Every row was read back, and is the same\./)
    assert.match(moving.said(), /1 files of exports/)
    assert.match(moving.said(), /1 unfinished exports begin again/)
    assert.match(moving.said(), /Moved \d+ records in 10 collections/)
    assert.match(moving.said(), /5 events; 1 webhooks; 3 deliveries, 2 of them pending/)

    const left = await serverOn(from, key, now)
    assert.equal((await left.send('/v1/samples')).status, 503)
    await left.app.close()

    const idle = await serverOn(to, key, now, { idle: true })
    assert.deepEqual(await ask(idle, paths), answers)
    await idle.app.close()

    const client = await serverOn(to, key, now)
    const { send } = client
    await assertGoesOn(client, paths)

    // A new record stands after those that came along, and nothing goes back.
    const before = (await send('/v1/samples')).headers['ETag']
    const made = await send('/v1/samples', { body: { title: 'new words' } })
    assert.equal(made.status, 201, made.text)
    assert.notEqual((await send('/v1/samples')).headers['ETag'], before)
    assert.equal(JSON.parse((await send('/v1/samples?q=words')).text).data.length, 1)
    if (other === 'postgres') {
      const [newest] = await query(to, 'select title from samples order by _row desc limit 1')
      assert.equal(newest?.['title'], 'new words')
    }
    const twice = await send('/v1/selects', { body: { select: '' } })
    assert.equal(twice.status, 409)
    assert.equal(JSON.parse((await send('/v1/departments?include_deleted=true')).text).pagination.total_count, 12)
    assert.equal(JSON.parse((await send('/v1/departments')).text).pagination.total_count, 0)
    // Numbers go on. What was delivered is not delivered again.
    receiver.got.length = 0
    receiver.answer = () => 204
    const next = JSON.parse((await send('/v1/tickets', { body: { title: 'next' } })).text)
    assert.equal(next.number, 6)
    await client.app.deliveries?.settle()
    const received = () => receiver.got.splice(0).map(({ event }) => event.data.number)
    assert.deepEqual(received(), [6])
    // The file's day is over when it would have been.
    const content = paths.find((path) => path.endsWith('/content')) as string
    const later = await serverOn(to, key, now + day + 60_000)
    assert.equal((await later.send(content)).status, 404)
    await later.app.deliveries?.settle()
    assert.deepEqual(received().sort(), [4, 5])
    await later.app.close()
    // Before the database is dropped: what runs in the background must not lose its connection.
    await client.app.close()
  })
}

const prepared = join(folder, 'tree.db')

/** A file with a tree of many records, which take a while to move. */
async function treeFor(context: TestContext): Promise<{ from: string; path: string }> {
  if (!existsSync(prepared)) {
    declare(folder)
    migrate(`sqlite:${prepared}`)
    fillTree(prepared, { departments: 10, teams: 100, members: 10_000, badges: 10 })
    migrate(`sqlite:${prepared}`)
    assert.equal(existsSync(`${prepared}-wal`), false)
  }
  const from = await sqliteFor(context)
  const path = from.slice('sqlite:'.length)
  copyFileSync(prepared, path)
  return { from, path }
}

function migrate(database: string): void {
  const command = [commandFile, 'migrate', tree, '--apply', '--database', database]
  const { status, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
}

/** Does something when a move has written all rows, and has not made the indexes. */
async function inTheMiddle({ child, said, ended }: Running, what: () => void): Promise<number | null> {
  let isDone = false
  child.stderr?.on('data', () => {
    if (isDone || !said().includes('All rows are written')) return
    isDone = true
    what()
  })
  const code = await ended
  assert.ok(isDone, said())
  return code
}

const tree = 'diary.json'

for (const engine of ['sqlite', 'postgres'] as const) {
  const skip = engine === 'postgres' ? (whyNoDatabase ?? false) : false
  test(`a move to ${engine} that is killed leaves nothing, and a second move succeeds`, { skip }, async (context) => {
    const { from, path } = await treeFor(context)
    const to = await engines[engine](context)
    const first = move(from, to, tree)
    await inTheMiddle(first, () => first.child.kill('SIGKILL'))
    assert.match(maintenance('status', from), /Maintenance is on/)

    const interrupted = move(from, to, tree)
    assert.equal(await inTheMiddle(interrupted, () => interrupted.child.kill('SIGINT')), 130)
    assert.match(interrupted.said(), /Interrupted. Nothing was moved.\n$/)

    // Whoever has begun maintenance ends it, and nobody else.
    maintenance('off', from)
    const changed = move(from, to, tree)
    assert.equal(await inTheMiddle(changed, () => changeClock(path)), 1)
    assert.match(changed.said(), /Maintenance of the source is off again[\s\S]*The source has changed meanwhile/)
    assert.match(maintenance('status', from), /Maintenance is off/)

    const second = move(from, to, tree)
    assert.equal(await second.ended, 0, second.said())
    assert.match(second.said(), /Moved 20,242 records in 5 collections/)
    assert.match(maintenance('status', from), /Maintenance is on/)
    assert.match(maintenance('status', to), /Maintenance is off/)

    const again = move(from, to, tree)
    assert.equal(await again.ended, 1)
    assert.match(again.said(), /holds records \(20 in badges, 2 in companies, .*\) already\. Name an empty one/)
  })
}

function changeClock(path: string): void {
  const database = new DatabaseSync(path)
  database.exec("update resourced_clocks set revision = revision + 1 where collection = 'badges'")
  database.close()
}

function maintenance(what: string, database: string): string {
  const command = [commandFile, 'maintenance', what, '--database', database]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: folder, encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout + stderr
}

test('refused: another declaration, no database, the source itself, and memory; nothing is created', async (context) => {
  const { from } = await treeFor(context)
  const to = await sqliteFor(context)
  const ended = async (code: number, ...given: Parameters<typeof move>) => {
    const moving = move(...given)
    assert.equal(await moving.ended, code, moving.said())
    assert.doesNotMatch(moving.said(), /\n {4}at /)
    assert.match(maintenance('status', from), /Maintenance is off/)
    return moving.said()
  }
  const refused = (...given: Parameters<typeof move>) => ended(1, ...given)
  const misused = (...given: Parameters<typeof move>) => ended(2, ...given)
  assert.match(await refused(from, to, 'other.json'), /does not fit the declaration:\n {2}! drop the table/)
  assert.match(await refused('sqlite:nothing.db', to, tree), /no database of Resourced at nothing\.db/)
  assert.match(await refused(from, from, tree), /holds records .* already/)
  assert.match(await misused(from, 'sqlite::memory:', tree), /in memory cannot be moved/)
  assert.match(await misused(from, 'mysql://u:secret@h/d', tree), /address is not understood/)
  assert.equal(existsSync(to.slice('sqlite:'.length)), false)
})
