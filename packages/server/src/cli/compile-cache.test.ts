/** The compile cache: compiled code runs unverified, so only a folder that no other user can write may hold it. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const isRoot = process.geteuid?.() === 0
const nobody = 65_534
const notRoot = isRoot ? false : 'only root can give a folder to another user'
const windows = process.platform === 'win32' ? 'Windows has no modes' : false
const preload = join(import.meta.dirname, 'compile-cache.js')

/** Where a program keeps compiled code, as Node itself says. */
function cacheOf(variables: Readonly<Record<string, string>>): { folder: string | undefined; errors: string } {
  const { NODE_COMPILE_CACHE: _, XDG_CACHE_HOME: __, HOME: ___, ...env } = process.env
  const say = 'process.stdout.write(require("node:module").getCompileCacheDir() ?? "")'
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', preload, '-e', say], {
    encoding: 'utf8',
    env: { ...env, NODE_DEBUG: 'resourced', ...variables },
  })
  assert.equal(status, 0, stderr)
  return { folder: stdout === '' ? undefined : stdout, errors: stderr }
}

function home(context: { after(clean: () => void): void }): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'resourced-home-')))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('compiled code is cached in a folder that only the user can change', { skip: windows }, (context) => {
  const HOME = home(context)
  const usual = join(HOME, process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'resourced', 'compiled')
  assert.equal(cacheOf({ HOME }).folder?.startsWith(usual), true)
  assert.equal((lstatSync(usual).mode & 0o777).toString(8), '700')
  const chosen = join(HOME, 'chosen')
  assert.equal(cacheOf({ HOME, XDG_CACHE_HOME: chosen }).folder?.startsWith(join(chosen, 'resourced')), true)
  // The XDG specification ignores relative paths.
  assert.equal(cacheOf({ HOME, XDG_CACHE_HOME: 'relative' }).folder?.startsWith(usual), true)
})

test('NODE_COMPILE_CACHE takes precedence', { skip: windows }, (context) => {
  const HOME = home(context)
  const named = join(HOME, 'named')
  assert.equal(cacheOf({ HOME, NODE_COMPILE_CACHE: named }).folder?.startsWith(named), true)
  assert.equal(cacheOf({ HOME, NODE_DISABLE_COMPILE_CACHE: '1' }).folder, undefined)
})

test('without a home folder the program runs without a cache', { skip: windows }, () => {
  assert.equal(cacheOf({}).folder, undefined)
  assert.equal(cacheOf({ HOME: '' }).folder, undefined)
  assert.equal(cacheOf({ HOME: '/dev/null' }).folder, undefined)
})

for (const part of ['', '.cache', '.cache/resourced', '.cache/resourced/compiled']) {
  const place = part === '' ? 'the home' : part
  const plant = (context: Parameters<typeof home>[0]) => {
    const above = home(context)
    const HOME = join(above, 'home')
    const planted = join(HOME, part)
    mkdirSync(planted, { recursive: true, mode: 0o700 })
    return { variables: { HOME, XDG_CACHE_HOME: join(HOME, '.cache') }, planted, above }
  }

  test(`no code is loaded if others can write ${place}`, { skip: windows }, (context) => {
    const { variables, planted } = plant(context)
    for (const mode of [0o777, 0o1777, 0o770]) {
      chmodSync(planted, mode)
      const { folder, errors } = cacheOf(variables)
      assert.equal(folder, undefined, mode.toString(8))
      assert.match(errors, /Compiled code is not cached: others can write/)
    }
    chmodSync(planted, 0o700)
    assert.notEqual(cacheOf(variables).folder, undefined)
  })

  test(`no code is loaded if another user owns ${place}`, { skip: windows || notRoot }, (context) => {
    const { variables, planted } = plant(context)
    chownSync(planted, nobody, nobody)
    assert.equal(cacheOf(variables).folder, undefined)
  })

  test(`nothing is loaded if ${place} is a link to a folder of another user`, {
    skip: windows || notRoot,
  }, (context) => {
    const { variables, planted, above } = plant(context)
    const other = join(above, 'other')
    mkdirSync(other)
    chownSync(other, nobody, nobody)
    rmSync(planted, { recursive: true })
    symlinkSync(other, planted)
    assert.equal(cacheOf(variables).folder, undefined)
  })
}
