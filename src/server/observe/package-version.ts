/** The version of Resourced that runs. */
import { readFileSync } from 'node:fs'

/** The version in the package's manifest. */
export function packageVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return manifest.version
}
