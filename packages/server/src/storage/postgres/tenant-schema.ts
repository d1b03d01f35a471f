/** The names of the schemas of tenants, and the trigger that renames them (TEN-2, TEN-3). */
import { triggerFunction } from './triggers.ts'

/** What the name of each begins with; the digits of the tenant's id follow. */
const schemaPrefix = 'resourced_'

/** What the name ends with while the tenant is deleted: statements of every server then find no table. */
export const deletedSuffix = '_deleted'

const idParts = [8, 4, 4, 4, 12].map((digits) => `([0-9a-f]{${digits}})`).join('')

/** A regular expression of PostgreSQL and JavaScript for their names, whose groups are the parts of a tenant's id. */
export const schemaPattern = `^${schemaPrefix}${idParts}(${deletedSuffix})?$`

/**
 * The schema of a tenant, as SQL names it without quotes.
 *
 * @param tenant the tenant's id, a UUID
 */
export function schemaOf(tenant: string): string {
  const digits = tenant.replaceAll('-', '')
  if (!/^[\da-f]{32}$/.test(digits)) throw new Error(`${JSON.stringify(tenant)} is not the id of a tenant.`)
  return `${schemaPrefix}${digits}`
}

/** Locks the name of a schema until the transaction ends. The first number is of these locks only. */
export const lockName = (name: string) => `pg_advisory_xact_lock(1381191542, hashtext(${name}))`

/**
 * Renames the schema of a tenant in the transaction that deletes or restores the tenant. So no server finds the tables
 * of a deleted tenant, whatever it remembers of the tenant.
 */
export const tenantTriggers = [
  triggerFunction(
    'tenants',
    'moved',
    'after update of deleted_at on @ for each row when ((new.deleted_at is null) <> (old.deleted_at is null))',
    {
      declared: `_schema text := '${schemaPrefix}' || replace(new.id, '-', '');
  _from text := _schema || case when new.deleted_at is null then '${deletedSuffix}' else '' end;
  _to text := _schema || case when new.deleted_at is null then '' else '${deletedSuffix}' end;`,
      body: () => `
  -- Another server may be creating it.
  perform ${lockName('_schema')};
  if exists (select from pg_namespace where nspname = _from) then
    execute format('alter schema %I rename to %I', _from, _to);
  end if;`,
    },
  ),
]
