/** ERR-6: commits of which PostgreSQL says less than that they were made. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../until.ts'
import { startCluster } from './cluster.ts'
import { versionAsked } from './database.ts'
import { whyNoPostgres } from './programs.ts'
import { startProxy } from './proxy.ts'
import { query } from './query.ts'
import { notes, servedFor } from './served.ts'

const skip = whyNoPostgres(versionAsked()) ?? false
const waiting = "from pg_stat_activity where wait_event = 'SyncRep'"

// A change for each: two of one collection may use the same slot of its clock, and then one waits for the other.
const { notes: resource } = notes.resources
const declaration = { ...notes, resources: { notes: resource, letters: resource, cards: resource } }

test('a change whose wait for the standby an operator cancels is answered 502', { skip }, async (context) => {
  const cluster = await startCluster({ version: versionAsked() })
  context.after(() => cluster.stop())
  // A limit of a statement must not end the wait, which is a part of the commit.
  const url = `${cluster.url}?target_session_attrs=read-write`
  const { send } = await servedFor(context, { url, limits: { statement: 500 } }, { declaration })
  const { headers } = await send('POST', '/v1/cards', { title: 'before' })
  await query(cluster.adminUrl, "alter system set synchronous_standby_names = 'absent'")
  await query(cluster.adminUrl, 'select pg_reload_conf()')
  const path = String(headers['Location'])
  // What PostgreSQL and the server do by themselves may wait beside the changes.
  const areWaiting = async (count: number) => (await query(cluster.adminUrl, `select 1 ${waiting}`)).length >= count
  // The server may take a while to read its settings: until it has, commits wait for nobody.
  const create = () => send('POST', '/v1/notes', { title: 'alone' })
  let alone = create()
  await until(async () => {
    if ((await Promise.race([alone, sleep(50, 'unanswered')])) !== 'unanswered') alone = create()
    return areWaiting(1)
  })
  const keyed = send('POST', '/v1/letters', { title: 'with a key' }, { 'idempotency-key': '"k"' })
  await until(() => areWaiting(2))
  const changes = [alone, keyed, send('DELETE', path)]
  await until(() => areWaiting(3))
  const first = await Promise.race([...changes, sleep(1_500, 'waiting')])
  assert.equal(first, 'waiting')
  const answers = Promise.all(changes)
  await until(async () => {
    await query(cluster.adminUrl, `select pg_cancel_backend(pid) ${waiting}`)
    return (await Promise.race([answers, sleep(50, 'waiting')])) !== 'waiting'
  })
  for (const { status, json } of await answers) {
    assert.equal(status, 502)
    assert.match(json.detail, /it was made, or it was not/)
  }
  // It was made on this server: a second try would have made another one.
  const made = await query(cluster.adminUrl, "select id from letters where title = 'with a key'")
  assert.equal(made.length, 1)
})

test('a read whose commit is lost runs again on another server', { skip }, async (context) => {
  const cluster = await startCluster({ version: versionAsked() })
  context.after(() => cluster.stop())
  const network = await startProxy(cluster.port)
  context.after(() => network.stop())
  const { port } = new URL(network.through(cluster.url))
  const url = cluster.url.replace(/@[^/]+/, `@127.0.0.1:${port},127.0.0.1:${cluster.port}`)
  const { send } = await servedFor(context, { url })
  const { headers } = await send('POST', '/v1/notes', { title: 'a note' })
  network.swallowAnswersOnce('commit')
  const { status, json } = await send('GET', `${headers['Location']}/deletion`)
  assert.equal(status, 200, JSON.stringify(json))
  assert.equal(network.isSwallowing, true)
})
