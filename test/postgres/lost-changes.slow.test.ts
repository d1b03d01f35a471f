/**
 * A failover to a replica that lacks the last acknowledged changes (asynchronous replication), and a replica that has
 * followed another timeline.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openStream } from '../events/stream.ts'
import { until } from '../until.ts'
import { type Cluster, partsOf, startCluster } from './cluster.ts'
import { versionAsked } from './database.ts'
import { whyNoPostgres } from './programs.ts'
import { startProxy } from './proxy.ts'
import { query } from './query.ts'
import { startReplica } from './replica.ts'
import { notes, type Served, servedFor } from './served.ts'

const skip = whyNoPostgres(versionAsked()) ?? false
const on = (cluster: Cluster, url: string) => Object.assign(new URL(url), { port: cluster.port }).href

async function clusterFor(context: TestContext): Promise<Cluster> {
  const cluster = await startCluster({ version: versionAsked() })
  context.after(() => cluster.stop())
  return cluster
}

/** A replica that a network follows the primary through, which can be cut. */
async function replicaBehind(context: TestContext, primary: Cluster) {
  const network = await startProxy(primary.port)
  context.after(() => network.stop())
  const { password } = partsOf(primary)
  const port = new URL(network.through(primary.url)).port
  const replica = await startReplica(primary, {
    primary_conninfo: `host=127.0.0.1 port=${port} user=postgres password=${password} sslmode=disable`,
  })
  context.after(() => replica.stop())
  return { replica, network }
}

const newsOf = ({ seen }: Served) => seen.flatMap((each) => (each.kind === 'replica' ? [each] : []))

test('CON-2: after a failover that loses acknowledged changes no tag and no total of a lost state fits', {
  skip,
}, async (context) => {
  const primary = await clusterFor(context)
  const url = await primary.createDatabase()
  const { replica, network } = await replicaBehind(context, primary)
  const balancer = await startProxy(primary.port)
  context.after(() => balancer.stop())
  const served = await servedFor(context, { url: balancer.through(url) })
  const [note, other] = [
    await served.send('POST', '/v1/notes', { title: 'common' }),
    await served.send('POST', '/v1/notes', { title: 'unchanged' }),
  ]
  const path = `/v1/notes/${note.json.id}`
  const untouched = `/v1/notes/${other.json.id}`
  const filtered = '/v1/notes?title=lost'
  for (const asked of [filtered, '/v1/notes']) await served.send('GET', asked)
  const tagOfUntouched = (await served.send('GET', untouched)).headers['ETag'] as string
  await replica.caughtUp()
  network.lead(1)
  const change = async (title: string) => {
    const { status } = await served.send('PATCH', path, { title })
    return status
  }
  assert.equal(await change('lost'), 200)
  const [record, list, few] = [await served.send('GET', path), await served.send('GET', '/v1/notes'), await served.send('GET', filtered)]
  assert.equal(few.json.pagination.total_count, 1)
  await primary.kill()
  await replica.promote()
  balancer.lead(replica.port)
  await until(async () => (await change('kept')) === 200, 'the server changes records again')
  for (const [asked, known] of [[path, record], ['/v1/notes', list], [filtered, few]] as const) {
    const { status } = await served.send('GET', asked, undefined, { 'if-none-match': known.headers['ETag'] as string })
    assert.equal(status, 200, asked)
  }
  const overwriting = await served.send('PATCH', path, { title: 'x' }, { 'if-match': record.headers['ETag'] as string })
  assert.equal(overwriting.status, 412)
  assert.equal((await served.send('GET', filtered)).json.pagination.total_count, 0)
  const same = await served.send('GET', untouched, undefined, { 'if-none-match': tagOfUntouched })
  assert.equal(same.status, 304)
}) // biome-ignore format: a table

const diary = { ...notes, resources: { notes: { ...notes.resources.notes, events: true } } }

for (const further of [0, 100]) {
  test(`EVT-6: after a failover that loses events, and ${further} new ones, streams end, and who continues gets 410`, {
    skip,
  }, async (context) => {
    const primary = await clusterFor(context)
    const url = await primary.createDatabase()
    const { replica, network } = await replicaBehind(context, primary)
    const balancer = await startProxy(primary.port)
    context.after(() => balancer.stop())
    const served = await servedFor(context, { url: balancer.through(url) }, { declaration: diary })
    const { send, app, key } = served
    for (const title of ['a', 'b']) await send('POST', '/v1/notes', { title })
    const early = await openStream(app, key)
    const { lastEventId } = early
    early.close()
    await replica.caughtUp()
    network.lead(1)
    const client = await openStream(app, key)
    for (let number = 0; number < 50; number++) await send('POST', '/v1/notes', { title: 'lost', number })
    await until(() => client.text.split('"lost"').length === 51, 'the client gets all events')
    await primary.kill()
    await replica.promote()
    for (let number = 0; number < further; number++) await query(on(replica, url), insertion(number))
    balancer.lead(replica.port)
    await until(() => client.isEnded, 'the stream ends')
    await until(async () => (await openStream(app, key)).status === 200, 'the server reads events again')
    assert.equal((await openStream(app, key, client.lastEventId)).status, 410)
    // What was not lost is continued.
    const resumed = await openStream(app, key, lastEventId)
    await send('POST', '/v1/notes', { title: 'kept' })
    await until(() => resumed.text.includes('"kept"'), 'the client gets what is new')
    assert.equal(resumed.text.split('"new"').length - 1, further)
    assert.ok(!resumed.text.includes('"lost"') && !resumed.isEnded)
  })
}

/** As another server would, which has been there since the failover. */
function insertion(number: number): string {
  return `insert into notes (id, title, number, created_at, updated_at, _revision)
    values (gen_random_uuid()::text, 'new', ${number}, '2026-11-28T00:00:00.000Z', '2026-11-28T00:00:00.000Z', 1)`
}

test('a replica that has gone further on a lost timeline is not read', { skip }, async (context) => {
  const primary = await clusterFor(context)
  const url = await primary.createDatabase()
  // The second one lacks what the first one has.
  const further = await replicaBehind(context, primary)
  const { replica: promoted, network } = await replicaBehind(context, primary)
  const before = await servedFor(context, { url, replica: on(further.replica, url) })
  await before.send('POST', '/v1/notes', { title: 'common' })
  await until(() => newsOf(before).at(-1)?.state === 'connected', 'the replica is read')
  await promoted.caughtUp()
  network.lead(1)
  for (let number = 0; number < 200; number++) await before.send('POST', '/v1/notes', { title: 'lost', number })
  await further.replica.caughtUp()
  await before.close()
  await primary.kill()
  await promoted.promote()
  const served = await servedFor(context, { url: on(promoted, url), replica: on(further.replica, url) }, before)
  for (let number = 0; number < 20; number++) {
    const { headers } = await served.send('POST', '/v1/notes', { title: 'new', number })
    assert.equal((await served.send('GET', headers['Location'] as string)).status, 200)
  }
  const news = newsOf(served).at(-1)
  assert.ok(news?.state === 'lost' && /another timeline/.test(news.reason), JSON.stringify(news))
  assert.equal((await served.send('GET', '/v1/notes?title=lost')).json.pagination.total_count, 0)
})

test('a replica of a replica that was promoted is not read beside the former primary', { skip }, async (context) => {
  const primary = await clusterFor(context)
  const url = await primary.createDatabase()
  const { replica: promoted } = await replicaBehind(context, primary)
  const { replica, network } = await replicaBehind(context, primary)
  const served = await servedFor(context, { url, replica: on(replica, url) })
  await until(() => newsOf(served).at(-1)?.state === 'connected', 'the replica is read')
  await promoted.caughtUp()
  await promoted.promote()
  // It follows the promoted one, while the server keeps its connections to both.
  const [slot] = await query(replica.adminUrl, "select current_setting('primary_slot_name') as name")
  await query(promoted.adminUrl, `select pg_create_physical_replication_slot('${slot?.['name']}')`)
  network.lead(promoted.port)
  await query(on(promoted, primary.adminUrl), 'create table more as select generate_series(1, 100000) as number')
  await until(async () => {
    const [found] = await query(replica.adminUrl, "select to_regclass('more') is not null as has")
    return found?.['has'] === true
  }, 'it has come further')
  for (let number = 0; number < 20; number++) {
    const { headers } = await served.send('POST', '/v1/notes', { title: 'new', number })
    assert.equal((await served.send('GET', headers['Location'] as string)).status, 200)
  }
  await until(() => newsOf(served).at(-1)?.state === 'lost', 'the replica is told from one of the primary')
})
