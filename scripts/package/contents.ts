/** What the published package contains: its manifest, its entry points, and the files beside the code. */
import { readFile } from 'node:fs/promises'
import { declarationSchemaText } from '../../src/model/structure/declaration-schema.ts'

/** The root manifest, as far as the package takes something from it. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies: Readonly<Record<string, string>>
  readonly [key: string]: unknown
}

/** The root of the repository. */
export const root = new URL('../../', import.meta.url)

/** The modules that applications import and that need Node.js, by their names: `index` is the package itself. */
export const nodeModules = {
  index: 'src/index.ts',
  testing: 'src/testing/testing.ts',
} as const

/** The modules that run on any platform, by their names. They are imported without a check of the Node.js version. */
export const webModules = {
  client: 'src/client/index.ts',
  'react-admin': 'src/providers/react-admin.ts',
  refine: 'src/providers/refine.ts',
} as const

/** Source files that the bundler starts from, by their names in `lib/`. */
export const entryPoints = {
  ...nodeModules,
  ...webModules,
  main: 'src/cli/main.js',
  'require-node': 'src/cli/require-node.js',
  'background-thread': 'src/storage/sqlite/background-thread.ts',
  'checkpoint-thread': 'src/storage/sqlite/checkpoint-thread.js',
  'declaration-thread': 'src/cli/declaration-thread.ts',
} as const

/** Files that are copied as they are. */
export const copied = ['README.md', 'CHANGELOG.md'] as const

/** Files that are written by the build, and that applications can import, by their names. */
export const generated: Readonly<Record<string, () => Promise<string>>> = {
  'declaration.schema.json': async () => declarationSchemaText(),
}

/** The folder of files that `resourced init` writes. */
export const templates = 'src/cli/templates'

/** Packages whose code is in the package itself. Their licenses are appended to ours. */
export const included = ['recheck'] as const

// Declarations of types name what these packages declare. With `*`, npm installs the version of the application.
const types = { '@types/node': '*' }

// The types of these frameworks are needed by those who use the provider for one.
const frameworks = { '@refinedev/core': '^5.0.0', 'ra-core': '^5.0.0' }

/** The manifest of the package, as it is published. `npm run release` checks it before it packs the package. */
export async function packageManifest(): Promise<Manifest> {
  const { name, version, description, license, type, engines, repository, dependencies } = await rootManifest()
  const needed = Object.entries(dependencies).filter(([each]) => !included.some((name) => name === each))
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
    imports: {
      '#background-thread': './lib/background-thread.js',
      '#checkpoint-thread': './lib/checkpoint-thread.js',
      '#declaration-thread': './lib/declaration-thread.js',
      '#manifest': './package.json',
      '#pages/*': './pages/*',
      '#recheck': './lib/recheck.cjs',
      '#templates/*': './templates/*',
    },
    bin: { resourced: 'lib/main.js' },
    dependencies: { ...Object.fromEntries(needed.map(([each, exact]) => [each, `^${exact}`])), ...types },
    peerDependencies: frameworks,
    peerDependenciesMeta: Object.fromEntries(Object.keys(frameworks).map((each) => [each, { optional: true }])),
  }
}

/** The declarations of a source file's types, in `types/`. */
export function declarationFile(source: string): string {
  return source.replace(/^src\/(.*)\.ts$/, '$1.d.ts')
}

/** The manifest of the repository. */
export async function rootManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as Manifest
}
