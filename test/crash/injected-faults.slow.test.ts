/**
 * A fault in any transaction of changes, events, deliveries, jobs, purges and exports leaves nothing behind: what was
 * refused can be asked again, and what runs in the background ends as if nothing had happened (EVT-1, EVT-9, JOB-3,
 * DEL-7). A trigger lets a kind of change fail in a table.
 */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import type { JobStore } from '../../packages/server/src/storage/storage.ts'
import { completeVersions } from '../../packages/server/src/versions/versions.ts'
import { engine, newDatabase, type TrialDatabase } from '../engine.ts'
import { failingStore } from '../failing-store.ts'
import { type Received, type Sent, type Trial, trial } from '../harness.ts'
import { query } from '../postgres/query.ts'

const minute = 60_000
const hour = 3_600_000

/** The events that the function of `notes` was called with, for each record. */
const calls = new Map<string, string[]>()
const call = ({ event }: { event: { record: string; id: string } }) => {
  const known = calls.get(event.record) ?? []
  if (!known.includes(event.id)) calls.set(event.record, [...known, event.id])
}

const declaration = defineInterface({
  name: 'faults',
  resources: {
    folders: {
      fields: { name: { type: 'string', search: true } },
      deletion: { gracePeriod: 'PT1H', asynchronous: 'always' },
    },
    notes: {
      fields: { text: { type: 'string', search: true }, folder_id: { reference: 'folders', onDelete: 'cascade' } },
      deletion: { gracePeriod: 'PT1H' },
      events: true,
      on: { created: call, updated: call, deleted: call, purged: call },
    },
  },
})

const { stored: catalog } = completeVersions(declaration)

type Change = 'insert' | 'update' | 'delete'
/** The parts of the story, each of which can begin with a fault. */
type Part = 'start' | 'changes' | 'deliveries' | 'deletion' | 'export' | 'purge'

/** The changes that fail: by table, and for each kind of change the parts of the story that make it. */
const faults: Readonly<Record<string, Partial<Readonly<Record<Change, readonly Part[]>>>>> = {
  folders: { insert: ['changes'], update: ['deletion'], delete: ['purge'] },
  notes: { insert: ['changes'], update: ['changes', 'deletion'], delete: ['purge'] },
  events: { insert: ['changes', 'deletion', 'purge'] },
  jobs: { insert: ['deletion', 'export', 'purge'], update: ['deletion', 'export', 'purge'] },
  deliveries: { insert: ['changes', 'purge'], update: ['changes', 'deletion'] },
  resourced_clocks: { update: ['start', 'changes', 'deletion', 'export', 'purge'] },
  resourced_consumers: { insert: ['start'], update: ['start', 'changes', 'deliveries', 'deletion', 'purge'] },
  resourced_deliveries: {
    insert: ['changes', 'deletion'],
    update: ['changes', 'deletion'],
    delete: ['changes', 'purge'],
  },
  resourced_idempotency: { insert: ['changes'] },
  // On PostgreSQL, only the first start of all writes there.
  resourced_meta: { insert: engine === 'postgres' ? ['purge'] : ['start', 'purge'], update: ['purge'] },
  ...(engine === 'postgres' && { resourced_pieces: { insert: ['export'] } }),
  resourced_queue: { insert: ['deletion'], delete: ['deletion'] },
  resourced_work: {
    insert: ['deletion', 'export', 'purge'],
    update: ['deletion', 'export', 'purge'],
    delete: ['deletion', 'export', 'purge'],
  },
}

/** The transactions of jobs that commit, and whose result is lost. */
const lostResults: readonly (keyof JobStore)[] = [
  'countTotal',
  'step',
  'claimExport',
  'finishExport',
  'checkClock',
  'beginPurge',
  'deleteExpired',
]

/** Lets changes of a table fail in a database, until it is disarmed. */
async function arm({ address }: TrialDatabase, table: string, change: Change): Promise<() => Promise<void>> {
  if (address.startsWith('sqlite:')) {
    const run = (text: string) => {
      const database = new DatabaseSync(address.slice('sqlite:'.length), { timeout: 10_000 })
      database.exec(text)
      database.close()
    }
    run(`create trigger injected before ${change} on "${table}" begin select raise(abort, 'injected'); end`)
    return async () => run('drop trigger injected')
  }
  await query(
    address,
    `create or replace function injected() returns trigger language plpgsql as
      $$ begin raise exception 'injected'; end $$;
    create trigger injected before ${change} on "${table}" for each statement execute function injected()`,
  )
  return async () => void (await query(address, `drop trigger injected on "${table}"`))
}

/** A story that is told with a fault in one of its parts. */
class Story {
  readonly database: TrialDatabase
  readonly faulty: Part
  readonly #arm: () => Promise<() => Promise<void>>
  #armed: (() => Promise<void>) | undefined
  hits = 0
  current!: Trial

  constructor(database: TrialDatabase, faulty: Part, armed: () => Promise<() => Promise<void>>) {
    this.database = database
    this.faulty = faulty
    this.#arm = armed
  }

  async part(name: Part, work: () => Promise<void>): Promise<void> {
    if (name === this.faulty) this.#armed = await this.#arm()
    await work()
    await this.#disarm()
  }

  async #disarm(): Promise<void> {
    const disarm = this.#armed
    this.#armed = undefined
    await disarm?.()
  }

  async #hit(): Promise<void> {
    this.hits++
    await this.#disarm()
  }

  /** Starts a server, and starts another one if the fault refused it. */
  async start(): Promise<void> {
    const open = () => trial(declaration, { database: this.database })
    try {
      this.current = await open()
    } catch {
      await this.#hit()
      this.current = await open()
    }
  }

  /** Sends a request again once if the fault refused it. */
  async send(sent: Sent): Promise<Received> {
    const answer = await this.current.send(sent)
    if (answer.status < 500) return answer
    await this.#hit()
    return this.current.send(sent)
  }

  /** Waits until a condition holds. Failures that the server reports meanwhile disarm the fault. */
  async until(holds: () => Promise<boolean>): Promise<void> {
    const { seen } = this.current
    for (const end = performance.now() + minute; performance.now() < end; await sleep(10)) {
      if (this.#armed !== undefined && seen.some(({ kind }) => kind === 'failure')) {
        await this.#hit()
        // The claim of a delivery whose end was not stored lasts less than a minute.
        this.current.clock.ahead += minute
      }
      if (await holds()) return
    }
    assert.fail('It did not come to hold within a minute.')
  }

  /** Lets all deliveries and jobs end. */
  async settle(): Promise<void> {
    const { app } = this.current
    await this.until(async () => {
      const settled = await Promise.race([this.#settled(), sleep(200, false)])
      return settled && (await this.#isDone())
    })
    await app.runner.idle()
  }

  #settled(): Promise<boolean> {
    const { app } = this.current
    return (app.deliveries?.settle() ?? Promise.resolve()).then(
      () => true,
      () => false,
    )
  }

  async #isDone(): Promise<boolean> {
    const { rows } = this.database
    const open = await rows('select job as open from resourced_work')
    const pending = await rows('select delivery as open from resourced_deliveries')
    return open.length + pending.length === 0
  }
}

async function tell(story: Story): Promise<void> {
  const { database } = story
  const made: string[] = []
  const create = async (collection: string, body: object, key: string): Promise<string> => {
    const headers = { 'idempotency-key': `"${key}"` }
    const answer = await story.send({ path: `/v1/${collection}`, body, headers })
    assert.equal(answer.status, 201, answer.text)
    return answer.json.id
  }
  await story.part('start', async () => {
    await story.start()
    await story.until(async () => (await database.rows('select name from resourced_consumers')).length === 1)
  })
  let kept = ''
  let gone = ''
  await story.part('changes', async () => {
    kept = await create('folders', { name: 'kept' }, 'kept')
    gone = await create('folders', { name: 'gone' }, 'gone')
    for (const folder_id of [kept, gone]) {
      for (const text of ['one', 'two', 'three'])
        made.push(await create('notes', { text, folder_id }, `${folder_id}${text}`))
    }
    const changed = await story.send({ method: 'PATCH', path: `/v1/notes/${made[0]}`, body: { text: 'changed' } })
    assert.equal(changed.status, 200, changed.text)
    await story.settle()
  })
  await story.part('deliveries', async () => {
    const changed = await story.send({ method: 'PATCH', path: `/v1/notes/${made[1]}`, body: { text: 'again' } })
    assert.equal(changed.status, 200, changed.text)
    await story.settle()
  })
  await story.part('deletion', async () => {
    const answer = await story.send({ method: 'DELETE', path: `/v1/folders/${gone}` })
    assert.ok(answer.status === 202 || answer.status === 404, answer.text)
    await story.settle()
  })
  let content = ''
  await story.part('export', async () => {
    const answer = await story.send({ path: '/v1/exports', body: { collection: 'notes', format: 'ndjson' } })
    assert.equal(answer.status, 202, answer.text)
    await story.settle()
    const { json } = await story.send({ path: `/v1/jobs/${answer.json.job_id}` })
    assert.equal(json.status, 'succeeded', JSON.stringify(json))
    content = (await story.send({ path: json.result.content_url })).text
  })
  await story.part('purge', async () => {
    story.current.clock.ahead += 2 * hour
    await story.current.app.runner.maintain()
    await story.settle()
    // What a failure has stopped is removed an hour later.
    await story.current.app.runner.maintain()
    await story.settle()
  })
  const jobs = await database.rows("select kind, status from jobs where kind <> 'export' order by kind")
  assert.deepEqual(
    [...new Set(jobs.map(({ kind, status }) => `${kind} ${status}`))],
    ['deletion succeeded', 'purge succeeded'],
  )
  assert.deepEqual(
    content
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).text)
      .toSorted(),
    ['again', 'changed', 'three'],
  )
  assert.deepEqual(await database.rows('select name from folders'), [{ name: 'kept' }])
  const texts = await database.rows('select text from notes order by text')
  assert.deepEqual(
    texts.map(({ text }) => text),
    ['again', 'changed', 'three'],
  )
  for (const collection of ['folders', 'notes']) {
    const rows = await database.rows(`select id from ${collection}`)
    const { json } = await story.send({ path: `/v1/${collection}` })
    assert.equal(json.pagination.total_count, rows.length)
    const [clock] = await database.rows(
      `select sum(live) as live, sum(deleted) as deleted from resourced_clocks where collection = '${collection}'`,
    )
    assert.deepEqual([Number(clock?.['live']), Number(clock?.['deleted'])], [rows.length, 0])
    const found = await story.send({ path: `/v1/${collection}?q=${collection === 'folders' ? 'kept' : 'changed'}` })
    assert.equal(found.json.pagination.total_count, 1)
  }
  await everyEventOnce(database, made)
}

/** Each change of each record has one event, one delivery that succeeded, and a call of the function. */
async function everyEventOnce({ rows }: TrialDatabase, made: readonly string[]): Promise<void> {
  const events = await rows('select id, record, kind from events order by _row')
  const deliveries = await rows('select event_id, status from deliveries')
  for (const [index, record] of made.entries()) {
    const own = events.filter((event) => event['record'] === record)
    const rest = index < 2 ? ['updated'] : index > 2 ? ['deleted', 'purged'] : []
    assert.deepEqual(
      own.map(({ kind }) => kind),
      ['created', ...rest],
    )
    assert.deepEqual(
      calls.get(record),
      own.map(({ id }) => id),
    )
    for (const { id } of own) {
      const delivered = deliveries.filter(({ event_id }) => event_id === id)
      assert.deepEqual(
        delivered.map(({ status }) => status),
        ['succeeded'],
      )
    }
  }
}

for (const [table, changes] of Object.entries(faults)) {
  for (const [change, parts] of Object.entries(changes) as [Change, readonly Part[]][]) {
    for (const faulty of parts) {
      test(`EVT-9, JOB-3, DEL-7: nothing is lost if ${change} fails once in ${table} (${faulty})`, async () => {
        const database = await newDatabase()
        await (await database.open(catalog)).close()
        const story = new Story(database, faulty, () => arm(database, table, change))
        try {
          await tell(story)
        } finally {
          await story.current?.close()
        }
        assert.equal(story.hits, 1, 'The fault was not met.')
      })
    }
  }
}

for (const method of lostResults) {
  test(`JOB-3, DEL-7: nothing is lost if the result of ${method} is lost`, async () => {
    const database = await newDatabase()
    let hit = () => false
    const open: TrialDatabase['open'] = async (...given) => {
      const storage = await database.open(...given)
      const jobs = failingStore(storage.jobs, { method, call: 1, when: 'after' })
      hit = jobs.hit
      return Object.assign(storage, { jobs: jobs.store })
    }
    const story = new Story({ ...database, open }, 'start', async () => async () => {})
    try {
      await tell(story)
    } finally {
      await story.current?.close()
    }
    assert.ok(hit(), `${method} was not called.`)
  })
}
