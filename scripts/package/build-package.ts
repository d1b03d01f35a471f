/** Writes a package to publish into a folder. */
import { chmod, copyFile, cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { bundle, type Files } from './bundle.ts'
import { type Contents, packageManifest, resourced, root } from './contents.ts'
import { licenses } from './licenses.ts'
import { buildPages } from './pages.ts'
import { declarations } from './types.ts'

/** Builds a package. What the folder contained is removed. */
export async function buildPackage(contents: Contents, folder: string): Promise<void> {
  const { generated, templates, included, copied, hasPages } = contents
  const [types] = await Promise.all([declarations(contents), buildProgram(contents, folder)])
  await writeAll(join(folder, 'types'), types)
  if (included.includes('recheck')) {
    await writeFile(join(folder, 'lib/recheck.br'), await compressedRecheck())
    await copyFile(new URL('recheck.cjs', import.meta.url), join(folder, 'lib/recheck.cjs'))
  }
  for (const [file, text] of Object.entries(generated)) await writeFile(join(folder, file), await text())
  const bundled = hasPages ? await buildPages(join(folder, 'pages'), 'smallest') : []
  await writeFile(join(folder, 'LICENSE'), await licenses([...included, ...bundled]))
  if (templates !== undefined) await cp(new URL(templates, root), join(folder, 'templates'), { recursive: true })
  for (const [name, file] of Object.entries(copied)) await copyFile(new URL(file, root), join(folder, name))
}

/**
 * Builds the program `resourced` for tests that start it as a process: the code of the package and of the packages that
 * it imports, because one bundle starts in four fifths of the processor time, and the pages and templates of the
 * repository.
 *
 * @returns the file of the command
 */
export async function buildProgramOfTests(folder: string): Promise<string> {
  await buildProgram(resourced, folder, { isWhole: true })
  await writeFile(join(folder, 'lib/recheck.cjs'), "module.exports = require('recheck/lib/browser.js')\n")
  for (const [name, files] of [
    ['pages', 'packages/server/pages'],
    ['templates', 'packages/server/src/cli/templates'],
  ] as const) {
    await symlink(fileURLToPath(new URL(files, root)), join(folder, name))
  }
  return join(folder, 'lib/main.js')
}

/** Writes the code and the manifest of a package. What the folder contained is removed. */
async function buildProgram(contents: Contents, folder: string, options = {}): Promise<void> {
  const { files, imported } = await bundle(contents, options)
  const manifest = await packageManifest(contents, imported)
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'lib'), { recursive: true })
  await writeAll(join(folder, 'lib'), files)
  await chmod(join(folder, 'lib/main.js'), 0o755)
  for (const module of Object.keys(contents.nodeModules)) {
    // The first import runs before the second.
    await writeFile(
      join(folder, `${module}.js`),
      `import './lib/require-node.js'\nexport * from './lib/${module}.js'\n`,
    )
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

async function writeAll(folder: string, files: Files): Promise<void> {
  for (const [name, text] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

/** The whole package brings programs of 50 MB for each platform, which the analysis here does not use. */
async function compressedRecheck(): Promise<Buffer> {
  const contract = new URL('packages/contract/package.json', root)
  const code = await readFile(createRequire(contract).resolve('#recheck'))
  const { BROTLI_PARAM_LGWIN: window, BROTLI_PARAM_SIZE_HINT: size } = constants
  return brotliCompressSync(code, { params: { [window]: constants.BROTLI_MAX_WINDOW_BITS, [size]: code.length } })
}
