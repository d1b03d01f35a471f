/** The version of Resourced that runs. */
import { createRequire } from 'node:module'

/** The version in the package's manifest. */
export function packageVersion(): string {
  const manifest: { readonly version: string } = createRequire(import.meta.url)('#manifest')
  return manifest.version
}
