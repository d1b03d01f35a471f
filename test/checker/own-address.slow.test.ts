/** Our own server is understood from its address and a key alone: what it writes by itself is no fault. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createKey, startServer } from '../durability/command.ts'
import { newDatabase } from '../engine.ts'
import { check, type Ended } from './check-store.ts'

const declaration = {
  name: 'desk',
  resources: {
    projects: { fields: { name: { type: 'string', minLength: 1, sort: true, search: true } }, events: true },
    tickets: {
      fields: {
        title: { type: 'string', minLength: 1, filter: true },
        reporter: { type: 'string', default: { caller: 'id' } },
        project_id: { reference: 'projects', onDelete: 'cascade', immutable: true },
        number: { sequence: { per: 'project_id' } },
      },
      within: 'project_id',
      events: true,
    },
  },
}

test('nothing fails on our own server with events, and its events are not called leftovers', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-check-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'desk.json')
  writeFileSync(file, JSON.stringify(declaration))
  const database = await newDatabase()
  const server = await startServer(folder, ['--http', '--database-unsafe'], {}, database.address, file)
  context.after(async () => {
    server.child.kill('SIGKILL')
    await server.ended
    await database.remove()
  })
  const origin = `${server.origin}/v1`
  const { code, err, report }: Ended = await check({ origin }, '--key', createKey(folder, database.address))
  const all = report.rules.flatMap(({ cases }) => cases)
  const wrong = all.filter(({ verdict }) => !['holds', 'not applicable', 'advice'].includes(verdict))
  assert.deepEqual(wrong, [], err)
  assert.equal(code, 0, err)
  assert.ok(all.filter(({ verdict }) => verdict === 'holds').length > 400)
  assert.deepEqual(report.remains, [])
  const [events, ...others] = report.differences
  assert.deepEqual([events?.collection, events?.unexplained, others], ['events', [], []])
})
