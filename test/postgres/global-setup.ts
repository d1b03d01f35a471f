/**
 * One cluster, and one cache of compiled code, for all files of a run: `node --test
 * --test-global-setup=test/postgres/global-setup.ts …`.
 */
import { join } from 'node:path'
import { type Cluster, startCluster } from './cluster.ts'
import { versionAsked, whyNoDatabase } from './database.ts'

// What one file of tests, or a server that it starts, has compiled, the next need not. Never in a shared folder: Node
// runs what is there.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, '../../.resourced/compiled')

let cluster: Cluster | undefined

/** Starts it; the processes of the files inherit its address. What must have it says itself where there is none. */
export async function globalSetup(): Promise<void> {
  if (process.env.TEST_POSTGRES !== undefined || whyNoDatabase !== undefined) return
  try {
    // Servers refuse a database that does not wait for the disk; in memory it costs little.
    const settings = { fsync: 'on', full_page_writes: 'on' }
    cluster = await startCluster({ version: versionAsked(), settings })
  } catch (error) {
    // The tests that need it fail by themselves; the others need not.
    console.error(error)
    return
  }
  process.env.TEST_POSTGRES = cluster.adminUrl
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop()
}
