/** RES-16 with two servers: numbers without gaps, whatever is refused or killed, and no deadlocks on the way. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isConnectionLost } from '../../durability/client.ts'
import { atOnce, raceOf, skip } from '../servers.ts'

const race = raceOf({
  name: 'tracker',
  resources: {
    projects: { fields: { name: { type: 'string' } } },
    tickets: {
      fields: {
        title: { type: 'string', unique: true, maxLength: 40 },
        project_id: { reference: 'projects', onDelete: 'cascade', immutable: true },
        number: { sequence: { per: 'project_id' } },
      },
    },
  },
})

const parents = 12
const each = 25
const writers = 48

interface Counted {
  readonly project: string
  readonly count: number
  readonly last: number
  readonly counter: number
}

/** Every project has the numbers 1 to n, each once, and its counter is at n. */
async function requireGapless(): Promise<number> {
  const rows: Counted[] = await race.rows(`select project_id as project, count(distinct number)::int as count,
      max(number)::int as last, (select last::int from resourced_counters where name = 'tickets/number/' || project_id) as
      counter from tickets group by project_id`)
  for (const { project, count, last, counter } of rows) assert.deepEqual([count, counter], [last, last], project)
  return rows.reduce((sum, { count }) => sum + count, 0)
}

async function deadlocks(): Promise<number> {
  const [row] = await race.rows(
    'select deadlocks::int as count from pg_stat_database where datname = current_database()',
  )
  return row.count
}

async function makeProjects(): Promise<string[]> {
  const projects: string[] = []
  for (let index = 0; index < parents; index++) projects.push((await race.make('projects', { name: `p${index}` })).id)
  return projects
}

test('RES-16: creations under many records at once, some of them refused, leave no gap and no deadlock', {
  skip,
}, async () => {
  const projects = await makeProjects()
  const before = await deadlocks()
  let next = 0
  const statuses = new Map<number, number>()
  await atOnce(writers, async (writer) => {
    for (let done = 0; done < (parents * each) / writers; done++) {
      const at = next++
      const project_id = projects[(at * 7 + writer) % parents]
      // Every third is refused: a title that is taken, or none.
      const title = at % 3 === 1 ? `title ${Math.floor(at / 9)}` : at % 9 === 2 ? null : `own ${at}`
      const { status } = await race.on(at).send('POST', '/v1/tickets', { body: { title, project_id } })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  })
  assert.equal(await requireGapless(), statuses.get(201))
  assert.ok((statuses.get(409) ?? 0) > 0 && (statuses.get(400) ?? 0) > 0, JSON.stringify([...statuses]))
  assert.equal(await deadlocks(), before)
})

test('RES-16: a server that is killed while it creates records leaves no gap', { skip }, async () => {
  const projects = await makeProjects()
  for (let round = 0; round < 3; round++) {
    const victim = await race.start()
    const creating = atOnce(24, async (writer) => {
      for (let done = 0; done < 30; done++) {
        const server = writer % 2 === 0 ? victim : race.on(writer)
        const body = { title: `kill ${round} ${writer} ${done}`, project_id: projects[(writer + done) % parents] }
        try {
          await server.send('POST', '/v1/tickets', { body })
        } catch (error) {
          if (server === victim && isConnectionLost(error)) return
          throw error
        }
        if (writer === 0 && done === 10 + round) await victim.kill()
      }
    })
    await creating
    assert.ok((await requireGapless()) > 0)
  }
})
