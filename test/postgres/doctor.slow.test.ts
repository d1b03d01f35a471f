/** `resourced doctor` on PostgreSQL: what it finds, that it changes nothing, and that it waits for no server. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import pg from 'pg'
import { commandFile } from '../command-file.ts'
import { databaseFor, whyNoDatabase } from './database.ts'

test('doctor examines a database that others have locked, and changes nothing', {
  skip: whyNoDatabase ?? false,
}, async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'doctor-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const url = await databaseFor(context)
  const notes = 'name: notes\nresources:\n  notes:\n    fields:\n      text: { type: string }\n'
  writeFileSync(join(folder, 'resources.yaml'), notes)
  writeFileSync(join(folder, 'less.yaml'), notes.replace('text:', 'other:'))
  const run = (...given: readonly string[]) =>
    spawnSync(process.execPath, [commandFile, ...given, '--database', url], { cwd: folder, encoding: 'utf8' })
  const doctor = (...given: readonly string[]): Record<string, string> => {
    const { stdout, stderr } = run('doctor', '--json', '--port', '0', ...given)
    assert.equal(stderr, '')
    const found: { check: string; severity: string; finding: string }[] = JSON.parse(stdout)
    return Object.fromEntries(found.map(({ check, severity, finding }) => [check, `${severity}: ${finding}`]))
  }
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  context.after(() => client.end().catch(() => {}))
  const tables = async () => (await client.query('select count(*) from pg_class')).rows[0].count

  const empty = await tables()
  assert.match(doctor()['migration'] ?? '', /^ok: The first start creates the tables\./)
  assert.equal(await tables(), empty)

  assert.equal(run('migrate', '--apply').status, 0)
  assert.match(doctor()['migration'] ?? '', /^ok: The database fits the declaration\./)
  // A migration or a batch of another session: what the doctor needs to read stays readable.
  await client.query('begin; select pg_advisory_lock(1); lock table notes in share row exclusive mode')
  assert.match(doctor('less.yaml')['migration'] ?? '', /^problem: The next start may be refused/)
  assert.match(doctor()['database'] ?? '', /^ok: PostgreSQL /)
  await client.query('lock table notes in access exclusive mode')
  assert.match(doctor()['database'] ?? '', /^problem: PostgreSQL is busy\. canceling statement due to lock timeout$/)
  await client.query('rollback')
})
