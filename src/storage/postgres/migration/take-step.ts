/** The questions and the steps of a migration, carried out on PostgreSQL. */
import type { ClientBase } from 'pg'
import type { Answer, MigrationStep, Question } from '../../migration/migration-step.ts'
import { beginEpoch, forgetEpoch } from '../../sql/epoch.ts'
import { isSystemTable } from '../../sql/system-tables.ts'
import { postgres, wordsColumn } from '../engine.ts'
import { convertColumn, renameColumns, renameTable } from './catch-up.ts'
import { changeType, countInconvertible, fillDefault, setClock } from './records.ts'
import { query } from './session.ts'

const quote = postgres.identifier

/** Counts what a step has to know. */
export async function answer(client: ClientBase, question: Question): Promise<Answer> {
  const table = quote(question.table)
  const count = async (what: string): Promise<Answer> => {
    const [row] = await query(client, `select ${what} as n from ${table}`)
    return { count: Number(row?.['n']) }
  }
  switch (question.ask) {
    case 'rows':
      return await count('count(*)')
    case 'values':
      return await count(`count(${quote(question.column)})`)
    case 'nulls':
      return await count(`count(*) - count(${quote(question.column)})`)
    case 'inconvertible':
      return { count: await countInconvertible(client, question) }
    case 'duplicates': {
      const columns = question.columns.map(quote)
      // Rows of the system's own are no records.
      const [live, id] = isSystemTable(question.table) ? ['true', 'null'] : ['deleted_at is null', 'max(id)']
      const conditions = [live, ...columns.map((column) => `${column} is not null`)].join(' and ')
      const groups = `select count(*) - 1 as extra, ${id} as id from ${table} where ${conditions} group by ${columns.join(', ')}`
      const [row] = await query(
        client,
        `select sum(extra) as n, max(id) as example from (${groups}) as g where extra > 0`,
      )
      return { count: Number(row?.['n'] ?? 0), example: (row?.['example'] as string | null) ?? undefined }
    }
  }
}

/** Takes a step, save for those that fill columns by what others hold. */
export async function takeStep(client: ClientBase, step: MigrationStep, now: number): Promise<void> {
  const table = quote(step.table)
  switch (step.kind) {
    case 'create-table':
      await query(client, postgres.createTable(step.spec))
      return
    case 'drop-table':
      await query(client, `drop table ${table}`)
      await query(client, 'delete from resourced_clocks where collection = $1', [step.table])
      await query(client, forgetEpoch(step.table))
      return
    case 'add-column':
      await query(client, `alter table ${table} add column ${postgres.columnDefinition(step.column)}`)
      return
    case 'drop-column':
      await query(client, `alter table ${table} drop column ${quote(step.column)}`)
      if (step.loses !== 'nothing') for (const statement of beginEpoch(step.table)) await query(client, statement)
      return
    case 'change-type':
      await changeType(client, step.table, step.column, { from: step.from, lossless: step.loses === 'nothing', now })
      return
    case 'fill-default':
      await fillDefault(client, step.table, step.column, now)
      return
    case 'create-index':
      await query(client, postgres.createIndex(step.index))
      return
    case 'drop-index':
      await query(client, `drop index ${quote(step.index)}`)
      return
    case 'drop-search':
      // Its index goes along.
      await query(client, `alter table ${table} drop column ${wordsColumn}`)
      return
    case 'rename-table':
      await renameTable(client, step.table, step.to)
      return
    case 'rename-columns':
      await renameColumns(client, step.table, step.columns)
      return
    case 'convert-column':
      await convertColumn(client, step)
      return
    case 'set-clock':
      await setClock(client, step.table)
      return
    case 'derive-column': // See `fillMade`.
    case 'build-search':
    case 'move-keys': // No PostgreSQL database is as old as that.
    case 'require':
    case 'allow-null':
    case 'blocked':
      return
  }
}
