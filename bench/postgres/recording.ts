/** What the bare reader sends: our own server's answers, written down with the statement that they come from. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import type { Catalog } from 'resourced-contract/model/resource'
import { ask, type Request } from '../ask.ts'
import { withoutLast } from '../record-lines.ts'
import { type AskedStatement, statementsOf } from './asked.ts'
import type { RecordedAnswer, Recording } from './bare-reader.ts'

/** Where a recording is made, and of what. */
export interface Source {
  readonly folder: string
  readonly name: string
  readonly origin: string
  /** The database that ours, and the bare server, read. */
  readonly url: string
  readonly catalog: Catalog
  /** How many connections the bare server has. */
  readonly connections: number
}

/** The last statement that gives records: what a page comes from when it is asked for again. */
export const ofRecords = (asked: readonly AskedStatement[]) =>
  asked.findLast(({ rows }) => rows[0] !== undefined && 'json' in rows[0])

/** The first statement: that of a collection's clock, which says whether a page is still the same. */
export const first = (asked: readonly AskedStatement[]) => asked[0]

/**
 * Records answers.
 *
 * @param choose which of our statements the bare server runs
 * @returns the file
 * @throws Error where the statement does not give the records that our server sent
 */
export async function record(
  { folder, name, origin, url, catalog, connections }: Source,
  requests: readonly Request[],
  choose: (asked: readonly AskedStatement[]) => AskedStatement | undefined,
): Promise<string> {
  const answers: Record<string, RecordedAnswer> = {}
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  let statement: string | undefined
  for (const request of requests) {
    const answer = await ask(origin + request.path, request)
    const chosen = choose(await statementsOf(catalog, client, request.path))
    if (chosen === undefined) throw new Error(`${request.path} reads no records.`)
    const { text, values } = chosen.statement
    statement ??= text
    if (statement !== text) throw new Error(`The statement of ${request.path} is not that of the others.`)
    const { status, headers } = answer
    answers[request.path] = { values, status, headers, ...partsOf(request.path, answer.body, chosen.rows[0]?.['json']) }
  }
  await client.end()
  const recording: Recording = { url, connections, statement: statement ?? '', answers }
  const file = join(folder, `${name}.json`)
  writeFileSync(file, JSON.stringify(recording))
  return file
}

function partsOf(path: string, body: string, found: unknown): Pick<RecordedAnswer, 'part' | 'head' | 'tail'> {
  if (body === '') return { part: 'none', head: '', tail: '' }
  const read = String(found)
  const isWhole = body.includes(read)
  const json = isWhole ? read : withoutLast(read)
  const start = body.indexOf(json)
  if (start === -1 || json === '') throw new Error(`The statement for ${path} gives other records than the server.`)
  const [head, tail] = [body.slice(0, start), body.slice(start + json.length)]
  return { part: isWhole ? 'whole' : 'without last', head, tail }
}
