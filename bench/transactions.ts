/**
 * Measures transactions of ten operations beside single changes, and what a history adds to both:
 * `node bench/transactions.ts [ROUNDS] [--postgres]`, 300 rounds by default. One client sends one request after
 * another, each round one of each kind, to two applications in this process: one without a history, one with. Durable
 * files; on PostgreSQL a cluster of its own. It prints milliseconds: medians by the clock, and means of processor time,
 * that of PostgreSQL included. The targets are twice a POST, and 1.15 times a PATCH without a history.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type App, createApp, defineInterface } from '../packages/server/src/index.ts'
import { startCluster } from '../test/postgres/cluster.ts'
import { query } from '../test/postgres/query.ts'
import { describeMachine, keepAwake, loadAverage } from './machine.ts'
import { workOf } from './postgres/stage.ts'
import { spreadOf } from './rounds.ts'

const { values: options, positionals } = parseArgs({
  options: { postgres: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const [rounds, warmUp, records, ten] = [Number(positionals[0] ?? '300'), 20, 500, 10]

function declarationOf(history: boolean) {
  const administrators = ['role:admin'] as const
  const access = { read: 'anyone', create: administrators, update: administrators, delete: administrators } as const
  return defineInterface({
    name: 'atlas',
    limits: { rate: { caller: '1000000/second' } },
    resources: {
      countries: { fields: { name: { type: 'string' } }, access },
      cities: {
        fields: {
          name: { type: 'string', search: true, sort: true },
          country_id: { reference: 'countries' },
          population: { type: 'integer', filter: true, sort: true },
          feature: { enum: ['city', 'town'], filter: true },
          latitude: { type: 'number' },
          longitude: { type: 'number' },
        },
        access,
        ...(history && { history }),
      },
    },
  })
}

const administrator = { id: 'me', roles: ['admin'] }

interface Operation {
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

/**
 * An application with its records, and the operations on them.
 *
 * @param loaded called once there are records, which the statements of the measurement find
 */
async function open(database: string, history: boolean, loaded: () => Promise<unknown>) {
  const declaration = declarationOf(history)
  const app = createApp(declaration, { database, authenticate: () => administrator })
  const client = app.as<typeof declaration>(administrator)
  const { id } = await client.countries.create({ name: 'Utopia' })
  let made = 0
  const city = () => {
    const number = ++made
    const place = { latitude: (number % 90) + 0.5, longitude: (number % 180) + 0.25 }
    return { name: `City ${number}`, country_id: id, population: number, feature: 'city' as const, ...place }
  }
  const make = async (): Promise<string[]> => {
    const created = await client.cities.createMany(Array.from({ length: records }, city))
    return created.map((each) => each.id)
  }
  const ids = await make()
  const deletable: string[] = []
  // In each round one deletion alone, ten together, and three of the mixed operations.
  while (deletable.length < 14 * (warmUp + rounds)) deletable.push(...(await make()))
  await loaded()
  let turn = 0
  const create = (): Operation => ({ method: 'POST', path: '/cities', body: city() })
  // No record is next to the one before it.
  const next = () => {
    turn += 777
    return ids[turn % ids.length]!
  }
  const change = (): Operation => ({ method: 'PATCH', path: `/cities/${next()}`, body: { population: turn } })
  const remove = (): Operation => ({ method: 'DELETE', path: `/cities/${deletable.pop()}` })
  return { app, create, change, remove }
}

const noBody = Buffer.alloc(0)

async function send(app: App, { method, path, body }: Operation): Promise<number> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const sent = body === undefined ? noBody : Buffer.from(JSON.stringify(body))
  const headers = body === undefined ? {} : { 'content-type': type, 'content-length': String(sent.length) }
  const target = `/v1${path}`
  const began = performance.now()
  const answer = await app.respond({
    ...{ method, target, headers, secure: true, address: '127.0.0.1', readBody: async () => sent },
  })
  const time = performance.now() - began
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
  return time
}

/**
 * @param behind seconds of processor time that the database has used in other processes
 * @param analyze collects statistics of a database, as a running server does each minute
 */
async function measure(
  [plain, kept]: readonly [string, string],
  behind = () => 0,
  analyze: (database: string) => Promise<unknown> = async () => {},
): Promise<void> {
  const opened = [await open(plain, false, () => analyze(plain)), await open(kept, true, () => analyze(kept))]
  const kinds = opened.flatMap(({ app, create, change, remove }, index) => {
    const together = (...kinds: readonly (() => Operation)[]) => {
      const operations = () => Array.from({ length: ten }, (_, at) => kinds[at % kinds.length]!())
      return () => send(app, { method: 'POST', path: '/transactions', body: { operations: operations() } })
    }
    const suffix = index === 0 ? '' : ', history'
    return Object.entries({
      POST: () => send(app, create()),
      PATCH: () => send(app, change()),
      DELETE: () => send(app, remove()),
      'ten POSTs': together(create),
      'ten PATCHes': together(change),
      'ten DELETEs': together(remove),
      'ten mixed': together(create, change, remove),
    }).map(([name, run]) => ({ name: `${name}${suffix}`, run, times: [] as number[], work: 0 }))
  })
  for (let round = -warmUp; round < rounds; round++) {
    // Whatever follows a large change must not always be the same.
    for (const kind of kinds.toSorted(() => Math.random() - 0.5)) {
      const [before, beforeBehind] = [process.cpuUsage(), behind()]
      const time = await kind.run()
      if (round < 0) continue
      const { user, system } = process.cpuUsage(before)
      kind.times.push(time)
      kind.work += (user + system) / 1_000 + (behind() - beforeBehind) * 1_000
    }
  }
  const figures = new Map(kinds.map(({ name, times, work }) => [name, [spreadOf(times).median, work / rounds]]))
  const history = ', history'
  for (const [name, own] of figures) {
    const post = figures.get(name.endsWith(history) ? `POST${history}` : 'POST')!
    const plain = figures.get(name.replace(history, ''))!
    const words = own.map((figure, index) => {
      const of = (other: readonly number[]) => (figure / other[index]!).toFixed(2)
      return `${figure.toFixed(2)} (${of(post)} of a POST, ${of(plain)} of the one without a history)`
    })
    process.stdout.write(`${name}: ${words.join('; processor time ')}\n`)
  }
  for (const { app } of opened) await app.close()
}

process.stdout.write(`${describeMachine(tmpdir())}; load average ${loadAverage()}\n`)
keepAwake()
if (options.postgres) {
  const cluster = await startCluster({ fsync: true, settings: { autovacuum: 'on', shared_buffers: '256MB' } })
  const databases = [await cluster.createDatabase(), await cluster.createDatabase()] as const
  await measure(
    databases,
    () => workOf(cluster),
    (database) => query(database, 'analyze'),
  )
  await cluster.stop()
} else {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-transactions-'))
  await measure([`sqlite:${join(folder, 'plain.db')}`, `sqlite:${join(folder, 'history.db')}`])
  rmSync(folder, { recursive: true })
}
