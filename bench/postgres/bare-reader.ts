/**
 * The yardstick of reads: Node's own server, running one prepared statement and sending its text in the recorded
 * envelope. `node bare-reader.ts RECORDING PORT`.
 */
import { readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { listen } from '../bare-listen.ts'
import { withoutLast } from '../record-lines.ts'
import { pooled } from './pooled.ts'

/** What the server is given: the statement that ours runs, and by address its values and the rest of the answer. */
export interface Recording {
  readonly url: string
  /** How many connections it has. */
  readonly connections: number
  readonly statement: string
  readonly answers: Readonly<Record<string, RecordedAnswer>>
}

/** One address. */
export interface RecordedAnswer {
  readonly values: readonly unknown[]
  /** What of the statement's text is sent: nothing, all of it, or all but the last record. */
  readonly part: 'none' | 'whole' | 'without last'
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** What the body has before and after the records. */
  readonly head: string
  readonly tail: string
}

const [, , file = '', ...where] = process.argv
const recording = JSON.parse(readFileSync(file, 'utf8')) as Recording
const answers = new Map(Object.entries(recording.answers))
const ask = await pooled(recording.url, recording.connections)

const handle: RequestListener = async (request, response) => {
  const answer = answers.get(request.url as string)
  if (answer === undefined) {
    response.writeHead(404).end()
    return
  }
  const [row] = await ask('asked', recording.statement, answer.values)
  response.writeHead(answer.status, answer.headers)
  if (answer.part === 'none') {
    response.end()
    return
  }
  const text = String(row?.['json'])
  response.end(`${answer.head}${answer.part === 'whole' ? text : withoutLast(text)}${answer.tail}`)
}

listen(handle, where)
