/** Writes the package to publish into a folder. */
import { chmod, copyFile, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { bundle, type Files } from './bundle.ts'
import { copied, generated, nodeModules, packageManifest, root, templates } from './contents.ts'
import { licenses } from './licenses.ts'
import { buildPages } from './pages.ts'
import { declarations } from './types.ts'

/** Builds the package. What the folder contained is removed. */
export async function buildPackage(folder: string): Promise<void> {
  const [code, types, manifest] = await Promise.all([bundle(), declarations(), packageManifest()])
  await rm(folder, { recursive: true, force: true })
  await mkdir(join(folder, 'lib'), { recursive: true })
  await writeAll(join(folder, 'lib'), code)
  await chmod(join(folder, 'lib/main.js'), 0o755)
  await writeAll(join(folder, 'types'), types)
  for (const module of Object.keys(nodeModules)) {
    // The first import runs before the second.
    await writeFile(
      join(folder, `${module}.js`),
      `import './lib/require-node.js'\nexport * from './lib/${module}.js'\n`,
    )
  }
  await writeFile(join(folder, 'lib/recheck.br'), await compressedRecheck())
  await copyFile(new URL('recheck.cjs', import.meta.url), join(folder, 'lib/recheck.cjs'))
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  for (const [file, text] of Object.entries(generated)) await writeFile(join(folder, file), await text())
  const bundled = await buildPages(join(folder, 'pages'), 'smallest')
  await writeFile(join(folder, 'LICENSE'), await licenses(bundled))
  await cp(new URL(templates, root), join(folder, 'templates'), { recursive: true })
  for (const file of copied) await copyFile(new URL(file, root), join(folder, file))
}

async function writeAll(folder: string, files: Files): Promise<void> {
  for (const [name, text] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

/** The whole package brings programs of 50 MB for each platform, which the analysis here does not use. */
async function compressedRecheck(): Promise<Buffer> {
  const code = await readFile(createRequire(import.meta.url).resolve('#recheck'))
  const { BROTLI_PARAM_LGWIN: window, BROTLI_PARAM_SIZE_HINT: size } = constants
  return brotliCompressSync(code, { params: { [window]: constants.BROTLI_MAX_WINDOW_BITS, [size]: code.length } })
}
