/** What the published packages contain: their manifests, their entry points, and the files beside the code. */
import { readFile } from 'node:fs/promises'
import { declarationSchemaText } from 'resourced-contract/model/structure/declaration-schema'
import { packages } from '../../test/imports.ts'

/** A manifest, as far as a published package takes something from it. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly [key: string]: unknown
}

/** What a published package contains. Modules and entry points are source files, by their names. */
export interface Contents {
  /** The folder of its sources, with its manifest. */
  readonly folder: string
  /** The modules that applications import and that need Node.js: `index` is the package itself. */
  readonly nodeModules: Readonly<Record<string, string>>
  /** The modules that run on any platform. They are imported without a check of the Node.js version. */
  readonly webModules: Readonly<Record<string, string>>
  /** What else the bundler starts from: programs and threads, by their names in `lib/`. */
  readonly programs: Readonly<Record<string, string>>
  readonly imports: Readonly<Record<string, string>>
  readonly bin: Readonly<Record<string, string>>
  /** Files that are copied as they are, from the root of the repository, by their names in the package. */
  readonly copied: Readonly<Record<string, string>>
  /** Files that are written by the build, and that applications can import. */
  readonly generated: Readonly<Record<string, () => Promise<string>>>
  /** The folder of files that `resourced init` writes. */
  readonly templates?: string
  /** Packages whose code is in the package itself. Their licenses are appended to ours. */
  readonly included: readonly string[]
  /** Packages that only the declarations of types name. With `*`, npm installs the version of the application. */
  readonly types: Readonly<Record<string, string>>
  /** What those need who use a provider for it. */
  readonly frameworks: Readonly<Record<string, string>>
  /** Whether it serves the pages for people. */
  readonly hasPages: boolean
}

/** The root of the repository. */
export const root = new URL('../../', import.meta.url)

/** The package `resourced`: the server, and all of the others. */
export const resourced: Contents = {
  folder: 'packages/server',
  nodeModules: { index: 'packages/server/src/index.ts', testing: 'packages/server/src/testing/testing.ts' },
  webModules: {
    client: 'packages/server/src/client.ts',
    'react-admin': 'packages/server/src/react-admin.ts',
    refine: 'packages/server/src/refine.ts',
  },
  programs: {
    main: 'packages/server/src/cli/main.js',
    'require-node': 'packages/server/src/cli/require-node.js',
    'background-thread': 'packages/server/src/storage/sqlite/background-thread.ts',
    'checkpoint-thread': 'packages/server/src/storage/sqlite/checkpoint-thread.js',
    'declaration-thread': 'packages/server/src/cli/declaration-thread.ts',
    'request-thread': 'packages/server/src/cli/request-thread.ts',
    'writer-thread': 'packages/server/src/cli/writer-thread.ts',
  },
  imports: {
    '#background-thread': './lib/background-thread.js',
    '#checkpoint-thread': './lib/checkpoint-thread.js',
    '#declaration-thread': './lib/declaration-thread.js',
    '#manifest': './package.json',
    '#pages/*': './pages/*',
    '#recheck': './lib/recheck.cjs',
    '#request-thread': './lib/request-thread.js',
    '#templates/*': './templates/*',
    '#writer-thread': './lib/writer-thread.js',
  },
  bin: { resourced: 'lib/main.js' },
  copied: { 'README.md': 'README.md', 'CHANGELOG.md': 'CHANGELOG.md' },
  generated: { 'declaration.schema.json': async () => declarationSchemaText() },
  templates: 'packages/server/src/cli/templates',
  included: ['recheck'],
  types: { '@types/node': '*' },
  frameworks: { '@refinedev/core': '^5.0.0', 'ra-core': '^5.0.0' },
  hasPages: true,
}

/** The package `resourced-check`: the checker alone. */
export const resourcedCheck: Contents = {
  folder: 'packages/check',
  nodeModules: {},
  webModules: {},
  programs: { main: 'packages/check/src/command/main.js' },
  imports: { '#manifest': './package.json' },
  bin: { 'resourced-check': 'lib/main.js' },
  copied: { 'README.md': 'packages/check/README.md', 'CHANGELOG.md': 'packages/check/CHANGELOG.md' },
  generated: {},
  included: [],
  types: {},
  frameworks: {},
  hasPages: false,
}

/** All that are published. */
export const published = [resourced, resourcedCheck] as const

/**
 * The manifest of a package, as it is published. `npm run release` checks it before it packs the package.
 *
 * @param imported the packages that its code imports
 */
export async function packageManifest(contents: Contents, imported: ReadonlySet<string>): Promise<Manifest> {
  const { name, version, description, license, type, engines } = await manifestOf(contents.folder)
  const { repository } = await manifestOf('.')
  const { nodeModules, webModules, generated, imports, bin, types, frameworks } = contents
  const versions = Object.assign({}, ...[...packages.values()].map(({ dependencies }) => dependencies))
  const needed = [...imported].sort().map((each) => [each, `^${versions[each]}`])
  return {
    name,
    version,
    description,
    license,
    ...(repository !== undefined && { repository }),
    publishConfig: { access: 'public' },
    type,
    engines,
    exports: {
      ...Object.fromEntries(
        Object.entries(nodeModules).map(([module, source]) => [
          module === 'index' ? '.' : `./${module}`,
          { types: `./types/${declarationFile(source)}`, default: `./${module}.js` },
        ]),
      ),
      ...Object.fromEntries(
        Object.entries(webModules).map(([module, source]) => [
          `./${module}`,
          { types: `./types/${declarationFile(source)}`, default: `./lib/${module}.js` },
        ]),
      ),
      './package.json': './package.json',
      ...Object.fromEntries(Object.keys(generated).map((file) => [`./${file}`, `./${file}`])),
    },
    imports,
    bin,
    dependencies: { ...Object.fromEntries(needed), ...types },
    ...(Object.keys(frameworks).length > 0 && {
      peerDependencies: frameworks,
      peerDependenciesMeta: Object.fromEntries(Object.keys(frameworks).map((each) => [each, { optional: true }])),
    }),
  }
}

/** The declarations of a source file's types, in `types/`. */
export function declarationFile(source: string): string {
  return source.replace(/^packages\/(.*)\.ts$/, '$1.d.ts')
}

/** The manifest in a folder of the repository. */
export async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(new URL(`${folder}/package.json`, root), 'utf8')) as Manifest
}
