/**
 * Bundles the pages for people: the console and the API page. Every file has a hash in its name and stands beside its
 * compressed copies. `manifest.json` lists the files for the server.
 */
import { hash } from 'node:crypto'
import { glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import type { PageFile, PagesManifest } from '../../packages/server/src/server/pages/page-server.ts'
import { emptyMeta } from '../../packages/server/src/server/pages/page-server.ts'
import { root } from './contents.ts'

/** The sources of a page. The template names the script and the style sheet by their names in the sources. */
interface PageSources {
  readonly template: string
  readonly script: string
  readonly styles: string
  /** A style sheet of a package, before the page's own. */
  readonly packageStyles?: string
}

/** Every page, by the name of its address. */
const pages: Readonly<Record<string, PageSources>> = {
  console: {
    template: 'packages/console/src/console/index.html',
    script: 'packages/console/src/console/main.tsx',
    styles: 'packages/console/src/console/console.css',
  },
  docs: {
    template: 'packages/console/src/api-page/index.html',
    script: 'packages/console/src/api-page/main.ts',
    styles: 'packages/console/src/api-page/api-page.css',
    packageStyles: 'node_modules/swagger-ui-dist/swagger-ui.css',
  },
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.jpeg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
}

/** How well files are compressed: the smallest take seconds. */
export type Compression = 'quickly' | 'smallest'

/**
 * Builds every page into a folder. What the folder contained is removed.
 *
 * @returns the packages whose code is in the bundles
 */
export async function buildPages(folder: string, compression: Compression): Promise<ReadonlySet<string>> {
  await rm(folder, { recursive: true, force: true })
  const bundled = new Set<string>()
  const entries = Object.entries(pages).map(async ([name, sources]) => {
    const { assets: scripts, packages } = await bundleScript(sources.script)
    for (const each of packages) bundled.add(each)
    const assets = [...scripts, ...(await styleSheets(sources))]
    await mkdir(join(folder, name, 'assets'), { recursive: true })
    const files = await Promise.all(assets.map((asset) => writeAsset(join(folder, name, 'assets'), asset, compression)))
    let html = await readSource(sources.template)
    for (const { source, name: file } of assets) {
      if (source !== undefined) html = html.replace(`"${basename(source)}"`, `"${name}/assets/${file}"`)
    }
    if (!html.includes(emptyMeta)) throw new Error(`${sources.template} has no ${emptyMeta}`)
    await writeFile(join(folder, name, 'index.html'), html)
    return [name, { files: Object.fromEntries(files) }] as const
  })
  const manifest: PagesManifest = Object.fromEntries(await Promise.all(entries))
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest)}\n`)
  return bundled
}

/** A file of a page before it is written. */
interface Asset {
  /** `main-Ab3dE6gH.js` */
  readonly name: string
  readonly content: Buffer
  /** The source file that the template names; `undefined`: the template does not name it. */
  readonly source?: string
}

/** A script as files, and the packages whose code is in them. */
interface Bundle {
  readonly assets: readonly Asset[]
  readonly packages: readonly string[]
}

/** Bundles a script and everything that it imports. */
async function bundleScript(script: string): Promise<Bundle> {
  const bundling = await rolldown({
    cwd: fileURLToPath(root),
    input: script,
    platform: 'browser',
    transform: { target: 'es2023', define: { 'process.env.NODE_ENV': '"production"' } },
    onLog(_, log) {
      // React's directives are for servers that render; this bundle is for browsers.
      if (log.code === 'MODULE_LEVEL_DIRECTIVE') return
      throw new Error(log.message)
    },
  })
  const { output } = await bundling.generate({
    format: 'esm',
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await bundling.close()
  const packages: string[] = []
  const assets = output.map((each): Asset => {
    if (each.type === 'asset') throw new Error(`${script} imports ${each.fileName}, which is no script.`)
    const asset = { name: each.fileName, content: Buffer.from(each.code) }
    for (const id of each.moduleIds) packages.push(/.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1] ?? '')
    return each.isEntry ? { ...asset, source: script } : asset
  })
  return { assets, packages: packages.filter((name) => name !== '') }
}

/**
 * A style sheet with those of the folders beside it, without comments and indentation; compression does the rest. Each
 * view may bring its own `*.css`. Images in it become files: the policy of the pages allows no `data:`.
 */
async function styleSheets({ styles: source, packageStyles }: PageSources): Promise<Asset[]> {
  const folder = dirname(source)
  const others = await Array.fromAsync(glob(`${folder}/*/**/*.css`, { cwd: fileURLToPath(root) }))
  const texts = await Promise.all([packageStyles ?? [], source, ...others.sort()].flat().map(readSource))
  const images = new Map<string, Asset>()
  const text = texts
    .join('\n')
    .replace(/\/\*.*?\*\//gs, '')
    .replace(/\n\s*/g, '\n')
    .replace(dataImage, (_, quote: string, type: string, base64: string | undefined, data: string) => {
      const content =
        base64 === undefined
          ? Buffer.from(decodeURIComponent(data.replace(/\\(.)/g, '$1')))
          : Buffer.from(data, 'base64')
      const name = hashedName(`image.${type.replace('+xml', '')}`, content)
      images.set(name, { name, content })
      return `url(${quote}${name}${quote})`
    })
  const content = Buffer.from(text.trim())
  return [{ name: hashedName(source, content), content, source }, ...images.values()]
}

const dataImage = /url\((["']?)data:image\/([a-z+]+)(?:;charset=[a-z\d-]+)?(;base64)?,(.*?)\1\)/g

function hashedName(source: string, content: Buffer): string {
  const extension = extname(source)
  return `${basename(source, extension)}-${hashOf(content).slice(0, 8)}${extension}`
}

/** A part of the SHA-256, in characters that addresses and entity tags may have. */
function hashOf(content: Buffer): string {
  return hash('sha256', content, 'base64url').slice(0, 16)
}

/** Writes a file and its compressed copies, and gives its line of the manifest. */
async function writeAsset(
  folder: string,
  { name, content }: Asset,
  compression: Compression,
): Promise<readonly [string, PageFile]> {
  const type = types[extname(name)]
  if (type === undefined) throw new Error(`${name} has no media type here. Add it to scripts/package/pages.ts.`)
  const path = join(folder, name)
  const quality = compression === 'smallest' ? constants.BROTLI_MAX_QUALITY : 5
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  const [brotli, gzip] = [brotliCompressSync(content, { params }), gzipSync(content, { level: 9 })]
  await Promise.all([writeFile(path, content), writeFile(`${path}.br`, brotli), writeFile(`${path}.gz`, gzip)])
  return [
    name,
    { type, hash: hashOf(content), bytes: { identity: content.length, br: brotli.length, gzip: gzip.length } },
  ]
}

function readSource(path: string): Promise<string> {
  return readFile(new URL(path, root), 'utf8')
}
