/** The files of exports in the database, in pieces (JOB-6). A piece is known by the byte of the file at which it begins. */
import sql from 'sql-template-tag'
import { timestamp } from '../../../model/instant.ts'
import { exportsKept } from '../../../plan/export-document.ts'
import { single, type Transaction } from '../../transaction.ts'

/** The most bytes of a piece: who reads a file has one of them in memory. */
const largest = 512 * 1_024

/** The most pieces that one transaction forgets. */
export const mostForgotten = 64

/** Keeps what comes next of a file, in as many pieces as it takes. */
export function* keepPieces(job: string, start: number, content: Uint8Array): Transaction<void> {
  for (let from = 0; from < content.length; from += largest) {
    const piece = content.subarray(from, from + largest)
    yield sql`insert into resourced_pieces (job, start, content) values (${job}, ${start + from}, ${piece})`
  }
}

/** The piece of a file that begins at a byte. */
export function* readPiece(job: string, start: number): Transaction<Uint8Array | undefined> {
  const row = yield* single(sql`select content from resourced_pieces where job = ${job} and start = ${start}`)
  return row?.['content'] as Uint8Array | undefined
}

/** Removes what there is of a file. */
export function* dropPieces(job: string): Transaction<void> {
  yield sql`delete from resourced_pieces where job = ${job}`
}

/** Removes pieces of files whose time is over, or whose job failed or is forgotten. Gives their number. */
export function* forgetPieces(now: number): Transaction<number> {
  const begun = sql`select 1 from resourced_work w where w.job = p.job`
  const finished = sql`select 1 from jobs j where j.id = p.job and j.status = 'succeeded' and j.finished_at > ${timestamp(now - exportsKept)}`
  const old = sql`select p.job, p.start from resourced_pieces p where not exists (${begun}) and not exists (${finished}) limit ${mostForgotten}`
  return (yield sql`delete from resourced_pieces where (job, start) in (${old}) returning job`).length
}
