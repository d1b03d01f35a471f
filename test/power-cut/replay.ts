/** Cuts the power at moments of a recording, and looks at what is left. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import type { HttpRequest } from '../../packages/server/src/http/message.ts'
import { type Application, assemble } from '../../packages/server/src/server/app.ts'
import { openSqlite } from '../../packages/server/src/storage/sqlite/storage.ts'
import type { Send } from '../durability/client.ts'
import { diary } from '../durability/declaration.ts'
import { inspect } from '../durability/inspect.ts'
import type { Entry } from '../durability/ledger.ts'
import { verify } from '../durability/verify.ts'
import { emptyDisk, filesAfterCut, type Luck, play } from './disk.ts'
import type { Recording } from './record.ts'

/** A moment: before the event with this index happens. */
export interface Cut {
  readonly before: number
  readonly luck: Luck
}

/** What was wrong after a cut. */
export interface Loss {
  readonly before: number
  readonly message: string
}

/**
 * Rebuilds the disk as each cut could leave it, starts on it, and compares with what had been acknowledged by then.
 *
 * @param cuts in order of their moments
 * @param scratch a folder that is made and removed for each
 */
export async function replay(recording: Recording, cuts: readonly Cut[], scratch: string): Promise<Loss[]> {
  const { events, ledger, folder, databaseFile } = recording
  const byRequest = new Map(ledger.changes.map((change) => [change.acknowledged, change]))
  const disk = emptyDisk(folder)
  const durable = new Map<Entry, number>()
  const losses: Loss[] = []
  let next = 0
  for (const cut of cuts) {
    for (; next < cut.before; next++) {
      const event = events[next]!
      play(disk, event)
      // From its first byte on, the answer may have reached the client.
      if (event.kind !== 'sent') continue
      for (const [, id] of event.bytes.toString('latin1').matchAll(/^x-request-id: (\S+)\r$/gim)) {
        for (const { entry, index } of byRequest.get(id)?.steps ?? []) durable.set(entry, index)
      }
    }
    for (const [path, bytes] of filesAfterCut(disk, cut.luck)) {
      // The wal-index is rebuilt by whoever starts first; what was mapped of it is unknown here.
      if (path.endsWith('-shm')) continue
      const file = join(scratch, relative(folder, path))
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, bytes)
    }
    try {
      await check(join(scratch, relative(folder, databaseFile)), recording, (entry) => durable.get(entry) ?? 0)
    } catch (error) {
      losses.push({ before: cut.before, message: String((error as Error).message).split('\n')[0] ?? '' })
    }
    rmSync(scratch, { recursive: true, force: true })
  }
  return losses
}

async function check(file: string, { ledger }: Recording, durable: (entry: Entry) => number): Promise<void> {
  const catalog = completeCatalog(diary)
  // This database is thrown away.
  const storage = openSqlite(catalog, { path: file, synchronous: 'off' })
  const app = assemble(catalog, storage, { rateLimit: 'off' })
  try {
    const { key, stored } = makeKey('root', ['admin'], null)
    await storage.keys.add(stored)
    await verify(sendTo(app, key), { entries: ledger.entries, changes: ledger.changes, durable })
  } finally {
    await app.close()
  }
  inspect(file)
}

function sendTo(app: Application, key: string): Send {
  return async (method, target) => {
    const headers = { authorization: `Bearer ${key}` }
    const readBody = async () => new Uint8Array()
    const request: HttpRequest = { method, target, headers, secure: true, address: '127.0.0.1', readBody }
    const { status, headers: answered, body } = await app.respond(request)
    return { status, headers: answered, json: JSON.parse(String(body)) }
  }
}
