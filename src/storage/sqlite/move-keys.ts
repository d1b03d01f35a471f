/** API keys of a database in which they were no records: what is shown of them becomes one, their hashes stay apart. */
import type { DatabaseSync } from 'node:sqlite'
import { formerKeys } from '../sql/system-tables.ts'
import { sqlite } from './engine.ts'

/** Moves the keys to where they are looked for now, every one as valid as it was. */
export function moveKeys(database: DatabaseSync): void {
  const former = sqlite.identifier(formerKeys)
  database.exec(`insert into resourced_key_hashes (key, hash) select id, hash from ${former}`)
  database.exec(
    `insert into "api-keys" (id, subject, _folded_subject, roles, hint, expires_at, _instant_expires_at, revoked_at, ` +
      '_instant_revoked_at, created_at, updated_at, _revision) ' +
      'select id, subject, resourced_folded(subject), roles, hint, expires_at, resourced_instant(expires_at), revoked_at, ' +
      `resourced_instant(revoked_at), created_at, coalesce(revoked_at, created_at), 1 from ${former} order by created_at, id`,
  )
  database.exec(`drop table ${former}`)
}
