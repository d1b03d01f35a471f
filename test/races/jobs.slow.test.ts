/**
 * JOB-3, JOB-5 with two servers: each batch of a job runs on one of them, and one server continues the jobs of a killed
 * one.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Answer } from '../durability/client.ts'
import { until } from '../until.ts'
import { atOnce, type Gate, type Racer, raceOf, skip } from './servers.ts'

const name = { type: 'string', sort: true } as const
const deletion = { asynchronous: { above: 100 } } as const

const race = raceOf({
  name: 'jobs',
  resources: {
    trees: { fields: { name }, deletion },
    branches: { fields: { name, tree_id: { reference: 'trees', onDelete: 'cascade' } } },
    // Each hangs on a tree twice: by its branch, and by itself.
    leaves: {
      fields: {
        name,
        branch_id: { reference: 'branches', onDelete: 'cascade' },
        tree_id: { reference: 'trees', onDelete: 'cascade', optional: true },
      },
    },
    notes: { fields: { name, branch_id: { reference: 'branches', onDelete: 'clear', optional: true } } },
    rows: { fields: { name, text: { type: 'string' } } },
  },
})

/** A tree with branches, leaves and notes, made past the servers. */
async function plant(branches: number, leaves: number, other = 'null'): Promise<string> {
  const { id } = await race.make('trees', { name: 't' })
  const stamps = `'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1`
  await race.rows(`
    insert into branches (id, name, tree_id, created_at, updated_at, _revision)
      select gen_random_uuid(), 'b', '${id}', ${stamps} from generate_series(1, ${branches});
    insert into leaves (id, name, branch_id, tree_id, created_at, updated_at, _revision)
      select gen_random_uuid(), 'l', b.id, ${other}, ${stamps} from branches b, generate_series(1, ${leaves}) where b.tree_id = '${id}';
    insert into notes (id, name, branch_id, created_at, updated_at, _revision)
      select gen_random_uuid(), 'n', b.id, ${stamps} from branches b where b.tree_id = '${id}';
    update resourced_clocks c set revision = revision + 1, live = case slot when 0 then case collection
      when 'branches' then (select count(*) from branches where deleted_at is null)
      when 'leaves' then (select count(*) from leaves where deleted_at is null)
      when 'notes' then (select count(*) from notes where deleted_at is null) else live end else 0 end,
      deleted = case slot when 0 then (select sum(deleted) from resourced_clocks x where x.collection = c.collection) else 0 end
      where collection in ('branches', 'leaves', 'notes')`)
  return id
}

const collections = ['trees', 'branches', 'leaves', 'notes']

async function countsAreTrue() {
  for (const collection of collections) {
    const [row] = await race.rows(
      `select count(*) filter (where deleted_at is null)::int as live, count(deleted_at)::int as deleted from ${collection}`,
    )
    const [clock] = await race.rows(
      `select sum(live)::int as live, sum(deleted)::int as deleted from resourced_clocks where collection = '${collection}'`,
    )
    assert.deepEqual(clock, row, collection)
  }
}

/** Waits for a job at one of the servers. */
async function finished({ send }: Racer, { json }: Answer) {
  return until(async () => {
    const job = (await send('GET', json.status_url)).json
    assert.notEqual(job.status, 'failed', JSON.stringify(job))
    return job.status === 'succeeded' && job
  })
}

/** Stops whatever job has done more than so many records before it says so. */
const stopAfter = (done: number) => race.gate('update on jobs', `(new.progress->>'done')::int > ${done}`)

/** How many records a job that stands at a gate has done by what everybody sees. */
async function stoppedAt({ json }: Answer, gate: Gate): Promise<number> {
  await gate.waiting(1)
  const [row] = await race.rows(`select status, (progress->>'done')::int as done from jobs where id = '${json.job_id}'`)
  assert.equal(row.status, 'running')
  return row.done
}

test('JOB-5: a deletion job on two servers marks each record once, during other changes', { skip }, async (context) => {
  const id = await plant(40, 50)
  const leaves = (await race.rows('select id from leaves order by id limit 400')).map(({ id }) => id)
  const other = await plant(1, 0)
  const [elsewhere] = await race.rows(`select id from branches where tree_id = '${other}'`)
  const found = { deleted: 0, moved: 0, late: 0 }
  let begun = () => {}
  const beginning = new Promise<void>((resolve) => {
    begun = resolve
  })
  let ended = () => {}
  const end = new Promise<void>((resolve) => {
    ended = resolve
  })
  // Some come before the job begins, and what they hold it waits for; the last of each comes after that, and the last
  // of one after the job.
  const changing = atOnce(16, async (worker) => {
    for (let number = worker; number < leaves.length; number += 16) {
      if (number + 16 >= leaves.length) await (worker === 1 ? end : beginning)
      const path = `/v1/leaves/${leaves[number]}`
      const { send } = race.on(worker)
      const isMove = number % 3 === 0
      const { status, json } = isMove
        ? await send('PATCH', path, { body: { branch_id: elsewhere.id } })
        : await send('DELETE', path)
      assert.ok([isMove ? 200 : 204, 404, 409].includes(status), JSON.stringify(json))
      found[status >= 300 ? 'late' : isMove ? 'moved' : 'deleted']++
    }
  })
  await until(async () => found.deleted > 5 && found.moved > 5)
  const asked = await race.on(0).send('DELETE', `/v1/trees/${id}`)
  assert.equal(asked.status, 202)
  begun()
  const { result } = await finished(race.on(1), asked)
  ended()
  await changing
  assert.equal(result.affected_count, 1 + 40 + 2_000 - found.deleted - found.moved)
  const [row] = await race.rows(
    'select count(*)::int as count, max(_revision & 1048575) as most, count(distinct _deletion)::int as deletions from leaves where deleted_at is not null',
  )
  // Marked twice it would be of a higher revision.
  assert.deepEqual(row, { count: 2_000 - found.moved, most: 2, deletions: 1 + found.deleted })
  const [moved] = await race.rows(
    `select count(*)::int as count from leaves where branch_id = '${elsewhere.id}' and deleted_at is null`,
  )
  assert.equal(moved.count, found.moved)
  const notes = await race.rows(
    'select distinct branch_id is null as cleared, _revision & 1048575 as revision from notes order by revision',
  )
  assert.deepEqual(notes.at(-1), { cleared: true, revision: 2 })
  await countsAreTrue()
  context.diagnostic(JSON.stringify(found))
  assert.ok(Object.values(found).every((count) => count > 0))
})

test('JOB-5: if two jobs select the same records, one of them deletes each record', { skip }, async (context) => {
  const one = await race.make('trees', { name: 'one' })
  const two = await plant(30, 40, `'${one.id}'`)
  const before = (await race.rows('select count(*)::int as count from leaves where deleted_at is not null'))[0].count
  const asked = await atOnce(2, (number) => race.on(number).send('DELETE', `/v1/trees/${number === 0 ? one.id : two}`))
  assert.deepEqual(
    asked.map(({ status }) => status),
    [202, 202],
  )
  const jobs = await Promise.all(asked.map((answer, number) => finished(race.on(number), answer)))
  const affected: number[] = jobs.map(({ result }) => result.affected_count)
  assert.equal(affected[0]! + affected[1]!, 1 + 1 + 30 + 1_200)
  const [row] = await race.rows(
    'select count(*)::int as count, max(_revision & 1048575) as most from leaves where deleted_at is not null',
  )
  assert.deepEqual(row, { count: before + 1_200, most: 2 })
  await countsAreTrue()
  context.diagnostic(`${affected.join(' and ')} by each`)
})

test('JOB-3: a server is killed in the middle of a deletion job, and the other finishes the job', {
  skip,
}, async (context) => {
  const extra = await race.start()
  const id = await plant(50, 60)
  const gate = await stopAfter(200)
  const asked = await extra.send('DELETE', `/v1/trees/${id}`)
  assert.equal(asked.status, 202)
  const done = await stoppedAt(asked, gate)
  assert.ok(done > 0)
  await extra.kill()
  await (race.servers[1] as Racer).kill()
  await gate.open()
  const { result } = await finished(race.on(0), asked)
  assert.equal(result.affected_count, 1 + 50 + 3_000)
  const [row] = await race.rows(
    `select count(*)::int as count, max(l._revision & 1048575) as most from leaves l join branches b on b.id = l.branch_id where b.tree_id = '${id}' and l.deleted_at is not null`,
  )
  assert.deepEqual(row, { count: 3_000, most: 2 })
  await countsAreTrue()
  context.diagnostic(`killed at ${done} of 3,051`)
  // For the tests that follow.
  race.servers[1] = await race.start()
})

test('JOB-5: one server writes the file of an export, and the other does if the first is killed', {
  skip,
}, async () => {
  const records = 10_000
  await race.rows(`
    insert into rows (id, name, text, created_at, updated_at, _revision)
      select gen_random_uuid(), 'row ' || n, repeat('x', 400), '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1
      from generate_series(1, ${records}) n;
    update resourced_clocks set live = case slot when 0 then ${records} else 0 end, revision = revision + 1 where collection = 'rows'`)
  const [one, two] = [race.servers[0], race.servers[1]] as [Racer, Racer]
  const gate = await stopAfter(2_000)
  const asked = await one.send('POST', '/v1/exports', { body: { collection: 'rows', format: 'ndjson', sort: 'name' } })
  assert.equal(asked.status, 202, JSON.stringify(asked.json))
  assert.equal(await stoppedAt(asked, gate), 2_000)
  const [claimed] = await race.rows(`select server from resourced_work where job = '${asked.json.job_id}'`)
  const [writer, other] = one.process.names.has(claimed.server) ? [one, two] : [two, one]
  assert.ok(writer.process.names.has(claimed.server))
  await writer.kill()
  await gate.open()
  const { result } = await finished(other, asked)
  assert.equal(result.record_count, records)
  const { status, text } = await download(other, result.content_url)
  assert.equal(status, 200)
  const found = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).name)
  assert.equal(found.length, records)
  assert.equal(new Set(found).size, records)
})

async function download({ process: { origin } }: Racer, path: string) {
  const answer = await fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${race.key}` } })
  return { status: answer.status, text: await answer.text() }
}
