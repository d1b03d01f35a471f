/** TEN-3, TEN-4: the commands of tenants, run as processes while a server serves. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { completeCatalog } from 'resourced-contract/model/catalog'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import type { Diagnosis } from '../../packages/server/src/cli/doctor/diagnosis.ts'
import { openToImport, withOperators } from '../../packages/server/src/cli/open-operators.ts'
import { openHost } from '../../packages/server/src/server/open-database.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { commandFile } from '../command-file.ts'
import { newDatabase } from '../engine.ts'
import { member, operator, type TenantTrial, tenantTrial } from './tenants.ts'

const folder = mkdtempSync(join(tmpdir(), 'resourced-tenants-'))
after(() => rmSync(folder, { recursive: true }))

type Fields = Readonly<Record<string, object>>

function declarationOf(more: Fields = {}): InterfaceDeclaration {
  const fields = { title: { type: 'string' }, sku: { type: 'string', unique: true, optional: true }, ...more } as never
  const access = { read: 'anyone', create: 'anyone', update: 'anyone' } as const
  return { name: 'shop', tenants: { caller: 'claims.team' }, resources: { books: { fields, access } } }
}

/** The id of a database that no tenant has. */
const orphan = '01a2278f-4a3c-7242-af60-2fd78b12e299'

const database = await newDatabase()
declare(declarationOf())

function declare(declaration: InterfaceDeclaration): void {
  writeFileSync(join(folder, 'resources.json'), JSON.stringify(declaration))
}

function run(words: readonly string[], address = database.address) {
  const env = { ...process.env, DATABASE_URL: address }
  const { status, stdout, stderr } = spawnSync(process.execPath, [commandFile, ...words], {
    ...{ cwd: folder, encoding: 'utf8', env },
  })
  return { status, stdout, stderr }
}

function made(...words: string[]): string {
  const { status, stdout, stderr } = run(words)
  assert.equal(status, 0, stderr)
  return stdout.trim()
}

/** A command line that is refused, and what it must say. */
function refused(words: readonly string[], said: RegExp, code = 1): void {
  const { status, stdout, stderr } = run(words)
  assert.deepEqual([status, stdout], [code, ''], stderr)
  assert.match(stderr, said)
}

async function titles({ send }: TenantTrial, as: Parameters<TenantTrial['send']>[0]['as']): Promise<string[]> {
  for (let attempt = 0; ; attempt++) {
    const { status, json, text } = await send({ path: '/v1/books', as })
    if (status === 200) return json.data.map(({ title }: { title: string }) => title)
    // It is migrated first.
    assert.ok(status === 503 && attempt < 1_000, text)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const hasAcme = made('tenants', 'create', 'acme')

test('TEN-3: tenants are created and listed, and a name is refused that is taken or none', async () => {
  refused(['tenants', 'create', 'acme'], /"acme" is taken/)
  refused(['tenants', 'create', 'a\tb'], /1 to 128 characters/, 2)
  refused(['tenants', 'create', ''], /1 to 128 characters/, 2)
  const [{ created_at, ...listed }] = JSON.parse(made('tenants', 'list', '--json'))
  assert.ok(Date.parse(created_at) <= Date.now())
  const known = { id: hasAcme, name: 'acme', state: 'active', bytes: null, deleted_at: null, maintenance: null }
  assert.deepEqual(listed, known)
  const without = await newDatabase()
  const { status, stderr } = run(['tenants', 'list'], without.address)
  assert.deepEqual([status, stderr.includes('There is no database of Resourced')], [1, true], stderr)
})

test('TEN-2: keys belong to a tenant, and name no other one', async () => {
  refused(['keys', 'create', '--subject', 'x', '--tenant', 'nobody'], /no tenant "nobody"/)
  const other = ['--tenant', 'acme', '--claims', '{"team":"globex"}']
  refused(['keys', 'create', '--subject', 'x', ...other], /names another tenant/, 2)
  const key = made('keys', 'create', '--subject', 'ann', '--tenant', 'acme', '--claims', '{"team":"acme"}')
  const trial = await tenantTrial(declarationOf(), { database })
  assert.deepEqual(await titles(trial, key), [])
  const [{ id }] = JSON.parse(made('keys', 'list', '--tenant', 'acme', '--json'))
  assert.deepEqual(JSON.parse(made('keys', 'list', '--json')), [], 'operators see their own')
  assert.equal(run(['keys', 'revoke', id, '--tenant', 'acme']).status, 0)
  await trial.stop()
})

test('TEN-3: a copy of a tenant has its records, and neither its keys nor its cursors', async () => {
  const key = made('keys', 'create', '--subject', 'bob', '--tenant', 'acme')
  const trial = await tenantTrial(declarationOf(), { database })
  for (const title of ['One', 'Two']) {
    const answer = await trial.send({ path: '/v1/books', as: key, body: { title, sku: title } })
    assert.equal(answer.status, 201, answer.text)
  }
  const file = join(folder, 'acme.backup')
  made('tenants', 'export', 'acme', file)
  refused(['tenants', 'export', 'acme', file], /exists/)
  refused(['tenants', 'import', 'acme', file], /"acme" is taken/)
  const { status, stderr } = run(['tenants', 'import', 'copy', file])
  assert.equal(status, 0, stderr)
  assert.match(stderr, /2 records into the tenant "copy".* revoked here: 2/s)
  const own = { path: '/v1/books', as: member('acme') }
  assert.equal((await trial.send({ ...own, body: { title: 'Three' } })).status, 201)
  assert.deepEqual([await titles(trial, member('copy')), (await titles(trial, key)).length], [['One', 'Two'], 3])
  const { json } = await trial.send({ ...own, path: '/v1/books?limit=1' })
  const asked = `/v1/books?limit=1&cursor=${json.pagination.next_cursor}`
  assert.equal((await trial.send({ path: asked, as: member('acme') })).status, 200)
  assert.equal((await trial.send({ path: asked, as: member('copy') })).json.code, 'INVALID_CURSOR')
  await trial.stop()
})

test('TEN-3: copies of all tenants are made in a folder, and one that is there stays', async () => {
  const copies = join(folder, 'copies')
  const ids = JSON.parse(made('tenants', 'list', '--json')).map(({ id }: { readonly id: string }) => `${id}.backup`)
  assert.match(run(['tenants', 'export', '--all', copies]).stderr, /Copied 2 tenants to /)
  assert.ok(readdirSync(copies).length === 2 && readdirSync(copies).every((name) => ids.includes(name)))
  const [first = '', second = ''] = readdirSync(copies)
  const before = statSync(join(copies, first)).mtimeMs
  rmSync(join(copies, second))
  assert.match(run(['tenants', 'export', '--all', copies]).stderr, /Copied 1 tenant to .* were there before.*: 1\./s)
  assert.deepEqual([readdirSync(copies), statSync(join(copies, first)).mtimeMs], [[first, second], before])
  for (const words of [['acme'], ['acme', 'file', '--all', copies], []])
    refused(['tenants', 'export', ...words], /Name a tenant and a file, or a folder/, 2)
})

test('TEN-3: copies of all tenants have those that only commands have filled, and no import passes a move', async () => {
  const place = await newDatabase()
  const done = (...words: string[]) => {
    const { status, stdout, stderr } = run(words, place.address)
    assert.equal(status, 0, stderr)
    return stdout.trim()
  }
  const ids = ['filled', 'keyed', 'unused'].map((name) => done('tenants', 'create', name))
  const file = join(folder, 'books.ndjson')
  writeFileSync(file, '{"title":"One","sku":"1"}\n')
  done('import', 'books', file, '--tenant', 'filled')
  done('keys', 'create', '--subject', 'x', '--tenant', 'keyed')
  const copies = join(folder, 'filled-copies')
  done('tenants', 'export', '--all', copies)
  assert.deepEqual(readdirSync(copies).sort(), [`${ids[0]}.backup`, `${ids[1]}.backup`].sort())

  const catalog = completeCatalog(declarationOf())
  const storage = await openToImport({ database: place.address, tenant: ids[0], databaseUnsafe: true }, catalog)
  await withOperators({ database: place.address }, ({ registry }) => registry.beginMove(ids[0] as string, 0, 0))
  await assert.rejects(storage.load([], 'stop'), /is moving by now/)
  await assert.rejects(storage.loadAll({} as never), /is moving by now/)
  await storage.close()
})

test('DEL-7: one confirmation of the clock is for the databases of tenants too', async () => {
  made('purge', 'confirm')
  const host = await openHost({ database: database.address, databaseUnsafe: true })
  for (const { tenant } of await host.databases()) {
    const opened = await host.administer(tenant).openMaintenance()
    const confirmed = await opened?.purgeClock.read().finally(opened.close)
    assert.ok(confirmed !== undefined && Date.now() - confirmed < 600_000)
  }
  await host.close()
})

test('TEN-3: a file that is no backup makes no tenant', () => {
  refused(['tenants', 'import', 'mistaken', 'resources.json'], /not a backup/)
  refused(['tenants', 'import', 'mistaken', 'none.backup'], /no file/)
  assert.doesNotMatch(made('tenants', 'list'), /mistaken/)
})

test('TEN-3: an import that was interrupted is served to nobody, and begins anew', async () => {
  const backup = join(folder, 'acme.backup')
  const bytes = readFileSync(backup)
  const damaged = join(folder, 'damaged.backup')
  writeFileSync(damaged, bytes.fill(1, 100_000, 100_009))
  assert.equal(run(['tenants', 'import', 'later', damaged]).status, 1)
  const trial = await tenantTrial(declarationOf(), { database })
  assert.equal((await trial.send({ path: '/v1/books', as: member('later') })).json.code, 'UNKNOWN_TENANT')
  assert.equal(run(['tenants', 'import', 'later', backup]).status, 0)
  // A snapshot lasts for a turn of the event loop.
  await new Promise(setImmediate)
  assert.deepEqual(await titles(trial, member('later')), ['One', 'Two'])
  await trial.stop()
})

test('TEN-1: a database without tenants becomes a tenant', async () => {
  const { tenants: _, ...plain } = declarationOf()
  const before = await newDatabase()
  const file = join(folder, 'plain.backup')
  declare(plain)
  writeFileSync(join(folder, 'books.json'), '[{ "title": "Old" }]')
  assert.equal(run(['import', 'books', 'books.json'], before.address).status, 0)
  assert.equal(run(['backup', file], before.address).status, 0)
  declare(declarationOf())
  made('tenants', 'import', 'old', file)
  const trial = await tenantTrial(declarationOf(), { database })
  assert.deepEqual(await titles(trial, member('old')), ['Old'])
  await trial.stop()
})

test('TEN-2: commands of one database leave the tenants where they are, and name those of tenants', async () => {
  // Before, it dropped the tables of tenants, whose rows are of no declared collection.
  assert.match(made('migrate', '--apply'), /nothing to do.*resourced tenants migrate/s)
  assert.equal(JSON.parse(made('tenants', 'list', '--json')).length, 4)
  refused(['move', '--from', database.address, '--to', 'sqlite:other.db'], /resourced tenants move/, 2)
  refused(['import', 'books', 'books.json'], /--tenant NAME/, 2)
  const backup = run(['backup', join(folder, 'operators.backup')])
  assert.match(backup.stderr, /Not in the backup: the databases of [34] tenants\. .*tenants export/)
  assert.equal(run(['import', 'books', 'books.json', '--tenant', 'later']).status, 0)
  const trial = await tenantTrial(declarationOf(), { database })
  assert.deepEqual([...(await titles(trial, member('later')))].sort(), ['Old', 'One', 'Two'])
  assert.deepEqual(await titles(trial, member('copy')), ['One', 'Two'])
  await trial.stop()
})

test('TEN-2: the records of a declaration without tenants are not dropped by migrate', async () => {
  const { tenants: _, ...plain } = declarationOf()
  const before = await newDatabase()
  declare(plain)
  assert.equal(run(['import', 'books', 'books.json'], before.address).status, 0)
  declare(declarationOf())
  const { status, stderr } = run(['migrate', '--apply'], before.address)
  assert.deepEqual([status, /records of one without: books.*tenants import/s.test(stderr)], [1, true], stderr)
})

test('TEN-4: the doctor counts tenants, and finds databases that belong to none', async () => {
  const of = () => {
    const found: Diagnosis[] = JSON.parse(run(['doctor', '--json', '--port', '0', '--database-unsafe']).stdout)
    return found.filter(({ check }) => check === 'tenants')
  }
  assert.deepEqual(of(), [
    { check: 'tenants', severity: 'ok', finding: '4 tenants, all of which fit the declaration.' },
  ])
  declare(declarationOf({ pages: { type: 'integer', optional: true } }))
  assert.match(
    of()[0]?.finding ?? '',
    /^4 tenants\. Not yet brought up to the declaration: 4, such as "acme", "copy", /,
  )
  declare(declarationOf())
  const host = await openHost({ database: database.address, databaseUnsafe: true })
  const storage = await host.administer(orphan).open(completeVersions(declarationOf()).stored, {})
  await storage.close()
  const [, found] = of()
  assert.equal(found?.severity, 'warning')
  assert.match(found.finding, /^No tenant has the database .*01a2278f.*4a3c/)
  assert.match(found.remedy ?? '', /rm -r .*01a2278f|drop schema resourced_01a2278f.* cascade/)
  await host.remove(orphan)
  await host.close()
  assert.equal(of().length, 1)
  const ofTenant = (name: string) => run(['doctor', '--port', '0', '--database-unsafe', '--tenant', name])
  assert.match(ofTenant('acme').stdout, /ok +migration +The database fits the declaration\.(.*\n)*ok +migration/)
  const missing = ofTenant('nobody')
  assert.deepEqual(
    [missing.status, /"nobody" does not exist\. resourced tenants list shows/.test(missing.stdout)],
    [1, true],
  )
})

test('ERR-6: maintenance of a tenant is turned on and off, shown, and neither copied nor moved', async (context) => {
  const acme = ['--tenant', 'acme']
  const off = 'Maintenance of the tenant "acme" is off.\n'
  assert.deepEqual(run(['maintenance', 'status', ...acme]), { status: 0, stdout: off, stderr: '' })
  const on = run(['maintenance', 'on', ...acme, '--message', 'Back soon.', '--retry-after', 'PT2M'])
  assert.deepEqual([on.status, on.stdout], [0, ''], on.stderr)
  for (const said of [
    'Maintenance of the tenant "acme" is on.',
    'refuses changes of this tenant like this: 503, Retry-After: 120, “Back soon.”',
    'Reads are answered',
    'maintenance off --tenant "acme" --database',
  ])
    assert.ok(on.stderr.includes(said), on.stderr)
  assert.match(run(['maintenance', 'on', ...acme]).stderr, /"acme" was on already, since /)
  assert.match(
    made('maintenance', 'status', ...acme),
    /^Maintenance of the tenant "acme" is on since .*\nClients are told: /,
  )
  assert.equal(made('maintenance', 'status'), 'Maintenance is off.')
  assert.equal(made('maintenance', 'status', '--tenant', 'copy'), 'Maintenance of the tenant "copy" is off.')
  assert.match(made('tenants', 'list'), /^"acme" .*active, maintenance/m)
  const listed = JSON.parse(made('tenants', 'list', '--json')) as { name: string; maintenance: unknown }[]
  assert.deepEqual(
    listed.filter(({ maintenance }) => maintenance !== null).map(({ name }) => name),
    ['acme'],
  )
  const doctor = run(['doctor', '--port', '0', '--database-unsafe'])
  assert.match(doctor.stdout, /"acme" is under maintenance since .*resourced maintenance off --tenant "acme"/)
  // It is about the present of one database, whichever way a copy of it is made.
  const copied = await newDatabase()
  context.after(() => copied.remove())
  const file = join(folder, 'under-maintenance.backup')
  made('backup', file)
  assert.equal(run(['restore', file], copied.address).status, 0)
  const switches = "select key from resourced_meta where key like 'maintenance%'"
  assert.deepEqual(
    [await database.rows(switches), await copied.rows(switches)],
    [[{ key: `maintenance:${hasAcme}` }], []],
  )
  const ended = run(['maintenance', 'off', ...acme])
  assert.match(ended.stderr, /^Maintenance of the tenant "acme" is off; it was on since /)
  assert.equal(run(['maintenance', 'off', ...acme]).stderr, 'Maintenance of the tenant "acme" was off already.\n')
  refused(['maintenance', 'on', '--tenant', 'nobody'], /no tenant "nobody".*tenants list/)
  const without = await newDatabase()
  context.after(() => without.remove())
  assert.match(run(['maintenance', 'on', ...acme], without.address).stderr, /There is no database of Resourced/)
  assert.equal(run(['maintenance', 'on', ...acme], 'sqlite::memory:').status, 2)
})

test('TEN-3: a declaration without tenants does not make a database forget them', async () => {
  const { tenants: _, ...plain } = declarationOf()
  declare(plain)
  for (const words of [['migrate'], ['migrate', '--apply']]) refused(words, /has tenants, and the declaration has none/)
  declare(declarationOf())
  assert.match(made('tenants', 'list'), /"acme"/)
})

test('TEN-4: tenants are migrated by the command, also where data is lost', async () => {
  const changed = declarationOf({ year: { type: 'integer', optional: true } })
  const { sku: _, ...fields } = changed.resources['books']!.fields as never as Record<string, object>
  const resources = { books: { ...changed.resources['books'], fields } } as never
  const next: InterfaceDeclaration = { ...changed, resources }
  declare(next)
  const trial = await tenantTrial(next, { database })
  assert.equal((await trial.send({ path: '/v1/books', as: member('acme') })).json.code, 'TENANT_MIGRATING')
  // A command blocks this process, and with it the migrations that it would wait for.
  for (let refusals = -1; refusals !== trial.seen.length; await new Promise((resolve) => setTimeout(resolve, 500))) {
    refusals = trial.seen.length
  }
  assert.match(made('tenants', 'migrate'), /drop the column books\.sku.*--apply/s)
  assert.match(made('tenants', 'migrate', '--apply'), /Done\./)
  assert.deepEqual(await titles(trial, member('copy')), ['One', 'Two'])
  assert.match(made('tenants', 'migrate'), /nothing to do/)
  await trial.stop()
})

test('TEN-3: a tenant moves with its keys, and is not served where it was', async () => {
  const target = await newDatabase()
  const key = made('keys', 'create', '--subject', 'eve', '--tenant', 'copy')
  made('tenants', 'move', 'copy', '--from', database.address, '--to', target.address)
  const declaration = JSON.parse(JSON.stringify({ ...declarationOf({ year: { type: 'integer', optional: true } }) }))
  delete declaration.resources.books.fields.sku
  const [before, now] = [
    await tenantTrial(declaration, { database }),
    await tenantTrial(declaration, { database: target }),
  ]
  assert.deepEqual(await titles(now, key), ['One', 'Two'])
  for (const as of [key, member('copy')]) {
    assert.equal((await before.send({ path: '/v1/books', as })).json.code, 'TENANT_MIGRATING')
  }
  const { json } = await before.send({ path: '/v1/tenants?name=copy', as: operator })
  const [{ id, state }] = json.data
  assert.equal(state, 'moving')
  assert.equal((await before.send({ method: 'DELETE', path: `/v1/tenants/${id}`, as: operator })).status, 204)
  await Promise.all([before.stop(), now.stop()])
})
