/**
 * Measures conditions across relations and summaries as a collection grows: `node bench/related.ts [RECORDS]
 * [FEWER]`, 1,000,000 and 1,000 by default. Each request asks for something else, or follows a change, so no answer is
 * remembered. A summary that is not kept is compared with the same statement in SQLite alone. Processor time, in
 * milliseconds, medians.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type App, createApp, defineInterface } from '../packages/server/src/index.ts'
import { describeMachine, loadAverage } from './machine.ts'

const [most = '1000000', fewer = '1000'] = process.argv.slice(2)
const rounds = 15
/** How many books an author has. */
const each = 100
const batch = 1_000

const declaration = defineInterface({
  name: 'shelf',
  resources: {
    authors: { fields: { name: { type: 'string', filter: true } }, access: { read: 'anyone' } },
    books: {
      fields: {
        author_id: { reference: 'authors' },
        status: { enum: ['open', 'lent', 'lost', 'sold'], filter: true },
        year: { type: 'integer', filter: true },
        pages: { type: 'integer' },
        price: { type: 'decimal', precision: 10, scale: 2 },
      },
      access: { read: 'anyone' },
      summaries: { by_status: { group: ['status'], sum: ['price'] } },
    },
  },
})

const administrator = { id: 'me', roles: ['admin'] }
const statuses = declaration.resources.books.fields.status.enum

async function fill(app: App, count: number): Promise<void> {
  const client = app.as<typeof declaration>(administrator)
  const authors: string[] = []
  for (let at = 0; at * each < count; at += batch) {
    const names = Array.from({ length: Math.min(batch, count / each - at) }, (_, index) => ({
      name: `author ${at + index}`,
    }))
    for (const { id } of await client.authors.createMany(names)) authors.push(id)
  }
  for (let at = 0; at < count; at += batch) {
    await client.books.createMany(
      Array.from({ length: batch }, (_, index) => ({
        author_id: authors[(at + index) % authors.length]!,
        status: statuses[(at + index) % statuses.length]!,
        year: 1900 + ((at + index) % 120),
        pages: (at + index) % 900,
        price: `${(at + index) % 500}.25`,
      })),
    )
  }
}

/** The median of the processor time of some runs. */
async function median(run: (round: number) => unknown): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage()
    await run(round)
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1_000)
  }
  return times.toSorted((one, other) => one - other)[Math.floor(rounds / 2)]!
}

async function measure(count: number): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'resourced-related-'))
  const file = join(folder, 'data.db')
  const limits = { rate: { caller: '1000000/second' }, readTime: 300_000 } as const
  const app = createApp({ ...declaration, limits }, { database: `sqlite:${file}`, authenticate: () => administrator })
  try {
    await fill(app, count)
    const get = async (target: string) => {
      const headers = {}
      const respond = { method: 'GET', target, headers, secure: true, address: '127.0.0.1' } as const
      const { status, body } = await app.respond({ ...respond, readBody: async () => Buffer.alloc(0) })
      if (status !== 200) throw new Error(String(body))
      return String(body)
    }
    const client = app.as<typeof declaration>(administrator)
    const change = async () => {
      const [book] = (await client.books.list({ limit: 1 })).data
      await client.books.update(book!.id, { pages: Math.floor(Math.random() * 900) })
    }
    const database = new DatabaseSync(file, { readOnly: true })
    const alone = database.prepare(
      'select status, count(*), sum(pages) from books where deleted_at is null and year >= ? group by status order by status limit 101',
    )
    await get('/v1/books?author.name=author%20999999')
    const through = (round: number) => get(`/v1/books?author.name=author%20${(round * 7) % (count / each)}&limit=100`)
    const measured = {
      'filter through a reference, 100 matches': await median(through),
      'change and kept summary': await median(async () => {
        await change()
        await get('/v1/books/summary?group=status&sum=price')
      }),
      'change alone': await median(change),
      'summary that is not kept': await median((round) =>
        get(`/v1/books/summary?group=status&sum=pages&year[gte]=${round}&sort=status&limit=100`),
      ),
      'the same in SQLite alone': await median((round) => alone.all(round)),
    }
    database.close()
    return measured
  } finally {
    await app.close()
    rmSync(folder, { recursive: true })
  }
}

process.stdout.write(`${describeMachine(tmpdir())}; load average ${loadAverage()}\n`)
const [few, many] = [await measure(Number(fewer)), await measure(Number(most))]
for (const [name, time] of Object.entries(many)) {
  process.stdout.write(`${name}: ${few[name]!.toFixed(2)} over ${fewer}, ${time.toFixed(2)} over ${most}\n`)
}
