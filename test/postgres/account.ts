/** As whom servers of tests run: PostgreSQL and PgBouncer refuse the superuser of the system. */
import { statfsSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'

/** For `spawn` and `chown`. */
export interface Account {
  readonly uid: number
  readonly gid: number
}

/** The account of `nobody`, where the tests run as root; `undefined`: our own will do. */
export const account: Account | undefined = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined

/** Whether that account can pass through a folder and all that lead to it. */
export function canPass(folder: string): boolean {
  if (account === undefined) return true
  if ((statSync(folder).mode & 0o001) === 0) return false
  return folder === '/' || canPass(dirname(folder))
}

/**
 * A folder for temporary files that the account can reach.
 *
 * @throws Error where there is none
 */
export function temporaryFolder(): string {
  const found = [tmpdir(), '/tmp', '/var/tmp'].find(
    (folder) => statSync(folder, { throwIfNoEntry: false }) && canPass(folder),
  )
  if (found !== undefined) return found
  throw new Error(
    `As root, tests run PostgreSQL as user ${account?.uid}, who cannot enter ${tmpdir()}: set TMPDIR to a folder that everybody can enter, or run the tests as an ordinary user.`,
  )
}

const plenty = 4_000_000_000

/**
 * A folder in memory where there is plenty of it: making a database takes a tenth of the time there. Else that above.
 */
export function fastFolder(): string {
  const shared = '/dev/shm'
  if (statSync(shared, { throwIfNoEntry: false }) === undefined || !canPass(shared)) return temporaryFolder()
  const { bavail, bsize } = statfsSync(shared)
  return Math.min(bavail * bsize, process.availableMemory()) > plenty ? shared : temporaryFolder()
}
