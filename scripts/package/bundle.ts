/** Bundles the program: one file for what starts together, and one for each part that is loaded when it is needed. */
import { isBuiltin } from 'node:module'
import { basename, dirname, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec'
import { type OutputChunk, type Plugin, rolldown } from 'rolldown'
import { type Contents, root } from './contents.ts'

/** The text of a file, by its name. */
export type Files = ReadonlyMap<string, string>

/** Packages of ours, and the helpers of the bundler: their code is in every package that needs it. */
const isOurs = (id: string) => /^(?:resourced-\w+|@oxc-project\/runtime)(?:\/|$)/.test(id)

/** The bundles of a package, and the packages that they import. */
interface Bundles {
  readonly files: Files
  readonly imported: ReadonlySet<string>
}

/** These packages need not be installed. */
const isOptional = (id: string) => /^(?:pg-native|cloudflare:)/.test(id)

/**
 * Bundles every entry point, with source maps. Packages of others stay imports.
 *
 * @param isWhole whether packages of others are in the bundles, too
 */
export async function bundle(contents: Contents, { isWhole = false } = {}): Promise<Bundles> {
  const { nodeModules, webModules, programs } = contents
  const isImport = isWhole ? isOptional : (id: string) => /^[^./\0#]/.test(id) && !isOurs(id)
  const bundling = await rolldown({
    cwd: fileURLToPath(root),
    input: { ...nodeModules, ...webModules, ...programs },
    platform: 'node',
    external: (id) => !late.has(id) && (isBuiltin(id) || isImport(id)),
    plugins: [builtinsWhenRun()],
    logLevel: 'warn',
  })
  const { output } = await bundling.generate({
    format: 'esm',
    sourcemap: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    comments: { legal: true, annotation: false, jsdoc: false },
  })
  await bundling.close()
  const chunks = output.filter((each) => each.type === 'chunk')
  for (const { fileName, code } of chunks) refuseFilePaths(fileName, code)
  const own = new Set(chunks.map(({ fileName }) => fileName))
  const all = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
  return {
    files: new Map(chunks.flatMap((chunk) => [[chunk.fileName, chunk.code] as const, ...mapOf(chunk)])),
    imported: new Set(all.filter((id) => !own.has(id) && !isBuiltin(id)).map(packageOf)),
  }
}

/** The package of an import: `ajv` of `ajv/dist/2020.js`. */
function packageOf(id: string): string {
  return /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? id
}

// An older Node.js lacks the first two or some of their names. An import of them fails before any code runs, so before
// the check that says which version is needed. Bun and Deno lack some of these names, too. An import of `node:http`
// reads all of its names, of which one loads a second HTTP client.
const late = new Set(['node:sqlite', 'node:module', 'node:http'])

/** Reads these modules of Node.js when the code runs, where a static import would fail earlier. */
function builtinsWhenRun(): Plugin {
  const mark = '\0late:'
  return {
    name: 'builtins-when-run',
    resolveId: (id) => (late.has(id) ? `${mark}${id}` : undefined),
    async load(id) {
      if (!id.startsWith(mark)) return undefined
      const name = id.slice(mark.length)
      if (!isBuiltin(name)) throw new Error(`${name} is no module of Node.js.`)
      const names = Object.keys(await import(name)).filter((each) => each !== 'default' && /^\w+$/.test(each))
      const lines = names.map((each) => `export const ${each} = /* @__PURE__ */ (() => builtin.${each})()`)
      const code = [`const builtin = /* @__PURE__ */ process.getBuiltinModule('${name}')`, ...lines].join('\n')
      // A file that uses none of its names does not load it: the client runs where there is no `process`.
      return { code, moduleSideEffects: false }
    },
  }
}

/** A path relative to a source file leads nowhere from a bundle. `imports` of both manifests name such files. */
function refuseFilePaths(file: string, code: string): void {
  const found = /new URL\(\s*["'`]\.[^)]*import\.meta\.url\s*\)|import\.meta\.(?:dirname|filename)/.exec(code)?.[0]
  if (found === undefined) return
  throw new Error(
    `${file} contains ${found}, which is no place in the package. Name the file in "imports" of package.json and of ` +
      'scripts/package/contents.ts, and use import.meta.resolve().',
  )
}

/**
 * The source map of a bundle: the file and the line of each line. A full map with the sources in it would be larger than
 * the rest of the package.
 */
function mapOf({ fileName, code, map }: OutputChunk): readonly (readonly [string, string])[] {
  // A module of Node.js that is read late has no source.
  if (map === null) return []
  const lines = decode(map.mappings).map((segments): SourceMapSegment[] => {
    const first = segments.find((segment) => segment.length !== 1)
    return first === undefined ? [] : [[0, first[1], first[2], first[3]]]
  })
  const own = fileURLToPath(root)
  const sources = map.sources.map((source) => {
    const path = relative(own, resolve(own, 'dist', dirname(fileName), source))
    return `../${path.replaceAll(sep, '/')}`
  })
  if (!code.includes(`sourceMappingURL=${basename(fileName)}.map`)) throw new Error(`${fileName} names no source map.`)
  const content = {
    version: 3,
    file: fileName,
    sources,
    names: [],
    mappings: encode(lines),
  }
  return [[`${fileName}.map`, JSON.stringify(content)]]
}
