/**
 * The administrator's key of `resourced dev`. The database has only its hash, so a file keeps the key for the next
 * start: developers need it again and again. The file is readable by its owner alone.
 */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { ConfigurationError } from 'resourced-contract/spec/configuration-error'
import { hashOfKey, isKey } from '../policy/api-keys.ts'
import type { KeyStore } from '../storage/storage.ts'
import { makeKey, storedForm } from './keys.ts'

/** Where the key is kept, beside the database of the default. */
export const developmentKeyFile = '.resourced/dev-key'

const [subject, roles] = ['dev', ['admin']]

/**
 * The key in the file, which works with the database; a new one where the file has none, or where it was revoked.
 *
 * @throws ConfigurationError where the file cannot be read or written
 */
export async function developmentKey(keys: KeyStore, file = developmentKeyFile): Promise<DevelopmentKey> {
  const kept = await readKey(file)
  const known = kept === undefined ? undefined : await keys.find(hashOfKey(kept))
  if (kept !== undefined && known?.revoked_at == null) {
    // Another database, or a new one in the place of a deleted one.
    if (known === undefined) await keys.add(storedForm(kept, subject, roles, null))
    return { key: kept, isNew: false }
  }
  const { key, stored } = makeKey(subject, roles, null)
  await writeKey(file, key)
  await keys.add(stored)
  return { key, isNew: true }
}

/** A key that works. */
export interface DevelopmentKey {
  readonly key: string
  readonly isNew: boolean
}

async function readKey(file: string): Promise<string | undefined> {
  try {
    const text = (await readFile(file, 'utf8')).trim()
    return isKey(text) ? text : undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw cannotUse(file, error)
  }
}

async function writeKey(file: string, key: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    // Without `wx`, the key would go to wherever a link leads, with the mode of what is there.
    await rm(file, { force: true })
    await writeFile(file, `${key}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw cannotUse(file, error)
  }
}

function cannotUse(file: string, error: unknown): ConfigurationError {
  return new ConfigurationError(
    `The key for development cannot be kept in ${file}: ${(error as Error).message}. Correct that, or remove the file.`,
  )
}
