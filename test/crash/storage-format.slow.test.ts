/** OPS-2: a program refuses to start on a database that a newer one has written, instead of failing at changes. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { storageFormat } from '../../packages/server/src/storage/migration/schema.ts'
import { StorageFault } from '../../packages/server/src/storage/storage.ts'
import { commandFile } from '../command-file.ts'
import { engine, newDatabase, type TrialDatabase } from '../engine.ts'
import { query } from '../postgres/query.ts'

const declaration = { name: 'notes', resources: { notes: { fields: { text: { type: 'string' } } } } } as const
const catalog = completeCatalog(declaration)

/** Changes a database past the storage. */
async function change({ address }: TrialDatabase, statement: string): Promise<void> {
  if (engine === 'postgres') {
    await query(address, statement)
    return
  }
  const database = new DatabaseSync(address.slice('sqlite:'.length))
  database.exec(statement)
  database.close()
}

const formatOf = (database: TrialDatabase) => database.rows("select value from resourced_meta where key = 'format'")
const newer = `update resourced_meta set value = '${storageFormat + 1}' where key = 'format'`
const expected = new RegExp(
  `A newer release of Resourced has written to the database: its storage format is "${storageFormat + 1}", and this ` +
    `release knows ${storageFormat}\\. Start that release or a newer one\\.`,
)

test('OPS-2: a database with a newer storage format is refused at start, and is not changed', async () => {
  const database = await newDatabase()
  await (await database.open(catalog)).close()
  await change(database, newer)
  const contents = () => database.rows('select key, value from resourced_meta order by key')
  const before = await contents()
  for (const migrate of ['never', 'additive', 'all'] as const) {
    const refused = await Promise.resolve()
      .then(() => database.open(catalog, { migrate }))
      .catch((error: unknown) => error)
    assert.ok(refused instanceof StorageFault, String(refused))
    assert.match(refused.message, expected)
  }
  assert.deepEqual(await contents(), before)
})

test('OPS-2: no command writes to a database with a newer storage format', async (context) => {
  const database = await newDatabase()
  await (await database.open(catalog)).close()
  await change(database, newer)
  const folder = mkdtempSync(join(tmpdir(), 'resourced-format-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'resources.json')
  writeFileSync(file, JSON.stringify(declaration))
  writeFileSync(join(folder, 'notes.ndjson'), '{"text":"a"}\n')
  const commands = [
    ['serve', file, '--http', '--port', '0'],
    ['migrate', file, '--apply'],
    ['keys', 'create', '--subject', 'ann'],
    ['import', 'notes', join(folder, 'notes.ndjson')],
    ['backup', join(folder, 'a.backup')],
  ]
  for (const command of commands) {
    const given = [commandFile, ...command, '--database', database.address]
    const { status, stderr } = spawnSync(process.execPath, given, { cwd: folder, encoding: 'utf8', timeout: 60_000 })
    assert.equal(status, 1, `${command.join(' ')}: ${stderr}`)
    assert.match(stderr, expected, command.join(' '))
    assert.doesNotMatch(stderr, /\n {4}at /, command.join(' '))
  }
})

test('OPS-2: a database from before there were numbers is opened, and gets the number of this program', async () => {
  const database = await newDatabase()
  await (await database.open(catalog)).close()
  assert.deepEqual(await formatOf(database), [{ value: String(storageFormat) }])
  await change(database, "delete from resourced_meta where key = 'format'")
  await (await database.open(catalog)).close()
  const more = completeCatalog({
    ...declaration,
    resources: { ...declaration.resources, others: { fields: { text: { type: 'string' } } } },
  })
  await (await database.open(more)).close()
  assert.deepEqual(await formatOf(database), [{ value: String(storageFormat) }])
})
