/** What may be published: one commit, clean, pushed, described and tested. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { preparedRelease, prepareRelease } from '../../scripts/package/release.ts'
import { blockers, manifestBlockers, type ReleaseState } from '../../scripts/package/release-blockers.ts'

const ready: ReleaseState = {
  changedFiles: [],
  isPushed: true,
  isRootPrivate: true,
  version: '1.2.3',
  changelog: '# Changelog\n\n## Unreleased\n\nNothing yet.\n\n## 1.2.3 — 2026-12-01\n\n- A change.\n',
  isTagged: false,
  isPublished: false,
}

test('a clean, pushed commit of a new version with its changes may be released', () => {
  assert.deepEqual(blockers(ready), [])
})

const refused: readonly [string, Partial<ReleaseState>, RegExp][] = [
  ['a changed file', { changedFiles: [' M src/index.ts'] }, /commit or remove src\/index\.ts\.$/],
  ['an untracked file', { changedFiles: ['?? notes.txt'] }, /commit or remove notes\.txt\.$/],
  ['a commit that is not pushed', { isPushed: false }, /push it/],
  ['a root manifest that can be published', { isRootPrivate: false }, /not private/],
  ['a version with a tag', { isTagged: true }, /1\.2\.3 has been released/],
  ['a version in the registry', { isPublished: true }, /1\.2\.3 has been released/],
  ['a version without an entry', { version: '1.2.4' }, /no heading "## 1\.2\.4 —/],
  ['an entry of a similar version', { version: '1.2.3', changelog: '## 1x2.3 — 2026-12-01\n- A\n' }, /no heading/],
  ['an entry without a date', { changelog: '## 1.2.3\n\n- A change.\n' }, /no heading/],
  ['an entry without a change', { changelog: '## 1.2.3 — 2026-12-01\n\n## 1.2.2 — 2026-11-01\n- A\n' }, /no change/],
]
for (const [title, state, expected] of refused) {
  test(`${title} is refused`, () => {
    const found = blockers({ ...ready, ...state })
    assert.equal(found.length, 1)
    assert.match(found[0] as string, expected)
  })
}

test('everything in the way is reported at once', () => {
  assert.equal(blockers({ ...ready, changedFiles: ['?? a'], isPushed: false, version: '2.0.0' }).length, 3)
})

test('a built package that npm would refuse is not packed', () => {
  const built = { version: '1.2.3', publishConfig: { access: 'public' } }
  assert.deepEqual(manifestBlockers(built, '1.2.3'), [])
  assert.match(String(manifestBlockers({ ...built, private: true }, '1.2.3')), /"private"/)
  assert.match(String(manifestBlockers(built, '1.2.4')), /1\.2\.3, not 1\.2\.4/)
  assert.match(String(manifestBlockers({ version: '1.2.3' }, '1.2.3')), /publishConfig/)
})

/** A repository that is as small as one can be, whose tests do as told. */
function repository(context: TestContext, tests = 'exit 0') {
  const base = mkdtempSync(join(tmpdir(), 'resourced-repository-'))
  context.after(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }))
  const folder = join(base, 'work')
  const git = (...given: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.com', ...given], {
      cwd: existsSync(folder) ? folder : base,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  git('init', '--quiet', '--bare', '--initial-branch=main', join(base, 'hub'))
  git('clone', '--quiet', join(base, 'hub'), folder)
  const write = (name: string, text: string, mode = 0o644) => writeFileSync(join(folder, name), text, { mode })
  mkdirSync(join(folder, '.ci'))
  write('.ci/run', `#!/bin/sh\n${tests}\n`, 0o755)
  write('.gitignore', '.resourced/\ndist/\nignored.js\n')
  write('CHANGELOG.md', ready.changelog)
  write(
    'build.js',
    `const { cpSync, mkdirSync, writeFileSync } = require('node:fs')
const { name, version } = require('./package.json')
mkdirSync('dist/small', { recursive: true })
writeFileSync('dist/small/package.json', JSON.stringify({ name, version, publishConfig: { access: 'public' } }))
cpSync('lib.js', 'dist/small/lib.js')
`,
  )
  write('lib.js', 'module.exports = 1\n')
  const scripts = { build: 'node build.js', 'test:release': 'sh .ci/run' }
  write('package.json', JSON.stringify({ name: 'small', version: '1.2.3', private: true, scripts }))
  const push = () => {
    git('checkout', '--quiet', '-B', 'main')
    git('add', '--all')
    git('commit', '--quiet', '--message', 'Change')
    git('push', '--quiet', 'origin', 'main')
  }
  push()
  const printed: string[] = []
  const options = { folder, isPublished: () => false, print: (line: string) => printed.push(line) }
  return { folder, options, push, git, printed }
}

test('a release is packed from a clone of the commit, and can be published then', (context) => {
  const { folder, options, printed } = repository(context)
  assert.throws(() => preparedRelease(options), /No release has been prepared/)
  // Ignored files are in no clone.
  writeFileSync(join(folder, 'ignored.js'), '')
  const release = prepareRelease(options)
  assert.deepEqual(preparedRelease(options), release)
  const [{ tarball = '' } = {}] = release.packages
  const listed = execFileSync('tar', ['-tf', tarball], { encoding: 'utf8' }).trim().split('\n').sort()
  assert.deepEqual(listed, ['package/lib.js', 'package/package.json'])
  const manifest = execFileSync('tar', ['-xOf', tarball, 'package/package.json'], { encoding: 'utf8' })
  assert.equal(JSON.parse(manifest).private, undefined)
  assert.equal(existsSync(/ in (.+)\.$/.exec(printed[0] ?? '')?.[1] ?? '/'), false)
})

test('a commit whose tests fail is not released', (context) => {
  const { folder, options } = repository(context, 'exit 1')
  assert.throws(() => prepareRelease(options), /The tests failed/)
  assert.equal(existsSync(join(folder, '.resourced/release')), false)
})

test('a release waits for all tests, however long they take', (context) => {
  const { options } = repository(context, '[ "$TEST_UNTIL" = Infinity ]')
  prepareRelease(options)
})

test('tests that change files of the commit stop the release', (context) => {
  const { options } = repository(context, 'echo changed >> lib.js')
  assert.throws(() => prepareRelease(options), /The tests changed files/)
})

test('a dirty tree is neither prepared nor published', (context) => {
  const { folder, options } = repository(context)
  prepareRelease(options)
  appendFileSync(join(folder, 'lib.js'), '// Not committed.\n')
  assert.throws(() => prepareRelease(options), /commit or remove lib\.js/)
  assert.throws(() => preparedRelease(options), /commit or remove lib\.js/)
})

test('the tests of one commit do not release the next', (context) => {
  const { folder, options, push } = repository(context)
  prepareRelease(options)
  appendFileSync(join(folder, 'lib.js'), '// Committed, and not tested.\n')
  push()
  assert.throws(() => preparedRelease(options), /The prepared release is 1\.2\.3 of [0-9a-f]{40}\. Run npm run release/)
})

test('a commit that only this machine has is not released', (context) => {
  const { folder, options, git } = repository(context)
  appendFileSync(join(folder, 'lib.js'), '// Not pushed.\n')
  git('commit', '--quiet', '--all', '--message', 'Change')
  assert.throws(() => prepareRelease(options), /not on origin\/main/)
})

test('a tarball that was changed after the tests is not published', (context) => {
  const { options } = repository(context)
  const [{ tarball = '' } = {}] = prepareRelease(options).packages
  const bytes = readFileSync(tarball)
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1
  writeFileSync(tarball, bytes)
  assert.throws(() => preparedRelease(options), /not the file that was tested/)
})
