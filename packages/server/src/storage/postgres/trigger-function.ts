/** A trigger of PostgreSQL: a function of its own, and the trigger that calls it. */
import { identifier } from '../sql/columns.ts'
import type { TableTrigger } from '../sql/dialect.ts'

/**
 * Describes the trigger of a table.
 *
 * @param when the trigger fires, with `@` in place of the table
 * @param body of the function, without what it returns
 * @param declared the variables of the function
 */
export function triggerFunction(
  table: string,
  name: string,
  when: string,
  { declared, body }: { readonly declared: string; readonly body: (schema: string) => string },
): TableTrigger {
  const full = identifier(`resourced_${name}_${table}`)
  // The comment makes a trigger that fires otherwise another one.
  const definition = (schema: string) => `
-- ${when}
declare
  ${declared}
begin${body(schema)}
  return null;
end
`
  const statements = (schema: string) => [
    `create or replace function ${schema}.${full}() returns trigger language plpgsql ` +
      `as $resourced$${definition(schema)}$resourced$`,
    `create or replace trigger ${full} ${when.replace('@', identifier(table))} execute function ${schema}.${full}()`,
  ]
  return { name: `resourced_${name}_${table}`, definition, statements }
}

/** When a trigger fires that sees the rows of a whole statement as `new_rows` and `old_rows`. */
export const forEachStatement = {
  added: 'after insert on @ referencing new table as new_rows for each statement',
  changed: 'after update on @ referencing old table as old_rows new table as new_rows for each statement',
  removed: 'after delete on @ referencing old table as old_rows for each statement',
} as const
