import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { commandFile } from '../../../../test/command-file.ts'
import { allCommands, completionsOf, describeProgram } from './completion.ts'
import { program } from './program.ts'

function isInstalled(shell: string): boolean {
  return spawnSync(shell, ['-c', 'true']).status === 0
}

const skipped = (shell: string) => (isInstalled(shell) ? false : `${shell} is not installed`)

function scriptFile(context: TestContext, shell: 'bash' | 'zsh' | 'fish'): string {
  const folder = mkdtempSync(join(tmpdir(), 'completion-'))
  context.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'script')
  writeFileSync(file, spawnSync(process.execPath, [commandFile, 'completion', shell]).stdout)
  return file
}

/** What bash would offer for a line, as words at which it splits; the last one is being written. */
function offered(file: string, words: readonly string[]): string[] {
  const line = ['resourced', ...words].map((word) => `'${word}'`).join(' ')
  const script = `resourced() { '${process.execPath}' '${commandFile}' "$@"; }; source '${file}'; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _resourced; printf '%s\\n' "\${COMPREPLY[@]}"`
  // A bash whose input is a socket, as Node's pipes are, takes itself for a remote shell and reads the machine's bashrc.
  const { status, stdout, stderr } = spawnSync('bash', ['-uc', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  assert.equal(status, 0, stderr)
  assert.equal(stderr, '')
  return stdout.split('\n').filter((each) => each !== '')
}

test('bash completes commands, options and values', { skip: skipped('bash') }, (context) => {
  const file = scriptFile(context, 'bash')
  const registered = spawnSync('bash', ['-c', `source '${file}'; complete -p resourced`], { encoding: 'utf8' })
  assert.match(registered.stdout, /-F _resourced resourced/)
  const cases: [string[], string[]][] = [
    [['mai'], ['maintenance']],
    [
      ['keys', ''],
      ['create', 'list', 'revoke', 'help'],
    ],
    [['keys', 'create', '--su'], ['--subject']],
    [['serve', '--log-level', 'w'], ['warn']],
    [
      ['serve', '--log-level', '='],
      ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    ],
    [['serve', '--log-level', '=', 'w'], ['warn']],
    // The name of a command is a value here.
    [['keys', 'create', '--subject', 'list', '--js'], ['--json']],
    [
      ['--version', 'completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['maintenance', 'on', '--retry-after', ''], []],
    // Bash completes files where nothing is offered.
    [['serve', ''], []],
    [['serve', '--tls-cert', ''], []],
    [['nonsense', 'check', '--format', 'ju'], ['junit']],
    [['check', '--format', '$(touch /tmp/never)'], []],
  ]
  for (const [words, expected] of cases) assert.deepEqual(offered(file, words), expected, words.join(' '))
})

for (const [shell, onlyParse] of [
  ['zsh', '-n'],
  ['fish', '--no-execute'],
] as const) {
  test(`${shell} accepts its script`, { skip: skipped(shell) }, (context) => {
    const { status, stderr } = spawnSync(shell, [onlyParse, scriptFile(context, shell)], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  })
}

test('every command and every option is offered', () => {
  const root = describeProgram(program)
  const offers = (words: readonly string[]) => completionsOf(root, words).map(({ name }) => name)
  for (const { path, commands, options } of allCommands(root)) {
    const words = path.split(' ').filter((word) => word !== '')
    assert.deepEqual(
      offers([...words, '-']),
      options.flatMap(({ names }) => names),
      path,
    )
    if (commands.length === 0) continue
    assert.deepEqual(
      offers([...words, '']),
      commands.map(({ name }) => name),
      path,
    )
  }
})
