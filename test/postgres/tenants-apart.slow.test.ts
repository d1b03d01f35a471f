/**
 * TEN-2: tenants share connections, and none sees a row of another: with the same ids and unique values at the same
 * time, while statements are cancelled, connections end, and clients leave. `TENANTS_SEED` repeats a run.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'typebox'
import { uuidv7 } from 'uuidv7'
import { newKey } from '../../packages/server/src/policy/api-keys.ts'
import { postgresHost } from '../../packages/server/src/storage/postgres/administration.ts'
import { startBouncer, whyNoBouncer } from './bouncer.ts'
import { startCluster } from './cluster.ts'
import { versionAsked } from './database.ts'
import { whyNoPostgres } from './programs.ts'
import { query } from './query.ts'
import { addKey, type Served, serve } from './served.ts'

const everybody = { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' } as const

const members = defineInterface({
  name: 'members',
  title: 'Members',
  resources: {
    members: {
      fields: {
        number: Type.Integer({ sequence: true }),
        name: Type.String({ unique: true, filter: true, search: true }),
        tenant: Type.String({ filter: true }),
        counter: Type.Integer({ default: 0, filter: true }),
      },
      access: everybody,
      events: true,
    },
  },
})

const seed = Number(process.env.TENANTS_SEED ?? Math.floor(Math.random() * 2 ** 31))

/** A generator of numbers below a bound (mulberry32). */
function random(start: number): (bound: number) => number {
  let state = start
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

interface Tenant extends Pick<Served, 'send'> {
  readonly name: string
  readonly schema: string
  /** The names of members whose creation was acknowledged. */
  readonly created: Set<string>
}

const rounds = 100
const clients = 16

/** Sends requests of all kinds to a tenant, and checks that each response is of this tenant alone. */
async function use({ send, name, created }: Tenant, id: string, pick: (bound: number) => number): Promise<number> {
  const unique = `member ${pick(400)}`
  const kinds = [
    () => send('GET', `/v1/members/${id}`),
    () => send('GET', `/v1/members?name=${encodeURIComponent(unique)}`),
    () => send('GET', `/v1/members?q=member&sort=-created_at&limit=20`),
    () => send('GET', `/v1/members?counter[gte]=${pick(3)}&limit=20`),
    () => send('GET', '/v1/events?limit=20'),
    () => send('PATCH', `/v1/members/${id}`, { tenant: name, counter: pick(9) }),
    async () => {
      const answer = await send('POST', '/v1/members', { name: unique, tenant: name })
      if (answer.status === 201) created.add(unique)
      return answer
    },
  ]
  const { status, json } = await (kinds[pick(kinds.length)] as () => ReturnType<Served['send']>)()
  const text = JSON.stringify(json ?? '')
  for (const [, found] of text.matchAll(/"tenant":"([^"]*)"/g)) assert.equal(found, name, `seed ${seed}: ${text}`)
  assert.ok([200, 201, 409, 502, 503].includes(status), `seed ${seed}: ${status} ${text}`)
  return status
}

/** Ends connections and cancels statements, until it is told to stop. */
async function disturb(url: string, pick: (bound: number) => number, stopped: () => boolean): Promise<void> {
  while (!stopped()) {
    const how = pick(3) === 0 ? 'pg_terminate_backend' : 'pg_cancel_backend'
    await query(
      url,
      `select ${how}(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
        and backend_type = 'client backend' order by random() limit 2`,
    )
    await sleep(20 + pick(60))
  }
}

async function isApart(context: TestContext, isPooled: boolean): Promise<void> {
  context.diagnostic(`TENANTS_SEED=${seed}`)
  const cluster = await startCluster({ version: versionAsked() })
  context.after(() => cluster.stop())
  const direct = await cluster.createDatabase()
  const catalog = completeCatalog(members)
  const operators = await postgresHost({ url: direct, unsafe: true }).administer().open(catalog, {})
  context.after(() => operators.close())
  const bouncer = isPooled ? await startBouncer(cluster, { default_pool_size: 8 }) : undefined
  if (bouncer !== undefined) context.after(() => bouncer.stop())
  const url = bouncer?.through(direct) ?? direct
  // With few connections, changes of several tenants wait for the same one.
  const few = { unsafe: true, poolSize: 2, limits: { connect: 30_000 } }
  const host = postgresHost({ ...few, url, ...(isPooled && { session: 'off' }) })
  context.after(() => host.close())
  await host.administer().open(catalog, {})
  const key = newKey()
  const tenants: Tenant[] = []
  for (const name of ['red', 'green', 'blue', 'black', 'white']) {
    const tenant = uuidv7()
    const storage = await host.administer(tenant).open(catalog, {})
    await addKey(storage, key)
    const { send } = serve(context, catalog, storage, key)
    tenants.push({ name, schema: `resourced_${tenant.replaceAll('-', '')}`, created: new Set(), send })
  }
  const [first, ...others] = tenants as [Tenant, ...Tenant[]]
  const { json } = await first.send('POST', '/v1/members', { name: 'first', tenant: first.name })
  for (const { schema, name } of others) {
    await query(direct, `insert into ${schema}.members overriding system value select * from ${first.schema}.members`)
    await query(direct, `update ${schema}.members set tenant = '${name}', _folded_tenant = '${name}'`)
    await query(direct, `delete from ${schema}.events`)
    await query(direct, `insert into ${schema}.resourced_counters select * from ${first.schema}.resourced_counters`)
    await query(direct, `update ${schema}.resourced_clocks set live = 1 where collection = 'members' and slot = 0`)
  }
  let isOver = false
  const disturbing = disturb(direct, random(seed + 1), () => isOver)
  const statuses = new Map<number, number>()
  const asked = Array.from({ length: clients }, async (_, client) => {
    const own = random(seed + 2 + client)
    for (let round = 0; round < rounds; round++) {
      const status = await use(tenants[own(tenants.length)] as Tenant, json.id, own)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  await Promise.all(asked).finally(() => {
    isOver = true
  })
  await disturbing
  context.diagnostic([...statuses].map(([status, count]) => `${count} times ${status}`).join(', '))
  assert.ok((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0) > (rounds * clients) / 2, `seed ${seed}`)
  for (const { schema, name, created } of tenants) {
    const rows = await query(direct, `select name, tenant from ${schema}.members`)
    assert.deepEqual([...new Set(rows.map((row) => row['tenant']))], [name], `seed ${seed}`)
    const names = rows.map((row) => row['name'])
    assert.deepEqual(
      [...created].filter((each) => !names.includes(each)),
      [],
      `seed ${seed}`,
    )
    const others = await query(direct, `select 1 from ${schema}.events where data ->> 'tenant' <> '${name}'`)
    assert.deepEqual(others, [], `seed ${seed}`)
  }
  assert.deepEqual(await query(direct, 'select name from public.members'), [])
}

const skip = whyNoPostgres(versionAsked()) ?? false

test('TEN-2: tenants on the same connections never see rows of each other', { skip, timeout: 300_000 }, (context) =>
  isApart(context, false),
)

test(
  'TEN-2: the same through a pooler that shares connections among transactions',
  {
    skip: whyNoBouncer ?? skip,
    timeout: 300_000,
  },
  (context) => isApart(context, true),
)
