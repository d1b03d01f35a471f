/**
 * BLK-3, JOB-3: a change by filter that is killed at any moment ends whole, or restores every record: `KILLS=100 node
 * --test test/crash/update.slow.test.ts`.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf, isConnectionLost, type Send } from '../durability/client.ts'
import { createKey, databaseFile, startServer } from '../durability/command.ts'

const kills = Number(process.env.KILLS ?? 2)
const count = 2_500
const folder = mkdtempSync(join(tmpdir(), 'resourced-update-'))
after(() => rmSync(folder, { recursive: true }))
const declaration = {
  name: 'desk',
  resources: {
    tickets: {
      fields: {
        title: { type: 'string', search: true },
        rank: { type: 'integer', filter: true },
        note: { type: 'string' },
      },
      updates: { byFilter: true },
      rules: [
        {
          ...{ on: 'update', code: 'BANNED', message: 'It is banned.' },
          unless: { none: 'bans', where: { rank: { record: 'rank' } } },
        },
      ],
    },
    bans: { fields: { rank: { type: 'integer' } } },
  },
}
writeFileSync(join(folder, 'diary.json'), JSON.stringify(declaration))
const key = createKey(folder)
const file = databaseFile(folder)

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

function inFile<T>(work: (database: DatabaseSync) => T): T {
  const database = new DatabaseSync(file)
  try {
    return work(database)
  } finally {
    database.close()
  }
}

/** How many tickets have a rank, what is left of jobs, and the last job. */
function state() {
  return inFile((database) => {
    const all = (query: string) => database.prepare(query).all()
    const ranks = all('select rank, count(*) as count from tickets group by rank').map((row) => ({ ...row }))
    const [rest] = all(`select (select count(*) from resourced_queue) + (select count(*) from resourced_work)
      + (select count(*) from tickets where _deletion is not null) as rest`)
    const job = all("select status, progress ->> 'done' as done from jobs order by id desc limit 1")[0]
    return { ranks, rest: rest?.['rest'], status: job?.['status'], done: Number(job?.['done']) }
  })
}

/** Waits for a job. */
async function ended(send: Send, path: string) {
  for (;;) {
    const { json } = await send('GET', path)
    if (json.status === 'succeeded' || json.status === 'failed') return json
    await sleep(5)
  }
}

const ask = (send: Send, from: number) =>
  send('PATCH', `/v1/tickets?rank=${from}`, { body: { rank: from + 1, title: `rank ${from + 1}` } })

test(`a change by filter of ${count} records, killed at ${kills} moments`, async (context) => {
  await serving(async () => {}, 'SIGTERM')
  inFile((database) =>
    database.exec(`with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1})
      insert into tickets (id, title, rank, note, created_at, updated_at, _revision)
        select printf('00000001-0000-7000-8000-%012d', i), 'rank 0', 0, '', '2026-01-01T00:00:00.000Z',
          '2026-01-01T00:00:00.000Z', 1 from n;
      update resourced_clocks set live = ${count} where collection = 'tickets'`),
  )
  let rank = 0
  const took = await serving(async (send) => {
    const { status, json } = await ask(send, rank++)
    assert.equal(status, 202)
    const began = performance.now()
    assert.deepEqual((await ended(send, json.status_url)).result, { updated_count: count })
    return performance.now() - began
  }, 'SIGTERM')
  const seen = { unanswered: 0, midway: 0, whole: 0, restored: 0 }
  for (let killed = 0; killed < kills; killed++) {
    // From before the answer, which is the first tenth, until after the end.
    const part = ((killed * 0.618 + 0.45) % 1.2) - 0.1
    const path = await serving(async (send) => {
      const asked = ask(send, rank).catch((error) => {
        if (!isConnectionLost(error)) throw error
        return undefined
      })
      const answered = await (part < 0 ? Promise.race([asked, sleep((part + 0.1) * took)]) : asked)
      if (answered !== undefined) await sleep(part * took)
      return answered?.json.status_url as string | undefined
    }, 'SIGKILL')
    const between = state()
    if (path === undefined) seen.unanswered++
    if (between.done > 0 && between.done < count && between.status === 'running') seen.midway++
    // Of every other one, a rule refuses the rest.
    const isBanned = killed % 2 === 1
    const job = await serving(async (send) => {
      if (isBanned) await send('POST', '/v1/bans', { body: { rank: rank + 1 } })
      const found = path ?? (await send('GET', '/v1/jobs?limit=1&sort=-created_at')).json.data[0].status_url
      const end = await ended(send, found)
      for (let tries = 0; state().rest !== 0 && tries < 1_000; tries++) await sleep(10)
      return end
    }, 'SIGTERM')
    const { ranks, rest } = state()
    assert.equal(rest, 0)
    assert.equal(ranks.length, 1, JSON.stringify(ranks))
    const isChanged = ranks[0]?.['rank'] === rank + 1
    // What was answered with 202 and has not failed is done.
    if (path !== undefined) assert.equal(isChanged, job.status === 'succeeded', JSON.stringify(job))
    if (path !== undefined && !isBanned) assert.equal(job.status, 'succeeded', JSON.stringify(job))
    if (isChanged) seen.whole++
    else seen.restored++
    rank = Number(ranks[0]?.['rank'])
    inFile((database) => database.exec('delete from bans'))
  }
  context.diagnostic(JSON.stringify(seen))
})
