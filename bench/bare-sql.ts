/**
 * The yardstick *bare+SQL*: Node's own server, running one prepared statement and sending its text in the recorded
 * envelope. `node bare-sql.ts RECORDING PORT [CERT KEY]`.
 */
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import type { SQLInputValue } from 'node:sqlite'
import { Connection } from '../src/storage/sqlite/connection.ts'
import { listen } from './bare-listen.ts'
import { withoutLast } from './record-lines.ts'

/**
 * What the server is given: the statement that ours runs for the page, and by address its values and the rest of the
 * answer.
 */
export interface Recording {
  readonly database: string
  readonly statement: string
  readonly answers: Readonly<Record<string, RecordedPage>>
}

/** One address. */
export interface RecordedPage {
  readonly values: readonly SQLInputValue[]
  /** Whether the page shows all records that the statement reads; a cursor's page reads one more. */
  readonly whole: boolean
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** What the body has before and after the records. */
  readonly head: string
  readonly tail: string
}

const [, , file = '', ...where] = process.argv
const recording = JSON.parse(readFileSync(file, 'utf8')) as Recording
const answers = new Map(Object.entries(recording.answers))
// The same settings and functions as ours: the statement is the same in all respects.
const { database } = new Connection(recording.database, { readOnly: true })
const statement = database.prepare(recording.statement)

const handle: RequestListener = (request, response) => {
  const answer = answers.get(request.url as string)
  if (answer === undefined) {
    response.writeHead(404).end()
    return
  }
  const text = String(statement.all(...answer.values)[0]?.['json'])
  const json = answer.whole ? text : withoutLast(text)
  response.writeHead(answer.status, answer.headers)
  response.end(`${answer.head}${json}${answer.tail}`)
}

listen(handle, where)
