/**
 * Backups that earlier programs made, one for each form that their tables have had: before the views of full-text
 * indexes, with them, and with events. All hold the shop below, with 5 customers, 20 orders and a finished export.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import * as Type from 'resourced-contract/model/type'

/** The declaration of a backup. */
export function shop(hasEvents: boolean): InterfaceDeclaration {
  const access = { read: 'anyone', create: 'anyone' } as const
  return {
    name: 'shop',
    resources: {
      customers: {
        fields: { name: { type: 'string', search: true, sort: true }, email: { type: 'string', unique: true } },
        access,
        deletion: { variant: 'soft' },
      },
      orders: {
        fields: {
          title: { type: 'string', filter: true, sort: true, search: true },
          price: { type: 'decimal', precision: 12, scale: 2, filter: true },
          at: { type: 'string', format: 'date-time', filter: true, sort: true },
          open: { type: 'boolean' },
          ratio: { type: 'number' },
          count: { type: 'integer', filter: true },
          labels: { type: 'array', items: { type: 'string' } },
          customer_id: { reference: 'customers', onDelete: 'cascade' },
          ...(hasEvents ? { number: Type.Sequence() } : {}),
        },
        ...(hasEvents ? { events: true } : {}),
        access,
      },
    },
  } as InterfaceDeclaration
}

/** The names of the backups, the oldest first. */
export const earlierBackups: readonly string[] = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.backup.gz'))
  .toSorted()

/** The bytes of a backup. */
export function bytesOf(name: string): Buffer {
  return gunzipSync(readFileSync(join(import.meta.dirname, name)))
}

const head = '\nresourced-backup '

/**
 * Writes a backup that somebody has forged, with a description that fits.
 *
 * @param change changes the database; `undefined`: its bytes stay
 * @param describe changes what the backup says of itself
 */
export function forge(
  path: string,
  change?: (database: DatabaseSync) => void,
  describe: (description: Record<string, unknown>) => unknown = (description) => description,
  alter: (bytes: Buffer) => void = () => {},
): void {
  const whole = bytesOf(earlierBackups.at(-1)!)
  const place = whole.lastIndexOf(head)
  writeFileSync(path, whole.subarray(0, place))
  if (change !== undefined) {
    const database = new DatabaseSync(path, { defensive: false, enableForeignKeyConstraints: false })
    database.exec('pragma journal_mode = delete')
    change(database)
    database.close()
  }
  const bytes = readFileSync(path)
  alter(bytes)
  const description = {
    ...JSON.parse(whole.toString('utf8', place + head.length)),
    ...{ bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') },
  }
  rmSync(path)
  writeFileSync(path, Buffer.concat([bytes, Buffer.from(`${head}${JSON.stringify(describe(description))}\n`)]))
}
