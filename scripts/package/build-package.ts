/** Writes a package to publish into a folder. */
import { chmod, copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { bundle, type Files } from './bundle.ts'
import { type Contents, packageManifest, root } from './contents.ts'
import { licenses } from './licenses.ts'
import { buildPages } from './pages.ts'
import { declarations } from './types.ts'

/** Builds a package. What the folder contained is removed. */
export async function buildPackage(contents: Contents, folder: string): Promise<void> {
  const { nodeModules, generated, templates, included, copied, hasPages } = contents
  const [{ files, imported }, types] = await Promise.all([bundle(contents), declarations(contents)])
  const manifest = await packageManifest(contents, imported)
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'lib'), { recursive: true })
  await writeAll(join(folder, 'lib'), files)
  await chmod(join(folder, 'lib/main.js'), 0o755)
  await writeAll(join(folder, 'types'), types)
  for (const module of Object.keys(nodeModules)) {
    // The first import runs before the second.
    await writeFile(
      join(folder, `${module}.js`),
      `import './lib/require-node.js'\nexport * from './lib/${module}.js'\n`,
    )
  }
  if (included.includes('recheck')) {
    await writeFile(join(folder, 'lib/recheck.br'), await compressedRecheck())
    await copyFile(new URL('recheck.cjs', import.meta.url), join(folder, 'lib/recheck.cjs'))
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  for (const [file, text] of Object.entries(generated)) await writeFile(join(folder, file), await text())
  const bundled = hasPages ? await buildPages(join(folder, 'pages'), 'smallest') : []
  await writeFile(join(folder, 'LICENSE'), await licenses([...included, ...bundled]))
  if (templates !== undefined) await cp(new URL(templates, root), join(folder, 'templates'), { recursive: true })
  for (const [name, file] of Object.entries(copied)) await copyFile(new URL(file, root), join(folder, name))
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
