/** In conditions. */
import { fields, type Mistake, tasks } from './mistake.ts'

/** A mistake in the condition under which tasks are updated. */
function where(name: string, write: unknown, inner: string, remedy?: RegExp): Mistake {
  return {
    name,
    at: `${tasks}/access/update`,
    write: { where: write },
    path: `resources.tasks.access.update.where${inner}`,
    remedy,
  }
}

export const conditionsMistakes: readonly Mistake[] = [
  where('no condition', 'open', ''),
  where('a condition of everything', {}, '', /anyone/),
  where('an unknown field', { stauts: 'open' }, '.stauts', /"status"/),
  where('a writeOnly field', { secret_note: 'x' }, '.secret_note'),
  where('an unknown operator', { estimate: { ge: 3 } }, '.estimate.ge', /"gte?"/),
  where('an operator near its opposite', { title: { nin: ['a'] } }, '.title.nin', /not: \{ FIELD/),
  where('an operator of queries', { title: { starts_with: 'a' } }, '.title.starts_with', /startsWith/),
  where('no operator', { estimate: {} }, '.estimate'),
  where('a value of another type', { estimate: 'three' }, '.estimate', /number/),
  where('a value of another type in an operator', { estimate: { gt: '3' } }, '.estimate.gt', /number/),
  where('a value that is not in the enum', { status: 'opne' }, '.status', /"open"/),
  {
    name: 'a value that is not in an enum named like an operator',
    at: {
      [`${fields}/name_contains`]: { enum: ['ink', 'dye'] },
      [`${tasks}/access/update`]: { where: { name_contains: 'inc' } },
    },
    path: 'resources.tasks.access.update.where.name_contains',
    remedy: /"ink"/,
  },
  where('a value in a list', { status: { in: ['open', 'close'] } }, '.status.in[1]'),
  where('a list without in', { status: ['open'] }, '.status', /in:/),
  where('in without a list', { status: { in: 'open' } }, '.status.in'),
  where('text operators on a number', { estimate: { contains: '3' } }, '.estimate.contains'),
  where('order of null', { estimate: { gt: null } }, '.estimate.gt'),
  where('an array field', { labels: 'urgent' }, '.labels', /null/),
  where('null that is no flag', { labels: { null: 1 } }, '.labels.null'),
  where('a date that is none', { created_at: { gt: 'yesterday' } }, '.created_at.gt'),
  where('and that is no list', { and: { status: 'open' } }, '.and'),
  where(
    'a timestamp finer than any',
    { created_at: { gt: '2026-11-21T08:00:00.0005Z' } },
    '.created_at.gt',
    /milli|000Z/,
  ),
  where('a day that is none', { due_on: { lt: '2026-02-30' } }, '.due_on.lt', /"2026-11-21"/),
  where('an id that is none', { assignee_id: 'Ada' }, '.assignee_id'),
  where('a fraction of a whole number', { estimate: 1.5 }, '.estimate', /3/),
  where('deep inside', { or: [{ not: { and: [{ titel: 'x' }] } }] }, '.or[0].not.and[0].titel', /"title"/),
  where('nothing of the caller', { title: { caller: 'name' } }, '.title.caller', /claims/),
  where('the id as a number', { estimate: { caller: 'id' } }, '.estimate.caller'),
  where('the id as a point in time', { created_at: { caller: 'id' } }, '.created_at.caller'),
  where('several roles as one value', { title: { caller: 'roles' } }, '.title.caller', /in:/),
  where('the record outside a rule', { title: { record: 'title' } }, '.title.record'),
  where('a value of two kinds', { title: { caller: 'id', record: 'id' } }, '.title'),
]
