/** LIM-7 on SQLite: slow reads end at their limit, and nobody waits for them. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { always, type Predicate } from 'resourced-contract/model/predicate'
import type { Catalog } from 'resourced-contract/model/resource'
import type { Outcome } from '../../plan/outcome.ts'
import type { ReadPage, ReadSummary } from '../../plan/plan.ts'
import { plainRead, type ReadElsewhere } from '../transactions/read-page.ts'
import { ReaderThreads } from './reader-threads.ts'
import { catalogOf, containing, creation, fill, firstPage, pageOf, patient } from './slow-reads.fixture.ts'
import { openSqlite } from './storage.ts'

const records = 50_000
const folder = mkdtempSync(join(tmpdir(), 'resourced-slow-'))
const filled = join(folder, 'filled.db')
before(() => fill(filled, records))
after(() => rmSync(folder, { recursive: true }))
let files = 0

function copyOfFilled(): string {
  const path = join(folder, `${++files}.db`)
  copyFileSync(filled, path)
  return path
}

function opened(context: TestContext, readTime = patient) {
  const catalog = catalogOf(readTime)
  const path = copyOfFilled()
  const storage = openSqlite(catalog, { path })
  context.after(() => storage.close())
  return { storage, catalog, path }
}

const slow = () => ({ filter: containing(20) })
const endless = () => ({ filter: containing(900) })
const isPage = (outcome: Outcome) => {
  assert.ok(outcome.kind === 'page', outcome.kind)
  return outcome
}

function workers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length
}

/** Waits until no reader holds a snapshot that a checkpoint has to leave in the log. */
async function checkpointed(path: string): Promise<void> {
  const database = new DatabaseSync(path)
  for (;;) {
    const { busy } = database.prepare('pragma wal_checkpoint(truncate)').get() as { busy: number }
    if (busy === 0) break
    await turn()
  }
  database.close()
}

test('LIM-7: requests are answered while a slow read runs', async (context) => {
  const { storage, catalog } = opened(context)
  const resource = pageOf(catalog).resource
  let isOver = false
  const reading = storage.run(pageOf(catalog, slow())).then((outcome) => {
    isOver = true
    return isPage(outcome).total
  })
  let answered = 0
  const get = { kind: 'read-record', resource, permitted: always, fields: undefined, conditions: {} } as const
  while (!isOver) {
    const { kind } = await storage.run({ ...get, id: String(1 + (answered % records)).padStart(32, '0') })
    assert.equal(kind, 'record')
    answered++
    await turn()
  }
  assert.equal(await reading, 0)
  assert.ok(answered > 50, `${answered} requests were answered meanwhile`)
})

test('LIM-7: a read ends at the limit, and leaves no snapshot behind', async (context) => {
  const own = { kind: 'compare', field: 'notes', operator: 'contains', value: 'written' } as const
  const found = async (of: ReturnType<typeof opened>) =>
    isPage(await of.storage.run(pageOf(of.catalog, { filter: own }))).total
  const patiently = opened(context)
  const began = performance.now()
  await found(patiently)
  // On a slow machine, the read of one text alone takes longer than 100 ms.
  const limited = opened(context, Math.ceil(Math.max(100, 4 * (performance.now() - began))))
  const { storage, catalog, path } = limited
  const started = process.cpuUsage()
  const read = (callerId: string) => storage.run(pageOf(catalog, endless()), { callerId })
  await Promise.all(['ann', 'bob'].map((caller) => assert.rejects(read(caller), { kind: 'too-long' })))
  assert.equal((await storage.run(creation(catalog, 'written afterwards'))).kind, 'created')
  await checkpointed(path)
  const { user } = process.cpuUsage(started)
  assert.ok(user < 20_000_000, `${user} microseconds: the statements were ended`)
  // The threads read on; on a busy machine, this read may reach its limit too.
  const refused = (error: { kind?: string }) => (error.kind === 'too-long' ? undefined : Promise.reject(error))
  let total: number | undefined
  while (total === undefined) total = await found(limited).catch(refused)
  assert.equal(total, 1)
})

test('SUM-2, LIM-7: a summary is the same from a thread, and ends at the limit', async (context) => {
  const summary = (catalog: Catalog, filter: Predicate): ReadSummary => {
    const list = pageOf(catalog, { filter })
    const group = { name: 'created_at:day', field: 'created_at', part: 'day' } as const
    const figures = [{ kind: 'sum', name: 'team', field: 'team' }] as const
    const order = { groups: [group], figures, order: [], zone: 'UTC' }
    const page = { style: 'cursor', limit: 10, position: undefined } as const
    const { resource } = list
    return { kind: 'read-summary', resource, list, ...order, page, conditions: {}, key: '', cursorBinding: '' }
  }
  const patiently = opened(context)
  const { json, tag } = isPage(await patiently.storage.run(summary(patiently.catalog, always)))
  assert.equal(json, `{"group":{"created_at:day":"now"},"count":${records},"sum":{"team":"2475000"}}`)
  const conditions = { ifNoneMatch: [{ opaque: tag, weak: false }] }
  const again = await patiently.storage.run({ ...summary(patiently.catalog, always), conditions })
  assert.equal(again.kind, 'page-not-modified')
  const { storage, catalog, path } = opened(context, 100)
  await assert.rejects(storage.run(summary(catalog, containing(900))), { kind: 'too-long' })
  await checkpointed(path)
})

test('LIM-7: a thread ends a read that has used its processor time, however long it may take', async (context) => {
  const options = { path: copyOfFilled(), catalog: catalogOf(100), tagSecret: new Uint8Array(32), longest: patient }
  const threads = new ReaderThreads(options)
  context.after(() => threads.close())
  const plan = plainRead(pageOf(options.catalog, endless()), undefined)
  await assert.rejects(threads.run('read', plan), { kind: 'too-long' })
})

test('LIM-7: a read that reaches its limit is not tried again where requests are answered', async (context) => {
  const path = join(folder, 'few.db')
  await fill(path, 9_000)
  const catalog = catalogOf(1)
  const storage = openSqlite(catalog, { path })
  context.after(() => storage.close())
  const plan = pageOf(catalog, { filter: containing(200) })
  const used = async () => {
    const before = process.threadCpuUsage()
    const reading = storage.run(plan)
    const { user, system } = process.threadCpuUsage(before)
    await assert.rejects(reading, { kind: 'too-long' })
    return user + system
  }
  await used()
  let sum = 0
  for (let count = 0; count < 10; count++) sum += await used()
  context.diagnostic(`${sum} microseconds`)
  assert.ok(sum < 12_000, `${sum} microseconds for ten reads, of which each may take 4,000`)
})

test('LIM-7: a read whose client has gone ends, and the next read of the caller begins', async (context) => {
  const { storage, catalog } = opened(context)
  const whole = process.cpuUsage()
  await storage.run(pageOf(catalog, slow()), { callerId: 'ann' })
  const wholeTime = process.cpuUsage(whole).user
  const short = process.cpuUsage()
  for (let count = 0; count < 5; count++) {
    const leaving = new AbortController()
    const reading = storage.run(pageOf(catalog, slow()), { callerId: 'ann', abandoned: () => leaving.signal })
    await turn()
    leaving.abort()
    await assert.rejects(reading, { kind: 'abandoned' })
  }
  const one = { kind: 'compare', field: 'notes', operator: 'contains', value: 'x' } as const
  await storage.run(pageOf(catalog, { filter: one }), { callerId: 'ann' })
  const shortTime = process.cpuUsage(short).user
  assert.ok(shortTime < 2 * wholeTime, `five reads took ${shortTime} of five times ${wholeTime} microseconds`)
})

test('LIM-7: a thread that does not end its statement is replaced', async (context) => {
  const catalog = catalogOf(patient)
  const path = copyOfFilled()
  // A server has the file open: the first connection would keep others out while it looks for a log.
  const database = new DatabaseSync(path)
  database.exec('select count(*) from tasks limit 1')
  const options = { path, catalog, tagSecret: new Uint8Array(32), patience: 0, longest: 50 }
  const threads = new ReaderThreads(options)
  context.after(async () => {
    await threads.close()
    database.close()
  })
  const read = (plan: ReadPage, callerId: string) => threads.run('read', plainRead(plan, undefined), { callerId })
  for (let round = 0; round < 4; round++) {
    const plan = pageOf(catalog, endless())
    await Promise.all(['ann', 'bob'].map((caller) => assert.rejects(read(plan, caller), { kind: 'too-long' })))
  }
  await checkpointed(path)
})

for (const requests of [1, 4]) {
  const what = `while reads of ${requests} threads overlap`
  test(`LIM-7: the log does not grow without end ${what}`, async (context) => {
    const catalog = catalogOf(patient)
    const path = join(folder, `overlapping-${requests}.db`)
    await fill(path, 4_000)
    const options = { path, catalog, tagSecret: new Uint8Array(32), longestLog: 400_000 }
    // Each thread that answers requests has readers of its own.
    const threads = Array.from({ length: requests }, () => new ReaderThreads(options))
    const database = new DatabaseSync(path)
    context.after(async () => {
      await Promise.all(threads.map((each) => each.close()))
      database.close()
    })
    database.exec('pragma busy_timeout = 60000; pragma synchronous = off; pragma wal_autocheckpoint = 50')
    const change = database.prepare("update tasks set notes = printf('%0200d', ?) where team = ?")
    let reads = 0
    const readOn = async (each: ReaderThreads, callerId: string) => {
      while (reads < 80) {
        await each.run('read', plainRead(pageOf(catalog, { filter: containing(60) }), undefined), { callerId })
        reads++
        // Each change is larger than the log may grow in a tenth of all changes.
        change.run(reads, reads % 10)
      }
    }
    await Promise.all(threads.flatMap((each) => ['ann', 'bob'].map((caller) => readOn(each, caller))))
    const bytes = statSync(`${path}-wal`).size
    context.diagnostic(`${bytes} bytes`)
    assert.ok(bytes < 5_000_000, `${bytes} bytes`)
  })
}

test('a thread that has shortened the log does not end during a later read', { timeout: 60_000 }, async (context) => {
  const catalog = catalogOf(patient)
  const path = copyOfFilled()
  const threads = new ReaderThreads({ path, catalog, tagSecret: new Uint8Array(32), longestLog: 1_000 })
  const database = new DatabaseSync(path)
  context.after(() => database.close())
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const read = async () => {
    const asked = plainRead(pageOf(catalog, { filter: containing(2) }), undefined)
    await threads.run('read', asked)
    await turn()
  }
  await read()
  context.mock.timers.tick(29_000)
  database.exec('update tasks set team = 1 where team = 2')
  await read()
  const third = read()
  await turn()
  // The thread has had no work for long, if one forgets the last two reads.
  context.mock.timers.tick(2_000)
  await third
  await read()
  await threads.close()
})

test('LIM-7: closing ends slow reads', async () => {
  const catalog = catalogOf(patient)
  const storage = openSqlite(catalog, { path: copyOfFilled() })
  const reading = assert.rejects(storage.run(pageOf(catalog, endless())), { kind: 'busy' })
  await turn()
  await storage.close()
  await reading
})

test('closing starts no threads for reads that wait', async () => {
  const catalog = catalogOf(patient)
  const path = copyOfFilled()
  const threads = new ReaderThreads({ path, catalog, tagSecret: new Uint8Array(32) })
  const asked = () => plainRead(pageOf(catalog, endless()), undefined)
  const before = workers()
  const reads = Array.from({ length: 5 }, () => assert.rejects(threads.run('read', asked()), { kind: 'busy' }))
  await turn()
  await threads.close()
  assert.equal(workers(), before)
  await Promise.all(reads)
})

test('LIM-7: fifty slow reads of one caller do not keep another caller waiting', async (context) => {
  const { storage, catalog } = opened(context)
  let done = 0
  const greedy = Array.from({ length: 50 }, async () => {
    await storage.run(pageOf(catalog, { filter: containing(3) }), { callerId: 'greedy' })
    done++
  })
  const settled = Promise.allSettled(greedy)
  for (let count = 0; count < 3; count++)
    await storage.run(pageOf(catalog, { filter: containing(3) }), { callerId: 'modest' })
  assert.ok(done < 25, `${done} of fifty reads were done before three of another caller`)
  const outcomes = await settled
  for (const each of outcomes) if (each.status === 'rejected') assert.equal(each.reason.kind, 'crowded')
})

test('LIM-7: two hundred reads of one caller at once are all answered', async (context) => {
  const { storage, catalog } = opened(context)
  const reads = Array.from({ length: 200 }, (_, number) => {
    const filter = { kind: 'compare', field: 'team', operator: 'eq', value: number } as const
    return storage.run(pageOf(catalog, { filter }), { callerId: 'ann' })
  })
  const totals = (await Promise.all(reads)).map((outcome) => isPage(outcome).total)
  assert.deepEqual(new Set(totals), new Set([records / 100, 0]))
})

test('what was written is read, whichever thread reads', async (context) => {
  const { storage, catalog } = opened(context)
  const written = { kind: 'compare', field: 'notes', operator: 'contains', value: 'written' } as const
  const count = async (filter: ReadPage['filter'], callerId: string) => {
    return isPage(await storage.run(pageOf(catalog, { filter }), { callerId })).total
  }
  const isTeam = { kind: 'compare', field: 'team', operator: 'eq', value: 7 } as const
  for (let number = 1; number <= 15; number++) {
    assert.equal((await storage.run(creation(catalog, `written ${number}`))).kind, 'created')
    const both = ['ann', 'bob'].map((caller) => count(written, caller))
    const meanwhile = storage.run(creation(catalog, 'other'))
    assert.deepEqual(await Promise.all(both), [number, number])
    await meanwhile
    assert.equal(await count(isTeam, 'ann'), records / 100)
  }
})

test('a page is the same from a thread, with its tag, and its total is remembered', async (context) => {
  const { storage, catalog, path } = opened(context)
  const threads = new ReaderThreads({ path, catalog, tagSecret: storage.cursorSecret })
  context.after(() => threads.close())
  const isTeam = { kind: 'compare', field: 'team', operator: 'eq', value: 7 } as const
  const pages: Partial<ReadPage>[] = [
    {},
    { filter: isTeam },
    { permitted: isTeam },
    { search: ['title', '77'] },
    { sort: [{ field: 'title', descending: true }], page: { style: 'offset', offset: 30, limit: 5 } },
    { page: { style: 'cursor', limit: 3, position: undefined } },
    { filter: { kind: 'not', term: isTeam }, fields: ['notes'] },
  ]
  for (const over of pages) {
    const plan = pageOf(catalog, over)
    const { outcome } = (await threads.run('read', plainRead(plan, undefined))) as ReadElsewhere
    assert.deepEqual(await storage.run(plan), outcome)
    const tag = isPage(outcome).tag
    const ifNoneMatch = [{ opaque: tag, weak: false }]
    const again = await storage.run({ ...plan, conditions: { ifNoneMatch } })
    assert.equal(again.kind, 'page-not-modified')
  }
  // A wrong total shows which total is used: the one that was given, if the collection has not changed since.
  const deep = pageOf(catalog, { filter: isTeam, page: firstPage })
  const given = plainRead(deep, { total: { revision: records, total: 3 } })
  assert.equal(isPage(((await threads.run('read', given)) as ReadElsewhere).outcome).total, 3)
})

test('a file that takes the place of an open one is not opened with the log of the other', async (context) => {
  const { storage, catalog, path } = opened(context)
  await storage.run(creation(catalog, 'in the log'))
  const other = copyOfFilled()
  const bytes = readFileSync(other)
  renameSync(other, path)
  await assert.rejects(storage.run(pageOf(catalog, slow())), { kind: 'unwritable' })
  await assert.rejects(storage.jobs.readExport('missing'), { kind: 'unwritable' })
  // Memory that is shared with the log would be gone.
  assert.equal((await storage.run(creation(catalog, 'in the log'))).kind, 'created')
  assert.deepEqual(readFileSync(path), bytes)
})

test('killed while slow reads run, a database keeps what it acknowledged', async () => {
  const path = copyOfFilled()
  const child = spawn(process.execPath, [join(import.meta.dirname, 'slow-reads.fixture.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += chunk
    if (printed.split('\n').length > 100) child.kill('SIGKILL')
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
  const acknowledged = printed.split('\n').slice(0, -1)
  const left = readdirSync(folder).filter((name) => name.startsWith(basename(path)))
  assert.deepEqual(
    left.toSorted(),
    ['', '-shm', '-wal'].map((end) => `${basename(path)}${end}`),
  )
  const database = new DatabaseSync(path)
  assert.deepEqual({ ...database.prepare('pragma quick_check').get() }, { quick_check: 'ok' })
  const found = database.prepare("select id from tasks where notes = 'kept'").all()
  const kept = new Set(found.map(({ id }) => id))
  assert.deepEqual(
    acknowledged.filter((id) => !kept.has(id)),
    [],
  )
  database.close()
})
