/** Interfaces that scripts serve to a browser, each on a free port and in a folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Catalog } from 'resourced-contract/model/resource'
import { loadAtlas } from '../../examples/atlas/load.ts'
import { makeKey } from '../../packages/server/src/cli/keys.ts'
import { loadCatalog } from '../../packages/server/src/cli/load-declaration.ts'
import { serve } from '../../packages/server/src/server/serve.ts'

/** An interface, served by plain HTTP until it is closed. */
export interface StandaloneSite {
  readonly origin: string
  /** The address of the current version. */
  readonly url: string
  /** A key of an administrator. */
  readonly key: string
  close(): Promise<void>
}

/** @param prepare makes the database file before it is served */
export async function serveStandalone(
  catalog: Catalog,
  prepare: (file: string) => Promise<void> = async () => {},
): Promise<StandaloneSite> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-standalone-'))
  const file = join(folder, 'data.db')
  await prepare(file)
  const place = { host: '127.0.0.1', port: 0, http: true, rateLimit: 'off' } as const
  const { origin, url, app, close } = await serve({ catalog, database: `sqlite:${file}`, ...place })
  const { key, stored } = makeKey('developer', ['admin'], null)
  await app.storage.keys.add(stored)
  return {
    ...{ origin, url, key },
    async close() {
      await close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Serves the example with all countries and cities. */
export async function serveAtlas(): Promise<StandaloneSite> {
  const declaration = fileURLToPath(new URL('../../examples/atlas/resources.yaml', import.meta.url))
  const catalog = await loadCatalog(declaration)
  return serveStandalone(catalog, (file) => loadAtlas(file, catalog, () => {}))
}
