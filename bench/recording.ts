/** What the bare servers send: our own server's answers, written down. */
import { writeFileSync } from 'node:fs'
import type { SQLInputValue } from 'node:sqlite'
import type { Catalog } from '../src/model/resource.ts'
import { type Answer, ask, type Request } from './ask.ts'
import type { RecordedPage, Recording } from './bare-sql.ts'
import { withoutLast } from './record-lines.ts'
import { pageStatement } from './statements.ts'

/** Records our answers for *bare*, by address. */
export async function recordAnswers(file: string, origin: string, requests: readonly Request[]): Promise<void> {
  const answers: Record<string, Answer> = {}
  for (const request of requests) answers[request.path] = await ask(origin + request.path, request)
  writeFileSync(file, JSON.stringify(answers))
}

/**
 * Records the statement and the envelopes of pages for *bare+SQL*.
 *
 * @param database the copy that it will read
 * @throws Error where the statement does not give the records that our server sent
 */
export async function recordPages(
  file: string,
  origin: string,
  requests: readonly Request[],
  catalog: Catalog,
  database: string,
): Promise<void> {
  const answers: Record<string, RecordedPage> = {}
  let statement: string | undefined
  for (const request of requests) {
    const { status, headers, body } = await ask(origin + request.path, request)
    const { sql, json: read } = await pageStatement(catalog, database, request.path)
    const whole = body.includes(read)
    const json = whole ? read : withoutLast(read)
    const start = body.indexOf(json)
    if (start === -1 || json === '')
      throw new Error(`The statement for ${request.path} gives other records than the server.`)
    statement ??= sql.sql
    if (statement !== sql.sql) throw new Error('The statement is not the same for every page.')
    const [head, tail] = [body.slice(0, start), body.slice(start + json.length)]
    answers[request.path] = { values: sql.values as SQLInputValue[], whole, status, headers, head, tail }
  }
  const recording: Recording = { database, statement: statement ?? '', answers }
  writeFileSync(file, JSON.stringify(recording))
}
