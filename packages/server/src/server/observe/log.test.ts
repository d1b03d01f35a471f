import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { inBlocks } from './log.ts'

test('lines are written in blocks, in order', () => {
  const written: string[] = []
  const { write } = inBlocks((block) => written.push(block))
  const line = `${'x'.repeat(99)}\n`
  for (let number = 0; number < 159; number++) write(line)
  assert.deepEqual(written, [])
  write(line)
  assert.deepEqual(written, [line.repeat(160)])
})

test('no line is delayed for more than a second', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const written: string[] = []
  const { write } = inBlocks((block) => written.push(block))
  write('a\n')
  context.mock.timers.tick(600)
  write('b\n')
  assert.deepEqual(written, [])
  context.mock.timers.tick(400)
  assert.deepEqual(written, ['a\nb\n'])
  context.mock.timers.tick(5_000)
  assert.deepEqual(written, ['a\nb\n'], 'nothing is written twice')
})

test('a flush writes at once, and nothing if there are no lines', () => {
  const written: string[] = []
  const { write, flush } = inBlocks((block) => written.push(block))
  flush()
  write('a\n')
  flush()
  flush()
  assert.deepEqual(written, ['a\n'])
})

test('OPS-1: undelayed lines are written in order, before the process ends', () => {
  const lines = 2_000
  const program = `
    const { standardOutput, outputWritten } = await import(${JSON.stringify(import.meta.resolve('./log.ts'))})
    const { write, flush } = standardOutput()
    for (let line = 0; line < ${lines}; line++) {
      write(line + '\\n')
      flush()
      if (line % 100 === 0) await new Promise(setImmediate)
    }
    await outputWritten(60_000)
    process.exit(0)`
  const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  assert.equal(status, 0)
  assert.deepEqual(
    stdout.split('\n').slice(0, -1).map(Number),
    Array.from({ length: lines }, (_, line) => line),
  )
})

test('OPS-2: the end of the process waits a limited time for a log that nobody reads', async () => {
  const program = `
    const { standardOutput, outputWritten } = await import(${JSON.stringify(import.meta.resolve('./log.ts'))})
    const { write, flush } = standardOutput()
    write('x'.repeat(1_000_000))
    flush()
    const begun = performance.now()
    await outputWritten(100)
    process.stderr.write(String(performance.now() - begun))
    process.kill(process.pid, 'SIGKILL') // exit() would wait for the pipe`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] })
  let took = ''
  child.stderr.on('data', (piece) => {
    took += piece
  })
  await once(child, 'exit')
  child.stdout.destroy()
  assert.ok(Number(took) >= 99, took)
})
