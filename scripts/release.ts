/**
 * `npm run release` tests the current commit in a fresh clone, and packs its packages. `npm run release -- --publish` publishes
 * the files that this has made for the same commit, and tags the commit.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { manifestOf, published, root } from './package/contents.ts'
import { preparedRelease, prepareRelease, ReleaseRefused } from './package/release.ts'

const names = await Promise.all(published.map(async ({ folder }) => (await manifestOf(folder)).name))
const options = {
  folder: fileURLToPath(root),
  isPublished: (version: string) => names.some((name) => isPublished(name, version)),
  print: (line: string) => console.log(line),
}

function isPublished(name: string, version: string): boolean {
  const question = ['view', `${name}@${version}`, 'version', '--json', '--loglevel', 'error']
  const { stdout, stderr, status } = spawnSync('npm', question, { encoding: 'utf8' })
  if (status === 0) return stdout.trim() !== ''
  if (stdout.includes('"E404"')) return false
  throw new ReleaseRefused(`The registry does not say which versions it has. ${stderr.trim()}`)
}

const given = process.argv.slice(2)
try {
  if (given.some((each) => each !== '--publish')) {
    console.error('npm run release takes --publish or nothing.')
    process.exit(2)
  }
  if (given.length > 0) {
    const { packages, version, commit } = preparedRelease(options)
    for (const { tarball } of packages) {
      const { status } = spawnSync('npm', ['publish', '--access', 'public', tarball], { stdio: 'inherit' })
      if (status !== 0) throw new ReleaseRefused(`npm has not published ${tarball}. Nothing is tagged.`)
    }
    const tag = spawnSync('git', ['tag', `v${version}`, commit], { cwd: options.folder, stdio: 'inherit' })
    if (tag.status !== 0) throw new ReleaseRefused(`It is published. Tag it: git tag v${version} ${commit}`)
    console.log(`Version ${version} is published. Push its tag: git push origin v${version}`)
  } else {
    const { packages, commit } = prepareRelease(options)
    console.log(`All tests passed for ${commit}.`)
    for (const { tarball } of packages) console.log(`Packed: ${tarball}`)
    console.log('Publish it: npm run release -- --publish')
  }
} catch (error) {
  if (!(error instanceof ReleaseRefused)) throw error
  console.error(error.message)
  process.exitCode = 1
}
