/** The command `dev`, run as a process in folders of its own. What it prints is waited for; nothing is timed. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandFile } from '../../../../test/command-file.ts'
import { isKey } from '../policy/api-keys.ts'

const base = mkdtempSync(join(tmpdir(), 'resourced-dev-'))
const started = new Set<ChildProcess>()
after(async () => {
  for (const child of started) {
    const ended = child.exitCode === null && child.signalCode === null ? once(child, 'close') : undefined
    child.kill('SIGKILL')
    await ended
  }
  rmSync(base, { recursive: true })
})

const extras = (names: readonly string[]) => names.map((name) => `      ${name}: { type: string, optional: true }\n`)
/** A declaration with more fields. */
const declared = (names: readonly string[] = [], title = 'Notes') =>
  `name: notes\ntitle: ${title}\nresources:\n  notes:\n    fields:\n      text: { type: string, minLength: 1 }\n` +
  extras(names).join('')

function newFolder(name: string, text = declared()): string {
  const folder = join(base, name)
  mkdirSync(folder)
  if (text !== '') writeFileSync(join(folder, 'resources.yaml'), text)
  return folder
}

/** A server that is being edited. */
async function startDev(folder: string, ...given: readonly string[]) {
  const child = spawn(process.execPath, [commandFile, 'dev', '--port', '0', ...given], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  started.add(child)
  let printed = ''
  let seen = 0
  let awaken = () => {}
  const ended = once(child, 'close').then(([code, signal]) => {
    awaken()
    return code ?? signal
  })
  child.stderr.on('data', (piece) => {
    printed += String(piece)
    awaken()
  })
  /** Waits for what is printed after the last match. */
  const prints = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const match = pattern.exec(printed.slice(seen))
      if (match !== null) {
        seen += match.index + match[0].length
        return match
      }
      assert.equal(child.exitCode, null, printed)
      await new Promise<void>((resolve) => {
        awaken = resolve
      })
    }
  }
  const [, url = ''] = await prints(/is served at (\S+)[\s\S]*curl .*\n/)
  const key = readFileSync(join(folder, '.resourced/dev-key'), 'utf8').trim()
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  return {
    ...{ child, url, key, prints, ended },
    printed: () => printed,
    save: (text: string, name = 'resources.yaml') => writeFileSync(join(folder, name), text),
    async list(): Promise<readonly Record<string, unknown>[]> {
      const response = await fetch(`${url}/notes?limit=5`, { headers })
      assert.equal(response.status, 200)
      return ((await response.json()) as { data: Record<string, unknown>[] }).data
    },
    async add(record: object): Promise<number> {
      return (await fetch(`${url}/notes`, { method: 'POST', headers, body: JSON.stringify(record) })).status
    },
    async stop(): Promise<unknown> {
      child.kill('SIGINT')
      return ended
    },
  }
}

test('the first record is one command away; the key is printed once and kept', async () => {
  const folder = newFolder('first')
  const first = await startDev(folder)
  const [, printedKey = ''] = /and is (\S+)/.exec(first.printed()) ?? []
  assert.ok(isKey(printedKey))
  assert.equal(printedKey, first.key)
  if (process.platform !== 'win32') {
    assert.equal(statSync(join(folder, '.resourced/dev-key')).mode & 0o777, 0o600)
  }
  const [, command = ''] = /\n {2}(curl .*)\n/.exec(first.printed()) ?? []
  assert.ok(command.includes('$(cat .resourced/dev-key)'), 'where no terminal shows it, the key is not repeated')
  const run = spawnSync('sh', ['-c', `${command} --silent`], { cwd: folder, encoding: 'utf8' })
  if (run.status !== 127) assert.equal(JSON.parse(run.stdout).text, 'Some text', run.stderr)
  assert.equal(await first.stop(), 0)

  const second = await startDev(folder)
  assert.equal(second.key, first.key)
  assert.ok(!second.printed().includes(first.key), second.printed())
  assert.equal(await second.add({ text: 'again' }), 201)
  assert.equal(await second.stop(), 0)
  assert.match(second.printed(), /--json '\{"text":"Some text"\}'\n\n$/, 'SIGINT prints nothing')

  // The key works with a database that has never seen it.
  rmSync(join(folder, '.resourced/data.db'))
  const third = await startDev(folder)
  assert.equal(await third.add({ text: 'anew' }), 201)
  await third.stop()
})

test('no request is lost or refused while the declaration changes 20 times', async () => {
  const server = await startDev(newFolder('hammered'))
  const statuses = new Map<number, number>()
  let done = false
  const hammer = async () => {
    while (!done) {
      const status = await server.add({ text: 'hammered' })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      assert.equal((await server.list()).length > 0, true)
    }
  }
  const clients = Promise.all([hammer(), hammer(), hammer(), hammer()])
  const names: string[] = []
  for (let change = 1; change <= 20; change++) {
    // Every other change needs a migration.
    if (change % 2 === 0) names.push(`extra_${change}`)
    server.save(declared(names, `Notes ${change}`))
    await server.prints(/was changed, and is served at/)
  }
  done = true
  await clients
  assert.deepEqual([...statuses.keys()], [201])
  const [record = {}] = await server.list()
  for (const name of names) assert.ok(name in record, name)
  assert.equal(await server.stop(), 0)
})

test('mistakes, half a file and an absent file leave the last version running', async () => {
  const folder = newFolder('mistaken')
  const file = join(folder, 'resources.yaml')
  const server = await startDev(folder)
  assert.equal(await server.add({ text: 'kept' }), 201)
  server.save(`${declared()}      wrong: [\n`)
  await server.prints(/This is not YAML[\s\S]*still served/)
  server.save('')
  await server.prints(/still served/)
  rmSync(file)
  await server.prints(/There is no such file[\s\S]*still served/)
  assert.equal((await server.list()).length, 1)
  // Editors write another file and rename it.
  writeFileSync(`${file}.new`, declared())
  renameSync(`${file}.new`, file)
  await server.prints(/again as it is served/)
  assert.equal(await server.add({ text: 'kept too' }), 201)
  await server.stop()
})

test('saves in quick succession end with the last one', async () => {
  const server = await startDev(newFolder('quick'))
  for (let number = 0; number < 30; number++) {
    server.save(declared([`number_${number}`]).slice(0, number % 3 === 0 ? 90 : undefined))
    await sleep(20)
  }
  server.save(declared(['last']))
  await server.prints(/add the column notes\.last/)
  assert.equal(await server.add({ text: 'text', last: 'yes' }), 201)
  await server.stop()
})

test('a change that loses data is explained, and not made without an answer', async () => {
  const folder = newFolder('losing', declared(['memo']))
  const server = await startDev(folder)
  assert.equal(await server.add({ text: 'text', memo: 'precious' }), 201)
  server.save(declared())
  await server.prints(/would lose data:\n {2}! drop the column notes\.memo[^\n]*\n.*no terminal to ask/)
  await server.prints(/still served/)
  assert.equal((await server.list())[0]?.memo, 'precious')
  // A start asks as well.
  await server.stop()
  const again = spawnSync(process.execPath, [commandFile, 'dev', '--port', '0'], { cwd: folder, encoding: 'utf8' })
  assert.equal(again.status, 1)
  assert.match(again.stderr, /would lose data:[\s\S]*Nothing was changed\./)
  // Back and forth: an empty column goes and comes as the declaration says.
  writeFileSync(join(folder, 'resources.yaml'), declared(['memo', 'empty']))
  const third = await startDev(folder)
  third.save(declared(['memo']))
  await third.prints(/drop the column notes\.empty/)
  third.save(declared(['memo', 'empty']))
  await third.prints(/add the column notes\.empty/)
  assert.equal((await third.list())[0]?.memo, 'precious')
  await third.stop()
})

test('changes of imported modules are served; a declaration that never ends changes nothing', async () => {
  const folder = newFolder('modules', '')
  const rule = (text: string) => `export const rule: (caller: unknown) => boolean = () => ${text}\n`
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'rule.ts'), rule('false'))
  writeFileSync(
    join(folder, 'resources.ts'),
    `import { defineInterface, Type } from 'resourced'
     import { rule } from './rule.ts'
     export default defineInterface({ name: 'notes', resources: { notes: {
       fields: { text: Type.String() }, access: { create: rule, read: rule } } } })`,
  )
  const server = await startDev(folder)
  assert.equal(await server.add({ text: 'no' }), 403)
  server.save(rule('true'), 'rule.ts')
  await server.prints(/was changed/)
  assert.equal(await server.add({ text: 'yes' }), 201)
  server.save(`${rule('false')}process.exit()\n`, 'rule.ts')
  await server.prints(/ends the process[\s\S]*still served/)
  server.save("export * from './other.ts'\n", 'rule.ts')
  await server.prints(/It imports [^ ]*other\.ts, which is not there/)
  assert.equal(await server.add({ text: 'still' }), 201)
  server.save(rule('false'), 'other.ts')
  await server.prints(/was changed/)
  assert.equal(await server.add({ text: 'no more' }), 403)
  await server.stop()
})

const refused: readonly [name: string, given: readonly string[], files: Record<string, string>, sentence: RegExp][] = [
  ['no declaration', [], {}, /^There is no declaration here: run resourced init to write one, or name a file\.\n$/],
  ['no such file', ['none.yaml'], {}, /There is no such file/],
  ['a mistake', [], { 'resources.yaml': 'name: 3' }, /resources\.yaml/],
  ['a port', ['--port', 'x'], { 'resources.yaml': declared() }, /^--port takes a number/],
  [
    'a database elsewhere',
    ['--database', 'postgres://db.example/app'],
    {},
    /^resourced dev makes a key .* db\.example may be/,
  ],
  ['memory', ['--database', 'sqlite::memory:'], { 'resources.yaml': declared() }, /^resourced dev keeps its data/],
]
for (const [name, given, files, sentence] of refused) {
  test(`it does not start with ${name}`, () => {
    const folder = newFolder(`refused ${name}`, '')
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
    const { status, stderr } = spawnSync(process.execPath, [commandFile, 'dev', ...given], {
      cwd: folder,
      encoding: 'utf8',
    })
    assert.equal(status, ['a port', 'memory', 'a database elsewhere'].includes(name) ? 2 : 1)
    assert.match(stderr, sentence)
    assert.doesNotMatch(stderr, /\n {4}at /)
  })
}
