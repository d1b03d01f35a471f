import { join } from 'node:path'

/**
 * The file of the command `resourced`, for tests that start it as a process. `scripts/test.ts` bundles the program once
 * for all tests of a run, because a bundle starts faster than the sources.
 */
export const commandFile =
  process.env['TEST_COMMAND'] ?? join(import.meta.dirname, '../packages/server/src/cli/main.js')
