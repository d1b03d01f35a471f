import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'resourced-prepare-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const program = join(folder, 'program.mjs')
writeFileSync(
  program,
  `import ${JSON.stringify(import.meta.resolve('./prepare-process.js'))}
   const { execArgv: options, env, argv } = process
   console.log(JSON.stringify({ options, args: argv.slice(2), arenas: env.MALLOC_ARENA_MAX }))`,
)

interface Started {
  readonly options: readonly string[]
  readonly args: readonly string[]
  /** The most arenas of malloc. */
  readonly arenas?: string
}

function start(args: readonly string[], options: readonly string[] = [], nodeOptions = ''): Started {
  const { MALLOC_ARENA_MAX: _, ...rest } = process.env
  const env = { ...rest, NODE_OPTIONS: nodeOptions }
  const output = execFileSync(process.execPath, [...options, program, ...args], { env, encoding: 'utf8' })
  return JSON.parse(output) as Started
}

const canRestart = process.platform !== 'win32'

test('a server has a small heap, and its options and arguments', { skip: !canRestart }, () => {
  assert.deepEqual(start(['serve', 'a file.yaml', '--http'], ['--no-warnings']), {
    options: ['--max-semi-space-size=8', '--heap-growing-percent=100', '--no-warnings'],
    args: ['serve', 'a file.yaml', '--http'],
    arenas: '2',
  })
})

test('a young generation that was chosen stays', () => {
  assert.deepEqual(start(['serve'], ['--max-semi-space-size=32']).options, ['--max-semi-space-size=32'])
  assert.deepEqual(start(['serve'], ['--max_semi_space_size=32']).options, ['--max_semi_space_size=32'])
  assert.deepEqual(start(['serve'], [], '--max-semi-space-size=32').options, [])
})

test('a process is not started again under a debugger, which would lose it', () => {
  const options = ['--inspect=127.0.0.1:0']
  assert.deepEqual(start(['serve'], options).options, options)
})

test('a server that may not start processes keeps the young generation of Node.js', () => {
  const options = ['--permission', '--allow-fs-read=*']
  assert.deepEqual(start(['serve'], options).options, options)
})

test('other commands start at once', () => {
  assert.deepEqual(start(['keys', 'create']).options, [])
  assert.deepEqual(start([]).options, [])
})
