/** Imports while a server uses the same database, and imports that are killed in the middle, by the command itself. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKey, startServer } from '../durability/command.ts'
import { newDatabase, type TrialDatabase } from '../engine.ts'
import { commandFolder } from './command.ts'
import { isWriting } from './writing.ts'

const { folder, run, start, remove } = commandFolder()
after(remove)

writeFileSync(
  join(folder, 'resources.yaml'),
  `name: shop
resources:
  items:
    fields:
      old_id: { type: integer, unique: true, optional: true, filter: true }
      name: { type: string, unique: true }
      parent_id: { reference: items, optional: true }
    access: { read: anyone, create: anyone }
`,
)

const size = 4_000
const rows = Array.from(
  { length: size },
  (_, index) => `${index + 1},Item ${index + 1},${index < size - 1 ? size : ''}`,
)
writeFileSync(join(folder, 'items.csv'), ['old_id,name,parent_id', ...rows, ''].join('\n'))
const imports = ['import', 'items', 'items.csv', '--key', 'old_id']

async function made(context: TestContext): Promise<TrialDatabase> {
  const database = await newDatabase()
  context.after(database.remove)
  assert.equal((await run(['migrate', '--apply', '--database', database.address])).code, 0)
  return database
}

async function count({ rows: read }: TrialDatabase, what = 'count(*)'): Promise<number> {
  return Number((await read(`select ${what} as count from items`))[0]?.['count'])
}

test('a killed import in one transaction leaves nothing, and can be run again', async (context) => {
  const database = await made(context)
  const given = [...imports, '--all-or-nothing', '--database', database.address]
  const { child, ended } = start(given)
  while (!(await isWriting(database.address, 'items')) && child.exitCode === null) await sleep(1)
  child.kill('SIGKILL')
  assert.equal((await ended).code, null, 'it was killed before its end')
  assert.equal(await count(database), 0)
  const { code, said } = await run(given)
  assert.equal(code, 0, said)
  assert.equal(await count(database), size)
})

test('a killed import by key is continued: nothing is missing, and nothing is there twice', async (context) => {
  const database = await made(context)
  const given = [...imports, '--database', database.address]
  const { child, ended } = start(given)
  while ((await count(database)) < 2 && child.exitCode === null) await sleep(1)
  child.kill('SIGKILL')
  assert.equal((await ended).code, null, 'it was killed before its end')
  const before = await count(database)
  const { code, said } = await run(given)
  assert.equal(code, 0, said)
  const there = `${before.toLocaleString('en')} records were there already and stay as they are\\.$`
  assert.match(
    said,
    new RegExp(`^Imported ${(size - before).toLocaleString('en')} records? into items in .*; ${there}`, 'm'),
  )
  assert.equal(await count(database), size)
  assert.equal(await count(database, 'count(distinct old_id)'), size)
  assert.equal(await count(database, 'count(parent_id)'), size - 1)
})

test('while a server serves: readers see all records of one transaction or none, and no change is lost', async (context) => {
  const database = await made(context)
  const server = await startServer(
    folder,
    ['--http', '--database-unsafe'],
    {},
    database.address,
    join(folder, 'resources.yaml'),
  )
  context.after(async () => {
    server.child.kill('SIGKILL')
    await server.ended
  })
  const key = createKey(folder, database.address)
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const address = `${server.origin}/v1/items`
  const { child, ended } = start([...imports, '--all-or-nothing', '--database', database.address])
  const totals: number[] = []
  let created = 0
  const statuses = new Set<number>()
  for (let number = 1; child.exitCode === null; number++) {
    const list = await fetch(`${address}?old_id[gte]=1&per_page=1`, { headers })
    assert.equal(list.status, 200)
    totals.push(((await list.json()) as { pagination: { total_count: number } }).pagination.total_count)
    const body = JSON.stringify({ name: `New ${number}` })
    const answer = await fetch(address, { method: 'POST', headers, body })
    statuses.add(answer.status)
    if (answer.status === 201) created++
    else assert.ok(answer.headers.has('Retry-After'), `${answer.status} ${await answer.text()}`)
  }
  const { code, said } = await ended
  assert.equal(code, 0, said)
  assert.match(said, /^Writing 4,000 records in one transaction\. Until it ends, /m)
  assert.ok(
    [...statuses].every((status) => status === 201 || status === 503),
    [...statuses].join(),
  )
  assert.ok(
    totals.every((total) => total === 0 || total === size),
    totals.join(),
  )
  assert.equal(await count(database), size + created)
})

test('Ctrl-C while the file is read imports nothing', async (context) => {
  const database = await made(context)
  const given = ['import', 'items', '-', '--format', 'csv', '--key', 'old_id', '--database', database.address]
  const { child, ended } = start(given)
  let printed = ''
  child.stderr?.on('data', (text) => {
    printed += text
  })
  // What was not read yet when it ends.
  child.stdin?.on('error', () => {})
  child.stdin?.write('old_id,name\n')
  // Progress is printed once rows are staged.
  for (let from = 1; !printed.includes('Importing items: ') && child.exitCode === null; from += 1_000) {
    const lines = Array.from({ length: 1_000 }, (_, index) => `${from + index},Item ${from + index}\n`)
    child.stdin?.write(lines.join(''))
    await sleep(200)
  }
  child.kill('SIGINT')
  const { code, said } = await ended
  assert.match(said, /^Interrupted\. Nothing is imported\.$/m)
  assert.equal(code, 130)
  assert.equal(await count(database), 0)
})
