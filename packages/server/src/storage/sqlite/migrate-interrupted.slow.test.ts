import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { withoutMarks } from '../sql/without-marks.fixture.ts'
import { all, type Fields, find, migrateTo, snapshot } from './migrate.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-migrate-'))
after(() => rmSync(folder, { recursive: true }))

const before: Fields = { title: 'string', size: 'string', old: 'integer' }
const wanted: Fields = {
  title: { type: 'string', filter: true, search: true, sort: true },
  size: { type: 'integer', sort: true },
  status: { type: 'string', enum: ['open', 'done'], filter: true, required: true, default: 'open' },
}

/** A file with 50,000 tasks of the first declaration. */
function originalFile(mode: string): string {
  const file = join(folder, `${mode}.db`)
  const database = new DatabaseSync(file)
  database.exec(`pragma journal_mode = ${mode}`)
  migrateTo(database, before)
  const numbers = 'with recursive n(i) as (select 1 union all select i + 1 from n where i < 50000)'
  database.exec(
    `insert into tasks (id, title, size, old, created_at, updated_at, _revision)
     ${numbers} select 'id' || i, 'Task number ' || i, i, i, 'then', 'then', 1 from n;
     update resourced_clocks set revision = 50000, live = 50000`,
  )
  database.close()
  return file
}

function start(file: string, fields: Fields, moment = 0): ChildProcess {
  const script = join(import.meta.dirname, 'migrate-process.fixture.ts')
  const parameters = [script, file, JSON.stringify(fields), String(moment)]
  return spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] })
}

/** The output of a process until it ends. */
async function outputOf(child: ChildProcess): Promise<string> {
  let output = ''
  child.stdout!.on('data', (chunk) => {
    output += chunk
  })
  await once(child, 'close')
  return output
}

function snapshotOf(file: string): string {
  const database = new DatabaseSync(file)
  try {
    assert.deepEqual(all(database, 'pragma integrity_check'), [{ integrity_check: 'ok' }])
    return withoutMarks(snapshot(database))
  } finally {
    database.close()
  }
}

for (const [mode, parts] of [
  ['wal', [0.1, 0.35, 0.6, 0.85]],
  ['delete', [0.3, 0.7]],
] as const) {
  test(`a migration that is killed at any moment leaves the old database (journal mode ${mode})`, async (context) => {
    const original = originalFile(mode)
    const old = snapshotOf(original)

    const whole = join(folder, `${mode}-whole.db`)
    copyFileSync(original, whole)
    const child = start(whole, wanted)
    await once(child.stdout!, 'data')
    const begun = performance.now()
    assert.match(await outputOf(child), /applied true/)
    const duration = performance.now() - begun
    const complete = snapshotOf(whole)
    assert.notEqual(complete, old)

    let interrupted = 0
    // Where the processes that are killed get more of the machine than the whole one got, they are done: kill earlier.
    const sooner = [0.2, 0.1, 0.05, 0.02, 0]
    for (const part of [...parts, ...sooner]) {
      if (sooner.includes(part) && interrupted > 0) break
      const file = join(folder, `${mode}-${part}.db`)
      copyFileSync(original, file)
      const victim = start(file, wanted)
      await once(victim.stdout!, 'data')
      const output = outputOf(victim)
      await new Promise((resolve) => setTimeout(resolve, duration * part))
      victim.kill('SIGKILL')
      const finished = (await output).includes('applied')
      const left = snapshotOf(file)
      // It may have committed, and been killed before it could say so.
      assert.ok(left === complete || (left === old && !finished), `after ${part} of ${duration} ms`)
      if (left === old) interrupted++

      const database = new DatabaseSync(file)
      migrateTo(database, wanted, 'all')
      assert.equal(withoutMarks(snapshot(database)), complete)
      assert.deepEqual(find(database, 'task AND 4321'), ['id4321'])
      database.close()
    }
    context.diagnostic(`${interrupted} were killed half way, of ${Math.round(duration)} ms`)
    assert.ok(interrupted > 0)
  })
}

test('if two processes start on a new file at once, one migrates and both continue', async () => {
  for (let round = 0; round < 4; round++) {
    const file = join(folder, `together-${round}.db`)
    const moment = Date.now() + 700
    const outputs = await Promise.all([outputOf(start(file, wanted, moment)), outputOf(start(file, wanted, moment))])
    assert.deepEqual(outputs.sort(), ['begins\napplied false\n', 'begins\napplied true\n'])
  }
})

test('a migration waits for a transaction that writes', async () => {
  const file = join(folder, 'busy.db')
  const database = new DatabaseSync(file)
  migrateTo(database, before)
  database.exec('begin immediate; update resourced_clocks set revision = 7')
  const child = start(file, { ...before, more: 'string' })
  const output = outputOf(child)
  await once(child.stdout!, 'data')
  await new Promise((resolve) => setTimeout(resolve, 300))
  assert.equal(child.exitCode, null)
  database.exec('commit')
  assert.match(await output, /applied true/)
  assert.deepEqual(all(database, 'select revision from resourced_clocks'), [{ revision: 7 }])
  database.close()
})
