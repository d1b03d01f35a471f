/**
 * JOB-3: a deletion job that is killed at any moment continues, with the same result: `KILLS=200 node --test
 * test/crash/deletion.slow.test.ts`.
 */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { declare, fill, idOf, sizeOf, stateOf } from '../deletion/tree.ts'
import { clientOf, type Send } from '../durability/client.ts'
import { createKey, databaseFile, startServer } from '../durability/command.ts'

const kills = Number(process.env.KILLS ?? 4)
/** How often one deletion is killed, each time after the same part of the time that it takes. */
const inTurn = 4
const size = { departments: 10, teams: 100, members: 9_889, badges: 3_000 }
const folder = mkdtempSync(join(tmpdir(), 'resourced-deletion-'))
after(() => rmSync(folder, { recursive: true }))
declare(folder)
const key = createKey(folder)

async function serving<T>(work: (send: Send) => Promise<T>, how: 'SIGTERM' | 'SIGKILL'): Promise<T> {
  const server = await startServer(folder)
  const client = clientOf(server.origin, key)
  try {
    return await work(client.send)
  } finally {
    client.close()
    server.child.kill(how)
    await server.ended
  }
}

/** Asks for a deletion; gives the address of its job. */
async function begin(send: Send, what: string): Promise<string> {
  const { status, json } = await send('DELETE', `/v1/${what}`)
  assert.equal(status, 202)
  return json.status_url
}

/** Waits for a job; gives how long it took, in milliseconds. */
async function finished(send: Send, path: string) {
  const started = performance.now()
  for (let job = (await send('GET', path)).json; job.status !== 'succeeded'; job = (await send('GET', path)).json) {
    assert.notEqual(job.status, 'failed', JSON.stringify(job.error))
    await sleep(50)
  }
  return { took: performance.now() - started }
}

const deletions = {
  [`a deletion of ${sizeOf(size)} records`]: `companies/${idOf(1, 0)}`,
  [`a deletion by filter of ${2 * size.members} records`]: 'members?created_at[lt]=2026-01-02T00:00:00Z',
}

for (const [name, what] of Object.entries(deletions)) {
  test(`${name}, killed at ${kills} moments`, (context) => kill(context, what))
}

/** What the row of the only job says, once no server runs. */
function progressOf(file: string): { readonly status: string; readonly done: number } {
  const database = new DatabaseSync(file)
  try {
    const job = database.prepare("select status, progress ->> 'done' as done from jobs").get()
    return { status: String(job?.['status']), done: Number(job?.['done']) }
  } finally {
    database.close()
  }
}

function replaceWith(original: string) {
  rmSync(join(folder, 'data'), { recursive: true })
  mkdirSync(join(folder, 'data'))
  copyFileSync(original, databaseFile(folder))
}

async function kill(context: TestContext, what: string) {
  const file = databaseFile(folder)
  const original = join(folder, 'original.db')
  if (!existsSync(original)) {
    await serving(async () => {}, 'SIGTERM')
    fill(file, size)
    // A start builds the full-text indexes of what was put in. The copies have them already.
    await serving(async () => {}, 'SIGTERM')
    copyFileSync(file, original)
  }
  replaceWith(original)
  const { took: whole } = await serving(async (send) => finished(send, await begin(send, what)), 'SIGTERM')
  const expected = stateOf(file)
  let [interrupted, slowest] = [0, 0]
  const positions = new Set<number>()
  for (let killed = 0; killed < kills; ) {
    replaceWith(original)
    let path: string | undefined
    const times = Math.min(inTurn, kills - killed)
    // From round to round the moments move.
    const part = (whole * (0.5 + (killed + times) / kills / 2)) / (times + 1)
    for (let time = 0; time < times; time++, killed++) {
      path = await serving(async (send) => {
        const job = path ?? (await begin(send, what))
        await sleep(part)
        return job
      }, 'SIGKILL')
      const { status, done } = progressOf(file)
      if (status !== 'succeeded') interrupted++
      positions.add(done)
    }
    const { took } = await serving((send) => finished(send, path as string), 'SIGTERM')
    slowest = Math.max(slowest, took)
    assert.deepEqual(stateOf(file), expected, `after ${killed} kills, ${part.toFixed(0)} ms from one to the next`)
  }
  context.diagnostic(
    `${kills} kills, ${interrupted} before the end, at ${positions.size} different counts; all ended alike`,
  )
  context.diagnostic(
    `whole it takes ${whole.toFixed(0)} ms; after a start the rest took at most ${slowest.toFixed(0)} ms`,
  )
  assert.ok(interrupted > 0)
  // Measured against the whole, which this machine has just done: it is no slower for having been killed.
  assert.ok(slowest < Math.max(5_000, 2 * whole))
}
