/** Reads from a replica never show an older state than the database acknowledged, on any server. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Cluster, startCluster } from './cluster.ts'
import { versionAsked } from './database.ts'
import { whyNoPostgres } from './programs.ts'
import { startProxy } from './proxy.ts'
import { query } from './query.ts'
import { type Replica, startReplica } from './replica.ts'
import { type Answer, type Served, servedFor } from './served.ts'

const skip = whyNoPostgres(versionAsked()) ?? false
let primary: Cluster
let replica: Replica
before(async () => {
  if (skip !== false) return
  primary = await startCluster({ version: versionAsked() })
  replica = await startReplica(primary)
})
after(async () => {
  await replica?.stop()
  await primary?.stop()
})

const on = (cluster: Cluster, url: string) => Object.assign(new URL(url), { port: cluster.port }).href

/** How many reads of notes the replica has begun to answer: by its own count of rows that were looked for. */
async function readsOn(cluster: Cluster, url: string): Promise<number> {
  const [row] = await query(
    on(cluster, url),
    "select coalesce(seq_scan, 0) + coalesce(idx_scan, 0) as number from pg_stat_user_tables where relname = 'notes'",
  )
  return Number(row?.['number'] ?? 0)
}

/** Waits until a server reads the replica: by its own word. */
async function untilTold({ seen }: Served, state: string, times = 1): Promise<void> {
  for (let attempt = 0; attempt < 6_000; attempt++) {
    if (seen.filter((each) => each.kind === 'replica' && each.state === state).length >= times) return
    await sleep(10)
  }
  assert.fail(`Nobody said ${state}: ${JSON.stringify(seen.filter(({ kind }) => kind === 'replica'))}`)
}

type Clock = Readonly<Record<'slot' | 'revision' | 'live', number>>

const toldBy = ({ seen }: Served) => seen.flatMap((each) => (each.kind === 'replica' ? [each.state] : []))

test('records and lists are read from the replica, with the same tags', { skip }, async (context) => {
  const url = await primary.createDatabase()
  const served = await servedFor(context, { url, replica: on(replica, url) })
  const { json } = await served.send('POST', '/v1/notes', { title: 'first' })
  await untilTold(served, 'connected')
  const paths = [`/v1/notes/${json.id}`, '/v1/notes', '/v1/notes?title=first', '/v1/notes?sort=-number&page=1']
  await replica.caughtUp()
  let answers: Answer[] = []
  // It tells of its reads after a moment.
  for (let attempt = 0; (await readsOn(replica, url)) < 20; attempt++) {
    assert.ok(attempt < 2_000, `${await readsOn(replica, url)} reads`)
    answers = await Promise.all(paths.map((path) => served.send('GET', path)))
    await sleep(20)
  }
  const direct = await servedFor(context, { url, replica: on(primary, url) }, served)
  assert.deepEqual(toldBy(direct), ['lost'])
  for (const [index, path] of paths.entries()) {
    const { status, headers, json } = await direct.send('GET', path)
    assert.deepEqual(
      [status, headers['ETag'], json],
      [200, answers[index]?.headers['ETag'], answers[index]?.json],
      path,
    )
    const { status: repeated } = await served.send('GET', path, undefined, {
      'if-none-match': headers['ETag'] as string,
    })
    assert.equal(repeated, 304, path)
  }
})

test('a server that reads the replica shows at once a change that another server acknowledged', {
  skip,
}, async (context) => {
  const url = await primary.createDatabase()
  const one = await servedFor(context, { url, replica: on(replica, url) })
  const other = await servedFor(context, { url, replica: on(replica, url) }, one)
  await untilTold(other, 'connected')
  const before = await readsOn(replica, url)
  const client = async (number: number) => {
    for (let turn = 0; turn < 60; turn++) {
      const title = `${number} ${turn}`
      const [to, from] = Math.random() < 0.5 ? [one, other] : [other, one]
      const made = await to.send('POST', '/v1/notes', { title })
      assert.equal(made.status, 201)
      const path = `/v1/notes/${made.json.id}`
      assert.equal((await from.send('GET', path)).status, 200)
      const list = await from.send('GET', `/v1/notes?title=${number}%20${turn}`)
      assert.equal(list.json.pagination.total_count, 1)
      const etag = list.headers['ETag'] as string
      await from.send('PATCH', path, { number: turn + 1 })
      // Whoever has seen a tag is never told that nothing has changed since, when something has.
      const again = await to.send('GET', `/v1/notes?title=${number}%20${turn}`, undefined, { 'if-none-match': etag })
      assert.deepEqual([again.status, again.json?.data[0].number], [200, turn + 1])
      assert.equal((await to.send('GET', path)).json.number, turn + 1)
      await to.send('DELETE', path)
      assert.equal((await from.send('GET', path)).status, 404)
    }
  }
  await Promise.all([1, 2, 3, 4].map(client))
  await sleep(1_500)
  context.diagnostic(`${(await readsOn(replica, url)) - before} looks on the replica`)
  for (const { seen } of [one, other])
    assert.deepEqual(
      seen.filter(({ kind }) => kind === 'failure'),
      [],
    )
})

test('while the replica does not replay, the primary is read; once it has caught up, the replica is read again', {
  skip,
}, async (context) => {
  const url = await primary.createDatabase()
  const served = await servedFor(context, { url, replica: on(replica, url) })
  await untilTold(served, 'connected')
  const { json } = await served.send('POST', '/v1/notes', { title: 'first' })
  await replica.caughtUp()
  await served.send('GET', '/v1/notes')
  await query(replica.adminUrl, 'select pg_wal_replay_pause()')
  const resume = () => query(replica.adminUrl, 'select pg_wal_replay_resume()')
  try {
    for (let number = 1; number <= 20; number++) {
      const path = `/v1/notes/${json.id}`
      const { headers } = await served.send('PATCH', path, { number })
      const tag = headers['ETag'] as string
      assert.equal((await served.send('GET', path)).json.number, number)
      assert.equal((await served.send('GET', path, undefined, { 'if-none-match': tag })).status, 304)
      const list = await served.send('GET', '/v1/notes')
      assert.equal(list.json.data[0].number, number)
      const same = await served.send('GET', '/v1/notes', undefined, { 'if-none-match': list.headers['ETag'] as string })
      assert.equal(same.status, 304)
    }
    const alone = await servedFor(context, { url })
    const [times, usual]: [number[], number[]] = [[], []]
    for (let time = 0; time < 100; time++) {
      const began = performance.now()
      await (time % 2 === 0 ? served : alone).send('GET', '/v1/notes')
      ;(time % 2 === 0 ? times : usual).push(performance.now() - began)
    }
    const middle = (all: number[]) => all.sort((a, b) => a - b)[25] as number
    const [took, takes] = [middle(times), middle(usual)]
    // Who waits for a replica looks five times, with two milliseconds in between.
    assert.ok(took < takes + 7, `half of them took ${took} ms, not ${takes}: nobody waits for what stands still`)
  } finally {
    await resume()
  }
  const still = await readsOn(replica, url)
  await replica.caughtUp()
  for (let attempt = 0; (await readsOn(replica, url)) <= still; attempt++) {
    assert.ok(attempt < 1_000, 'the replica is read again')
    await served.send('GET', '/v1/notes')
    await sleep(50)
  }
  assert.deepEqual(toldBy(served), ['connected'], 'what passes soon is not told of')
})

test('if the replica fails, the primary is read; the failure and the recovery are logged once each', {
  skip,
}, async (context) => {
  const url = await primary.createDatabase()
  const served = await servedFor(context, { url, replica: on(replica, url) })
  await untilTold(served, 'connected')
  const { json } = await served.send('POST', '/v1/notes', { title: 'first' })
  const paths = [`/v1/notes/${json.id}`, '/v1/notes', '/v1/notes?title=first']
  await replica.caughtUp()
  for (const path of paths) assert.equal((await served.send('GET', path)).status, 200)
  let going = true
  const statuses = new Set<number>()
  const running = Promise.all(
    paths.map(async (path) => {
      while (going) {
        statuses.add((await served.send('GET', path)).status)
        await sleep(1)
      }
    }),
  )
  await sleep(100)
  await replica.kill()
  await untilTold(served, 'lost')
  await sleep(1_500)
  assert.deepEqual(toldBy(served), ['connected', 'lost'])
  await replica.restart()
  await untilTold(served, 'connected', 2)
  await sleep(100)
  going = false
  await running
  assert.deepEqual([...statuses], [200])
  assert.deepEqual(
    served.seen.filter(({ kind }) => kind === 'failure'),
    [],
  )
  assert.deepEqual(toldBy(served), ['connected', 'lost', 'connected'])
})

test('two states with equally many changes have different tags, because a replica may show changes in another order', {
  skip,
}, async (context) => {
  const url = await primary.createDatabase()
  const served = await servedFor(context, { url, replica: on(replica, url) })
  await served.send('POST', '/v1/notes', { title: 'first' })
  const clocks = async () => (await query(url, "select * from resourced_clocks where collection = 'notes'")) as Clock[]
  const restore = async (rows: readonly Clock[]) => {
    for (const { slot, revision, live } of rows) {
      const set = `update resourced_clocks set revision = ${revision}, live = ${live}`
      await query(url, `${set} where collection = 'notes' and slot = ${slot}`)
    }
  }
  const tag = async () => (await served.send('GET', '/v1/notes')).headers['ETag'] as string
  const [before, tagBefore] = [await clocks(), await tag()]
  const tags = new Set<string>()
  for (let change = 0; change < 4; change++) {
    // Each is the only one that the replica shows yet.
    await served.send('POST', '/v1/notes', { title: 'next' })
    tags.add(await tag())
    await restore(before)
  }
  assert.equal(tags.size, 4)
  assert.equal(await tag(), tagBefore)
})

test('a replica that hangs delays a read for half a second at most, and is then left alone', {
  skip,
}, async (context) => {
  const url = await primary.createDatabase()
  const network = await startProxy(replica.port)
  context.after(() => network.stop())
  const served = await servedFor(context, { url, replica: network.through(url) })
  const { json } = await served.send('POST', '/v1/notes', { title: 'first' })
  await untilTold(served, 'connected')
  const paths = [`/v1/notes/${json.id}`, '/v1/notes', '/v1/notes?title=first']
  await replica.caughtUp()
  for (const path of paths) assert.equal((await served.send('GET', path)).status, 200)
  // Packets are lost, and nobody says so.
  network.swallow('everything')
  const timed = async (path: string) => {
    const started = performance.now()
    assert.equal((await served.send('GET', path)).status, 200)
    return performance.now() - started
  }
  const first = await Promise.all(paths.map(timed))
  // Where it was behind a moment ago, the primary answered, and the next try finds it silent.
  await untilTold(served, 'lost')
  const [news] = served.seen.filter((each) => each.kind === 'replica').slice(-1)
  assert.ok(news?.state === 'lost' && /not answered for 250 ms/.test(news.reason), JSON.stringify(news))
  // The limit of a statement that is not answered is far longer: a busy machine does not come near it.
  for (const time of first) assert.ok(time < 5_000, `${time} ms`)
  let slow = 0
  for (let time = 0; time < 100; time++) if ((await timed(paths[time % 3] as string)) > 250) slow++
  assert.ok(slow < 20, `${slow} of 100 reads waited`)
  const silent = await servedFor(context, { url, replica: network.through(url) }, served)
  assert.equal((await silent.send('GET', '/v1/notes')).status, 200)
  network.swallow('nothing')
  network.cut()
  await untilTold(served, 'connected', 2)
})

test('a server that is no replica of the database is not read, and a message says so', { skip }, async (context) => {
  const stranger = await startCluster({ version: versionAsked() })
  context.after(() => stranger.stop())
  const url = await primary.createDatabase()
  for (const [replicaUrl, reason] of [
    [on(primary, url), /follows no other server/],
    [stranger.url, /of another database/],
    ['postgres://nobody:secret@127.0.0.1:1/none', /ECONNREFUSED/],
  ] as const) {
    const served = await servedFor(context, { url, replica: replicaUrl })
    const [news] = served.seen.filter((each) => each.kind === 'replica')
    assert.ok(news?.state === 'lost' && reason.test(news.reason), JSON.stringify(news))
    assert.equal((await served.send('GET', '/v1/notes')).status, 200)
    await served.close()
  }
})
