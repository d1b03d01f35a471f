/** Twenty thousand goods on two hundred shelves, and transactions whose every statement is explained. */

import { completeCatalog } from 'resourced-contract/model/catalog'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import type { Resource } from 'resourced-contract/model/resource'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { sqlContext } from '../sql/context.ts'
import { Connection } from '../sqlite/connection.ts'
import { sqlite } from '../sqlite/dialect.ts'
import { migrate } from '../sqlite/migrate.ts'
import type { Transaction } from '../transaction.ts'

const name = Type.String({ filter: true, sort: true, search: true })

export const catalog = completeCatalog(
  defineInterface({
    name: 'store',
    resources: {
      shelves: {
        fields: { name, open: Type.Boolean({ default: false }), owner_id: Type.String({ readOnly: true }) },
        owner: 'owner_id',
        rules: [
          {
            on: ['delete', 'update'],
            code: 'SHELF_IN_USE',
            message: 'Goods of kind a are on it.',
            unless: { none: 'goods', where: { shelf_id: { record: 'id' }, kind: { in: ['a'] } } },
          },
        ],
      },
      labels: { fields: { name } },
      goods: {
        fields: {
          name,
          note: Type.Optional(Type.String({ filter: true, sort: true })),
          kind: Type.Enum(['a', 'b', 'c'], { sort: true }),
          fresh: Type.Optional(Type.Boolean()),
          size: Type.Optional(Type.Integer({ filter: true, sort: true })),
          weight: Type.Number({ filter: true, sort: true }),
          day: Type.Optional(Type.String({ format: 'date', filter: true, sort: true })),
          due: Type.Optional(Type.String({ format: 'date-time', filter: true, sort: true })),
          shelf_id: reference('shelves', { onDelete: 'cascade' }),
          label_id: Type.Optional(reference('labels', { onDelete: 'clear' })),
          code: Type.Optional(Type.String({ unique: true })),
          owner_id: Type.String({ readOnly: true }),
        },
        owner: 'owner_id',
        within: 'shelf_id',
        unique: [['shelf_id', 'name']],
        access: { read: [{ where: { owner_id: { caller: 'id' } } }, { through: 'shelf_id', action: 'read' }] },
      },
      parts: { fields: { name, good_id: reference('goods', { onDelete: 'restrict' }) }, within: 'good_id' },
    },
  }),
)

export const context = sqlContext({ catalog, dialect: sqlite, tagSecret: new Uint8Array(32) })

/** A resource of the store. */
export function resource(collection: string): Resource {
  return catalog.resources.get(collection) as Resource
}

/** The id of the record with a number. */
export function idOf(number: number): string {
  return `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`
}

/** Opens the store. */
export function openStore(): Connection {
  const connection = new Connection(':memory:')
  migrate(connection.database, catalog, { apply: 'additive', now: 0 })
  const id = (number: string) => `printf('00000000-0000-7000-8000-%012d', ${number})`
  const numbers = (count: number) =>
    `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1})`
  const stamp = (step: number) => `strftime('%Y-%m-%dT%H:%M:%S.000Z', 1600000000 + i * ${step}, 'unixepoch')`
  const due = `strftime('%Y-%m-%dT%H:%M:%S', 1600000000 + (i * 977) % 9000000, 'unixepoch')`
  const plain = (count: number) =>
    `${numbers(count)} select ${id('i')}, 'n' || i, 'n' || i, ${stamp(60)}, ${stamp(61)}, 1`
  connection.database.exec(`
    insert into shelves (id, name, _folded_name, created_at, updated_at, _revision, open, owner_id)
      ${plain(200)}, i % 10 = 0, 'u' || (i / 2) from n;
    insert into labels (id, name, _folded_name, created_at, updated_at, _revision) ${plain(50)} from n;
    insert into goods (id, name, _folded_name, created_at, updated_at, _revision, note, _folded_note, kind, fresh, size,
        weight, day, due, _instant_due, shelf_id, label_id, code, owner_id)
      ${plain(20_000)}, iif(i % 5 = 0, null, 'm' || (i % 100)), iif(i % 5 = 0, null, 'm' || (i % 100)),
        iif(i % 3 = 0, 'a', iif(i % 50 = 1, 'b', 'c')), iif(i % 7 = 0, null, i % 2), iif(i % 11 = 0, null, i % 1000), i * 0.37,
        iif(i % 6 = 0, null, date('2020-01-01', '+' || (i % 3000) || ' days')),
        iif(i % 6 = 0, null, ${due} || 'Z'), iif(i % 6 = 0, null, ${due}),
        ${id('i % 200')}, iif(i % 4 = 0, ${id('i % 50')}, null), 'c' || i, 'u' || (i % 50) from n;
    insert into parts (id, name, _folded_name, created_at, updated_at, _revision, good_id) ${plain(400)}, ${id('i')} from n;
    update resourced_clocks set live = 20000, revision = 1 where collection = 'goods';`)
  return connection
}

/** A statement that a transaction ran, and how the engine went about it. */
export interface Explained {
  readonly sql: string
  readonly steps: readonly string[]
}

/** Drives a transaction by hand, and explains what it runs. */
export function explained<T>(
  connection: Connection,
  transaction: Transaction<T>,
): { result: T; statements: Explained[] } {
  const statements: Explained[] = []
  let step = transaction.next([])
  while (step.done !== true) {
    const statement = step.value
    const plan = connection.database
      .prepare(`explain query plan ${statement.sql}`)
      .all(...(statement.values as never[]))
    statements.push({ sql: statement.sql, steps: plan.map((each) => String(each['detail'])) })
    step = transaction.next(connection.all(statement))
  }
  return { result: step.value, statements }
}

/**
 * Whole tables read, index walks and sorts among steps. Lists of values are no tables, nor is one row of the words'
 * index.
 */
export function costsOf(statements: readonly Explained[]): { scans: string[]; walks: string[]; sorts: string[] } {
  const steps = statements.flatMap((statement) =>
    statement.steps.map((step) => ({ step, bounded: / limit \+?\?/.test(statement.sql) })),
  )
  const tables = steps.filter(({ step }) =>
    /^SCAN (?!\(|page$|CONSTANT|json_each|.* VIRTUAL TABLE INDEX 0:=)/.test(step),
  )
  const isWalk = ({ step, bounded }: (typeof steps)[number]) => bounded && step.includes(' USING ')
  return {
    scans: tables.filter((each) => !isWalk(each)).map(({ step }) => step),
    walks: tables.filter(isWalk).map(({ step }) => step),
    sorts: steps.filter(({ step }) => step.includes('TEMP B-TREE')).map(({ step }) => step),
  }
}
