/**
 * Bad input to every command, as processes: each ends in one clear sentence, without a stack, with exit code 2 for wrong
 * use and 1 for a failure, and creates nothing. A reader that closes the pipe ends a command quietly.
 */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { allCommands, type CommandDescription, describeProgram } from '../packages/server/src/cli/completion.ts'
import { program } from '../packages/server/src/cli/program.ts'
import { commandFile } from './command-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'errors-'))
after(() => rmSync(folder, { recursive: true, force: true }))

writeFileSync(
  join(folder, 'resources.yaml'),
  'name: notes\nresources: { notes: { fields: { text: { type: string } } } }\n',
)
writeFileSync(join(folder, 'wrong.json'), '{')
writeFileSync(join(folder, 'text'), 'This is a text.\n'.repeat(100))
mkdirSync(join(folder, 'folder'))
mkdirSync(join(folder, 'folder.yaml'))
// A file that can be named but not opened, even by root.
const socket = createServer().listen(join(folder, 'socket'))
await once(socket, 'listening')
after(() => socket.close())

const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:DATABASE|PORT|HOST)/.test(name)))

function run(given: readonly string[]) {
  const options = { cwd: folder, encoding: 'utf8', env, timeout: 120_000, input: '' } as const
  return spawnSync(process.execPath, [commandFile, ...given], options)
}

const files = () => readdirSync(folder, { recursive: true }).toSorted()
const before = files()

function fails(given: readonly string[], code: 1 | 2, expected: RegExp): void {
  const { status, stdout, stderr } = run(given)
  assert.equal(status, code, `${given.join(' ')}: ${stderr}`)
  assert.match(stderr, expected)
  assert.doesNotMatch(stderr, /\n {4}at |node:internal|Error:/, 'no stack')
  assert.doesNotMatch(stdout + stderr, /sEcReT/)
  assert.deepEqual(files(), before, 'nothing is created')
}

/** The words of a command with its required arguments and options. */
function complete({ path, usage, options }: CommandDescription): string[] {
  const required = [...usage.matchAll(/<[^>]+>/g)].map(() => 'bash')
  const given = options.filter(({ isRequired }) => isRequired).flatMap(({ names }) => [names[0] ?? '', 'x'])
  return [...path.split(' '), ...required, ...given]
}

const commands = [...allCommands(describeProgram(program))].filter(({ path }) => path !== '' && !/help$/.test(path))

describe('every command refuses what it does not know with exit code 2', () => {
  for (const command of commands) {
    test(command.path, () => {
      fails([...complete(command), '--no-such-option=x://a:sEcReT@b'], 2, /^error: unknown option '--no-such/)
      if (command.commands.length > 0) return
      fails([...complete(command), 'a', 'b', 'c'], 2, /^error: too many arguments/)
      for (const { names, value, isRequired } of command.options) {
        const [name = ''] = names
        if (value === undefined || isRequired) continue
        fails([...complete(command), name], 2, /^error: option '.*' argument missing/)
        if (value.choices.length === 0) continue
        fails([...complete(command), name, 'nonsense'], 2, /^error: option '.*' argument 'nonsense' is invalid/)
      }
    })
  }
})

const wrongUse: readonly [string, RegExp][] = [
  ['nonsense', /^error: unknown command 'nonsense'/],
  ['--nonsense', /^error: unknown option/],
  ['keys nonsense', /^error: unknown command 'nonsense'/],
  ['keys create', /^error: required option '--subject <name>'/],
  ['keys create --subject a --expires never', /^--expires takes an ISO 8601 duration/],
  ['keys list --database nonsense', /^The database address is not understood/],
  ['keys list --database sqlite://a:sEcReT@b', /^The database address is not understood/],
  ['keys list --database sqlite::memory:', /^A database in memory has no keys/],
  ['maintenance on --retry-after soon', /^--retry-after takes/],
  ['maintenance on --message=', /^--message takes one line/],
  ['serve --port 65536', /^--port takes a number from 0 to 65535/],
  ['serve --metrics-port x', /^--metrics-port takes a number/],
  ['serve --database-pool 0', /^--database-pool takes a number/],
  ['doctor --port x', /^--port takes a number/],
  ['openapi --version v9', /^There is no such version/],
  ['completion csh', /^error: command-argument value 'csh' is invalid/],
  ['inspect', /^No database is named/],
  ['inspect sqlite:a.db', /^Only tables of PostgreSQL can be inspected/],
  ['check nonsense:x', /^The address has to be an HTTP address/],
  ['check http://127.0.0.1:1 --only XXX', /^--only takes sections and rules/],
  ['check-changes none none', /^One thing is wrong in none/],
]

const failures: readonly [string, RegExp][] = [
  ...['keys list', 'keys revoke x', 'maintenance status', 'maintenance off', 'purge status', 'purge confirm'].map(
    (command): [string, RegExp] => [
      `${command} --database sqlite:none.db`,
      /^There is no database of Resourced at none/,
    ],
  ),
  ...['keys list', 'keys create --subject a', 'purge status', 'migrate', 'migrate --apply', 'serve --http'].map(
    (command): [string, RegExp] => [`${command} --database sqlite:folder`, /^folder is a folder\. Name a file/],
  ),
  ['keys list --database sqlite:text', /^The database text cannot be used: file is not a database\. Name another file/],
  ['keys create --subject a --database sqlite:text/x.db', /text cannot be opened: a part of its path is a file/],
  ['keys list --database postgres://a:sEcReT@127.0.0.1:1/x', /^No PostgreSQL server listens at 127\.0\.0\.1, port 1/],
  ['serve none.yaml', /^One thing is wrong in none\.yaml/],
  ['serve folder.yaml', /^One thing is wrong in folder\.yaml/],
  ['serve wrong.json', /^One thing is wrong in wrong\.json/],
  ['serve text', /^One thing is wrong in text/],
  ['serve --tls-cert none --tls-key none', /^none cannot be read/],
  ['serve --tls-cert folder --tls-key folder', /^folder cannot be read/],
  ['openapi none.yaml', /^One thing is wrong in none\.yaml/],
  ['migrate none.yaml', /^One thing is wrong in none\.yaml/],
  ['import things text', /^There is no collection "things"/],
  ['import notes none.json', /none\.json/],
  ['import notes folder --format json', /folder/],
  ['import notes socket --format csv', /^socket cannot be opened[^\n]*\n$/],
  ['import notes text --format json', /^line 1: MALFORMED_JSON: .*\nStopped\. Nothing is imported\.\n/],
  ['import notes socket --format csv --database sqlite:text', /^The database text cannot be used: [^\n]*\n$/],
  ['move --from sqlite:none.db --to sqlite:other.db', /^There is no database of Resourced at none/],
]

describe('wrong use exits with 2', () => {
  for (const [line, expected] of wrongUse) test(line, () => fails(line.split(' '), 2, expected))
})

describe('a failure exits with 1', () => {
  for (const [line, expected] of failures) test(line, () => fails(line.split(' '), 1, expected))
  const skip = existsSync('/proc/self') ? false : 'there is no /proc'
  test('a file system that refuses folders', { skip }, () => {
    fails(
      ['keys', 'create', '--subject', 'a', '--database', 'sqlite:/proc/none/x.db'],
      1,
      /^\/proc\/none does not exist/,
    )
  })
})

describe('the reader of the output', () => {
  for (const line of [
    'openapi',
    'check-changes resources.yaml resources.yaml',
    '--help',
    'completion bash',
    'schema',
  ]) {
    test(`may close the pipe: ${line}`, async () => {
      const child = spawn(process.execPath, [commandFile, ...line.split(' ')], { cwd: folder, env })
      child.stdout.destroy()
      let said = ''
      child.stderr.on('data', (text) => {
        said += text
      })
      const [code, signal] = await new Promise<[number | null, string | null]>((resolve) =>
        child.on('close', (...end) => resolve(end)),
      )
      assert.deepEqual({ code, signal, said }, { code: 0, signal: null, said: '' })
    })
  }

  test('may be a full disk', { skip: existsSync('/dev/full') ? false : 'there is no /dev/full' }, () => {
    const command = `"${process.execPath}" "${commandFile}" openapi > /dev/full`
    const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8', env })
    assert.deepEqual(
      { status, stderr },
      { status: 1, stderr: 'Standard output cannot be written: the disk is full.\n' },
    )
  })
})
