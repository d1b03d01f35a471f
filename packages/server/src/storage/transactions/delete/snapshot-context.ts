/** The context of a check on a snapshot, which locks nothing and calls no function of a declaration. */
import { raw } from 'sql-template-tag'
import type { SqlContext } from '../../sql/context.ts'

/** The same context for a read on a snapshot, which locks nothing. */
export function withoutLocks(context: SqlContext): SqlContext {
  const none = raw('')
  const lock = { ...context.dialect.lock, update: none, share: none, orderById: none }
  return { ...context, dialect: { ...context.dialect, lock } }
}

/**
 * The same for a check, in which rules that are functions are left out. Functions decide where requests are answered, a
 * few records at a time (`large-changes.ts`).
 */
export function readingOnly(context: SqlContext): SqlContext {
  const { catalog } = context
  const resources = new Map(
    [...catalog.resources].map(([name, each]) => [
      name,
      { ...each, rules: each.rules.filter((rule) => 'unless' in rule) },
    ]),
  )
  return { ...withoutLocks(context), catalog: { ...catalog, resources } }
}
