import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { showProgress } from 'resourced-check/terminal'
import { commandFile } from '../../../../test/command-file.ts'

/** Progress on a screen that remembers, with a clock that is moved by hand. */
function trial(screen: { isTTY?: boolean; columns?: number }) {
  const written: string[] = []
  const time = { now: 0 }
  const progress = showProgress({
    title: 'Importing',
    unit: 'records',
    screen: { ...screen, write: (text) => written.push(text) },
    clock: () => time.now,
  })
  return { written, time, progress }
}

test('on a terminal, the bar is redrawn in place with percentage, count and rate', () => {
  const { written, time, progress } = trial({ isTTY: true, columns: 100 })
  time.now = 1_000
  progress.update(1_500, 0.5)
  time.now = 1_010
  progress.update(1_600, 0.6)
  time.now = 2_000
  progress.update(3_000, 1)
  progress.end()
  const bar = '━'.repeat(30)
  assert.deepEqual(written.map(stripVTControlCharacters), [
    `Importing  ${bar}   50 %  1,500 records  1,500/s`,
    '\r',
    `Importing  ${bar}  100 %  3,000 records  1,500/s`,
    '\r',
  ])
})

test('a message replaces the bar', () => {
  const { written, progress } = trial({ isTTY: true, columns: 100 })
  progress.update(1, undefined)
  progress.say('line 7: REQUIRED')
  assert.equal(written.join(''), 'Importing  1 records  1,000/s\r\x1b[Kline 7: REQUIRED\n')
})

test('a terminal that is too narrow gets no bar, and never a second line', () => {
  for (const columns of [10, 20, 40, 60, 70]) {
    const { written, progress } = trial({ isTTY: true, columns })
    progress.update(1_000_000, 0.5)
    assert.ok(stripVTControlCharacters(written.join('')).length < columns)
  }
})

test('without a terminal, a line is written every three seconds', () => {
  const { written, time, progress } = trial({})
  for (time.now = 0; time.now <= 7_000; time.now += 500) progress.update(time.now, time.now / 10_000)
  progress.end()
  assert.deepEqual(written, ['Importing: 30 %  3,000 records  1,000/s\n', 'Importing: 60 %  6,000 records  1,000/s\n'])
})

const example = (name: string) => fileURLToPath(new URL(`../../../../examples/${name}/resources.yaml`, import.meta.url))

test('help shows the help of a command below another one', () => {
  const printed = (...given: string[]) =>
    spawnSync(process.execPath, [commandFile, ...given], { encoding: 'utf8' }).stdout
  assert.match(printed('help', 'keys', 'create'), /^Usage: resourced keys create /)
  assert.match(printed('help', 'keys'), /^Usage: resourced keys \[options\] \[command\]/)
})

for (const given of [
  ['openapi', example('atlas')],
  ['check-changes', example('atlas'), example('studio'), '--format', 'json'],
  ['serve', '--help'],
]) {
  test(`${given[0]} ends quietly if nobody reads its output`, async () => {
    const child = spawn(process.execPath, [commandFile, ...given], { stdio: ['ignore', 'pipe', 'pipe'] })
    // Before anything is printed: every write fails.
    child.stdout.destroy()
    let errors = ''
    child.stderr.on('data', (piece) => {
      errors += piece
    })
    const [, signal] = await once(child, 'close')
    assert.deepEqual([errors, signal], ['', null])
  })
}
