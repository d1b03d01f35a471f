/** DEL-7: the command that confirms a clock, and a real server that was stopped for longer than a day. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openMaintenance } from '../packages/server/src/server/open-database.ts'
import { commandFile } from './command-file.ts'
import { startServer } from './durability/command.ts'
import { diary } from './durability/declaration.ts'
import { newDatabase } from './engine.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-purge-clock-'))
const { address } = await newDatabase()
writeFileSync(join(folder, 'diary.json'), JSON.stringify(diary))
after(() => rmSync(folder, { recursive: true }))

function purge(words: readonly string[], database = address) {
  const command = [commandFile, 'purge', ...words, '--database', database]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8', cwd: folder })
  return { status, stdout, stderr }
}

/** Starts a server, and stops it once its first purge has begun or was refused: gives what it has logged. */
async function runOnce(isOver: (log: readonly string[]) => boolean): Promise<readonly string[]> {
  const { child, log, ended } = await startServer(folder, ['--http'], {}, address)
  for (let turns = 0; turns < 300 && !isOver(log); turns++) await sleep(10)
  child.kill('SIGTERM')
  assert.equal(await ended, 0)
  return log
}

test('DEL-7: a server that was stopped for a week says how to confirm its clock, and the command does it', async () => {
  const missing = purge([], 'sqlite:nothing.db')
  assert.deepEqual([missing.status, missing.stdout], [1, ''])
  assert.match(missing.stderr, /There is no database of Resourced/)

  assert.equal((await runOnce(() => false)).includes('purge stopped'), false)
  const { purgeClock, close } = await openMaintenance({ database: address })
  const noted = Number(await purgeClock.read())
  assert.ok(Math.abs(Date.now() - noted) < 60_000)
  const week = 7 * 86_400_000
  await purgeClock.confirm(noted - week)

  const isStopped = (log: readonly string[]) => log.includes('purge stopped')
  assert.ok(isStopped(await runOnce(isStopped)))
  assert.equal(await purgeClock.read(), noted - week)

  const status = purge(['status'])
  assert.equal(status.status, 0, status.stderr)
  assert.match(status.stdout, new RegExp(new Date(noted - week).toISOString()))
  const confirmed = purge(['confirm'])
  assert.deepEqual([confirmed.status, confirmed.stdout], [0, ''])
  assert.match(confirmed.stderr, /is confirmed: it says \d{4}-/)
  assert.ok(Math.abs(Date.now() - Number(await purgeClock.read())) < 60_000)
  assert.equal(isStopped(await runOnce(() => false)), false)
  await close()
})
