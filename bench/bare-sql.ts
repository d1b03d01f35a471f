/**
 * The yardstick *bare+SQL*: Node's own server, running one prepared statement and sending its text in the recorded
 * envelope. `node bare-sql.ts RECORDING PORT [CERT KEY]`.
 */
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import type { SQLInputValue } from 'node:sqlite'
import { Connection } from '../src/storage/sqlite/connection.ts'
import { listen } from './bare-listen.ts'

/** What the server is given: the statement that ours runs for the page, and by address its values and the rest of the answer. */
export interface Recording {
  readonly database: string
  readonly statement: string
  readonly answers: Readonly<Record<string, RecordedPage>>
}

/** One address. */
export interface RecordedPage {
  readonly values: readonly SQLInputValue[]
  /** How many of the rows the page shows. */
  readonly shown: number
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
  const rows = statement.all(...answer.values)
  if (rows.length > answer.shown) rows.pop()
  const json = rows.length === 1 ? rows[0]?.['json'] : rows.map((row) => row['json']).join(',')
  response.writeHead(answer.status, answer.headers)
  response.end(`${answer.head}${json}${answer.tail}`)
}

listen(handle, where)
