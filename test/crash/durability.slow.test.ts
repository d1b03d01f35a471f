/** `kill -9` at any moment loses no acknowledged change. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { clientOf } from '../durability/client.ts'
import { createKey, databaseFile, type ServerProcess, startServer } from '../durability/command.ts'
import { diary } from '../durability/declaration.ts'
import { inspect } from '../durability/inspect.ts'
import { Ledger } from '../durability/ledger.ts'
import { randomFrom, seedOfRun } from '../durability/random.ts'
import { verify } from '../durability/verify.ts'
import { write, writerOf } from '../durability/workload.ts'
import { engine, newDatabase } from '../engine.ts'

const rounds = Number(process.env.KILL_ROUNDS ?? (engine === 'sqlite' ? 15 : 6))
const connections = 24
const folder = mkdtempSync(join(tmpdir(), 'resourced-durability-'))
let running: ServerProcess | undefined
after(() => {
  // A server that a failed test left would keep this process alive.
  running?.child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

// A file is looked into as well.
const address = engine === 'sqlite' ? undefined : (await newDatabase()).address
const lookInside = () => (address === undefined ? inspect(databaseFile(folder)) : undefined)

test(`${rounds} kills while ${connections} connections write lose no acknowledged change`, async (context) => {
  const seed = seedOfRun()
  context.diagnostic(`SEED=${seed}`)
  writeFileSync(join(folder, 'diary.json'), JSON.stringify(diary))
  const key = createKey(folder, address)
  const random = randomFrom(seed)
  const ledger = new Ledger()
  const writers = Array.from({ length: connections }, (_, number) =>
    writerOf(ledger, number, randomFrom(seed + number)),
  )
  let server = await startServer(folder, ['--http'], {}, address)
  running = server
  let unanswered = 0
  for (let round = 0; round < rounds; round++) {
    const clients = writers.map(() => clientOf(server.origin, key))
    const writing = writers.map((writer, index) => write(writer, clients[index]!.send, () => false))
    await sleep(20 + random() * 280)
    // On a slow machine too something comes to be acknowledged.
    for (let waits = 0; ledger.acknowledged <= (round + 1) * connections && waits < 1_000; waits++) {
      await sleep(5 + random() * 20)
    }
    server.child.kill('SIGKILL')
    await Promise.all(writing)
    assert.equal(await server.ended, 'SIGKILL', server.errors.join(''))
    for (const client of clients) client.close()
    unanswered += ledger.changes.filter((change) => change.acknowledged === undefined).length

    server = await startServer(folder, ['--http'], {}, address)
    running = server
    const client = clientOf(server.origin, key)
    const { entries, changes } = ledger
    const found = await verify(client.send, { entries, changes, durable: (entry) => entry.durable })
    client.close()
    lookInside()
    ledger.settle(found)
  }
  server.child.kill('SIGTERM')
  assert.equal(await server.ended, 0)
  lookInside()
  context.diagnostic(`${ledger.acknowledged} changes were acknowledged, ${unanswered} were killed before their answer`)
  assert.ok(ledger.acknowledged > rounds * connections)
  assert.ok(unanswered > rounds)
})
