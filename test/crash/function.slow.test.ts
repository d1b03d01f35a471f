/**
 * EVT-12: two servers that are killed at random moments run each function at least once, and those of a record in
 * order: `KILLS=100 node --test test/crash/function.slow.test.ts`.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, clientOf } from '../durability/client.ts'
import { createKey, type ServerProcess, startServer } from '../durability/command.ts'
import { newDatabase } from '../engine.ts'
import { endLeases } from '../events/leases.ts'

const kills = Number(process.env.KILLS ?? 3)
const records = 20
const folder = mkdtempSync(join(tmpdir(), 'resourced-function-crash-'))
const calls = join(folder, 'calls')
const declaration = join(folder, 'notes.js')
const started: ServerProcess[] = []
const { address } = await newDatabase()
after(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  rmSync(folder, { recursive: true })
})

// The functions take some time, so that a server is often killed within one.
writeFileSync(
  declaration,
  `import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const run = async ({ event, record }) => {
  await sleep(Math.random() * 40)
  appendFileSync(${JSON.stringify(calls)}, JSON.stringify([event.record, event.id, record?.step ?? null]) + '\\n')
}

export default {
  name: 'notes',
  resources: {
    notes: {
      fields: { step: { type: 'integer' } },
      events: true,
      on: { created: run, updated: run, deleted: run },
    },
  },
}
`,
)

async function start(): Promise<ServerProcess> {
  const server = await startServer(folder, ['--http'], {}, address, declaration)
  started.push(server)
  return server
}

/** The first calls of each event, by record: the number of the step, or `null` for a deletion. */
function callsOf(): Map<string, (number | null)[]> {
  const lines = readFileSync(calls, 'utf8').trim().split('\n')
  const all = lines.map((line) => JSON.parse(line) as [record: string, event: string, step: number | null])
  const first = new Map(all.toReversed().map((call) => [call[1], call]))
  const order = all.filter((call) => first.get(call[1]) === call)
  const grouped = Map.groupBy(order, ([record]) => record)
  return new Map([...grouped].map(([record, found]) => [record, found.map(([, , step]) => step)]))
}

test(`EVT-12: two servers that are killed ${kills} times run every function, in order for each record`, async () => {
  writeFileSync(calls, '')
  const key = createKey(folder, address)
  const servers = [await start(), await start()]
  // The functions get events from the first look of a server on.
  await sleep(1_000)
  const ids = await create(servers, key)
  let isOver = false
  const acknowledged = new Map<string, number>()
  const writing = Promise.all(ids.map((id) => write(servers, key, id, acknowledged, () => isOver)))
  for (let kill = 0; kill < kills; kill++) {
    await sleep(200 + Math.random() * 600)
    const index = kill % 2
    const killed = servers[index] as ServerProcess
    killed.child.kill('SIGKILL')
    await killed.ended
    await endLeases(address, killed.names)
    servers[index] = await start()
  }
  isOver = true
  await writing
  await settle(servers, key)
  const found = callsOf()
  for (const id of ids) {
    const steps = found.get(id) ?? []
    const last = acknowledged.get(id) ?? 0
    assert.ok(last > 0, 'the record was changed')
    assert.deepEqual(
      steps,
      Array.from({ length: steps.length }, (_, step) => step),
    )
    // A change whose response was lost may have been made too.
    assert.ok(steps.length > last && steps.length <= last + 2, `${steps.length} ${last}`)
  }
})

async function create(servers: readonly ServerProcess[], key: string): Promise<string[]> {
  const client = clientOf(String(servers[0]?.origin), key)
  const ids: string[] = []
  for (let record = 0; record < records; record++) {
    const { status, json } = await client.send('POST', '/v1/notes', { body: { step: 0 } })
    assert.equal(status, 201)
    ids.push(json.id)
  }
  client.close()
  return ids
}

/** Counts a record up, one step after the other, on whichever server answers. */
async function write(
  servers: readonly ServerProcess[],
  key: string,
  id: string,
  acknowledged: Map<string, number>,
  isOver: () => boolean,
): Promise<void> {
  for (let step = 1; !isOver(); ) {
    const answer = await sendToAny(servers, key, 'PATCH', `/v1/notes/${id}`, { step })
    if (answer?.status === 200) acknowledged.set(id, step++)
    await sleep(Math.random() * 100)
  }
}

async function sendToAny(
  servers: readonly ServerProcess[],
  key: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<Answer | undefined> {
  const { origin = '' } = servers[Math.random() < 0.5 ? 0 : 1] ?? {}
  const client = clientOf(origin, key)
  try {
    return await client.send(method, path, { body })
  } catch {
    return undefined
  } finally {
    client.close()
  }
}

/** Waits until no delivery is pending. */
async function settle(servers: readonly ServerProcess[], key: string): Promise<void> {
  for (let quiet = 0, end = performance.now() + 120_000; quiet < 5; await sleep(200)) {
    assert.ok(performance.now() < end, 'the deliveries end')
    const answer = await sendToAny(servers, key, 'GET', '/v1/deliveries?status=pending&limit=1')
    if (answer?.status !== 200) continue
    quiet = answer.json.data.length === 0 ? quiet + 1 : 0
  }
}
