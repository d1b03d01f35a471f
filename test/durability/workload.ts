/** Writers, each with records of its own, that change them as fast as the server answers. */
import assert from 'node:assert/strict'
import { type Answer, isConnectionLost, type Send } from './client.ts'
import { type Change, type Entry, type Ledger, valuesOf } from './ledger.ts'
import { pick, type Random } from './random.ts'

/** One writer: between rounds it keeps its records and goes on. */
export interface Writer {
  readonly number: number
  readonly random: Random
  readonly ledger: Ledger
  made: number
}

/** Makes a writer. */
export function writerOf(ledger: Ledger, number: number, random: Random): Writer {
  return { ledger, number, random, made: 0 }
}

/**
 * Changes records until told to stop, or until the server is gone.
 *
 * @returns the answer 503 where the server said that it is stopping
 */
export async function write(writer: Writer, send: Send, stopped: () => boolean): Promise<Answer | undefined> {
  try {
    while (!stopped()) {
      const answer = await step(writer, send)
      if (answer?.status === 503) return answer
    }
  } catch (error) {
    if (!isConnectionLost(error)) throw error
  }
  return undefined
}

async function step(writer: Writer, send: Send): Promise<Answer | undefined> {
  const { random, ledger, number } = writer
  // Of what failed nobody knows how it is: such a record is left alone.
  const own = ledger.entries.filter((entry) => entry.writer === number && entry.durable === entry.states.length - 1)
  const live = own.filter((entry) => entry.states[entry.durable] !== 'absent')
  const folders = live.filter((entry) => entry.collection === 'folders')
  const dice = random()
  if (folders.length === 0 || dice < 0.08) return create(writer, send, 'folders')
  if (dice < 0.5) return create(writer, send, 'notes', pick(random, folders))
  const entry = pick(random, live)
  if (dice < 0.85) return change(writer, send, entry)
  // A folder goes rarely: it takes its notes along.
  const going = entry.collection === 'folders' && random() < 0.5 ? pick(random, live) : entry
  return remove(writer, send, going)
}

async function create(writer: Writer, send: Send, collection: Entry['collection'], folder?: Entry) {
  const name = `${collection === 'folders' ? 'f' : 'n'}${writer.number}x${++writer.made}`
  const entry = writer.ledger.enter(collection, name, writer.number, folder)
  const asked = writer.ledger.ask([entry], 1)
  const body = { ...valuesOf(entry, 1), ...(folder === undefined ? {} : { folder_id: folder.id }) }
  const answer = await send('POST', `/v1/${collection}`, { body })
  if (!accepted(writer, asked, answer, 201)) return answer
  entry.id = String(answer.json.id)
  keep(entry, answer)
}

async function change(writer: Writer, send: Send, entry: Entry) {
  const path = `/v1/${entry.collection}/${entry.id}`
  if (entry.tag === undefined) {
    const current = await send('GET', path)
    if (current.status === 503) return current
    assert.equal(current.status, 200, JSON.stringify(current.json))
    keep(entry, current)
  }
  const edition = (entry.states.at(-1) as number) + 1
  const asked = writer.ledger.ask([entry], edition)
  const body = valuesOf(entry, edition)
  const answer = await send('PATCH', path, { body, headers: { 'if-match': entry.tag as string } })
  if (!accepted(writer, asked, answer, 200)) return answer
  assert.equal(answer.json.edition, edition)
  keep(entry, answer)
}

async function remove(writer: Writer, send: Send, entry: Entry) {
  // Also what may or may not be in a folder goes with it.
  const own = writer.ledger.entries.filter((each) => each === entry || each.folder === entry)
  const going = own.filter((each) => each.states.at(-1) !== 'absent')
  const asked = writer.ledger.ask(going, 'absent')
  const answer = await send('DELETE', `/v1/${entry.collection}/${entry.id}`)
  if (!accepted(writer, asked, answer, 204)) return answer
}

/** Notes down an acknowledgement. Anything else must say that the server is stopping, or that its disk failed. */
function accepted({ ledger }: Writer, asked: Change, answer: Answer, status: number): boolean {
  if (answer.status === 503 || answer.status === 502) return false
  assert.equal(answer.status, status, JSON.stringify(answer.json))
  ledger.acknowledge(asked, String(answer.headers['x-request-id']))
  return true
}

function keep(entry: Entry, answer: Answer): void {
  entry.tag = String(answer.headers['etag'])
}
