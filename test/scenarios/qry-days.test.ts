/** QRY-2: a day in a filter of a date-time means that day in the zone of `timezone`, or in UTC. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { Type } from 'resourced-contract/model/type'
import { places, type Received, type Sent, type Trial, trialFor } from '../harness.ts'

const diary = defineInterface({
  name: 'diary',
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'visits', rename: { due_at: 'at' } }],
  resources: {
    visits: {
      fields: { at: Type.Optional(Type.String({ format: 'date-time', filter: true, sort: true })) },
      deletion: { byFilter: true },
    },
    // Its own filter has the name of the parameter.
    places: {
      fields: {
        timezone: Type.String({ filter: true }),
        day: Type.String({ format: 'date', filter: true }),
        opened_at: Type.Optional(Type.String({ format: 'date-time', filter: true })),
      },
    },
  },
})

/** Instants around the days that the tests ask for; the last record has none. */
const instants = [
  '2026-03-28T22:59:59.999Z',
  '2026-03-28T23:00:00Z',
  '2026-03-29T00:00:00Z',
  '2026-03-29T21:59:59.9999Z',
  '2026-03-29T22:00:00Z',
  '2026-10-24T22:00:00Z',
  '2026-10-25T22:59:59Z',
  '2026-10-25T23:00:00Z',
  '2018-11-04T02:59:59Z',
  '2018-11-04T03:00:00Z',
  '2018-11-05T01:59:59Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  null,
] as const

async function filled(trial: Trial): Promise<void> {
  for (const at of instants) await trial.make('visits', { at })
}

const berlin = 'timezone=Europe/Berlin'
const dayAfter = (day: string, days: number) => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
const days: readonly (readonly [name: string, query: string, found: readonly number[]])[] = [
  ['a day in UTC', 'at=2026-03-29', [2, 3, 4]],
  ['a day of 23 hours', `at=2026-03-29&${berlin}`, [1, 2, 3]],
  ['a day of 25 hours', `at=2026-10-25&${berlin}`, [5, 6]],
  ['a day that begins at one', 'at=2018-11-04&timezone=America/Sao_Paulo', [9, 10]],
  ['the day before it', 'at=2018-11-03&timezone=America/Sao_Paulo', [8]],
  ['the zone in other letters', 'at=2026-03-29&timezone=europe/berlin', [1, 2, 3]],
  ['several days', `at=2026-03-29&at=2026-10-25&${berlin}`, [1, 2, 3, 5, 6]],
  ['in: days and instants', `at[in]=2026-03-29,2026-10-25T23:00:00Z&${berlin}`, [1, 2, 3, 7]],
  ['in: days that follow each other', `at[in]=2026-03-28,2026-03-29,2026-03-30&${berlin}`, [0, 1, 2, 3, 4]],
  ['not', `at[not]=2026-03-29&at[gte]=2026-03-28&${berlin}`, [0, 4, 5, 6, 7, 12]],
  ['not, with no value', `at[not]=2026-03-29&at[null]=true&${berlin}`, [13]],
  [
    'not: days and instants',
    `at[not]=2026-03-29&at[not]=2026-03-28T22:59:59.999Z&at[gte]=2026-03-28&at[lt]=2026-10-01&${berlin}`,
    [4],
  ],
  ['gte', `at[gte]=2026-10-25&${berlin}`, [5, 6, 7, 12]],
  ['lt', `at[lt]=2026-03-29&at[gte]=2020-01-01&${berlin}`, [0]],
  ['a whole month', `at[gte]=2026-10-01&at[lt]=2026-11-01&${berlin}`, [5, 6, 7]],
  ['the first of all days', 'at=0000-01-01', [11]],
  ['the first of all days, east', 'at=0000-01-01&timezone=Asia/Tokyo', [11]],
  ['the last of all days', 'at=9999-12-31', [12]],
  ['the last of all days, west', 'at=9999-12-31&timezone=America/New_York', [12]],
  ['nothing on a day that a zone left out', 'at=2011-12-30&timezone=Pacific/Apia', []],
]

describe('days in filters', () => {
  it('QRY-2: a day finds the instants of that day', async (context) => {
    const trial = await trialFor(context, diary)
    await filled(trial)
    const list = async (sent: Sent) => {
      const { status, text, json } = await trial.send(sent)
      assert.equal(status, 200, text)
      const found = json.data.map(({ at, due_at }: Record<string, string | null>) =>
        instants.indexOf((at ?? due_at ?? null) as never),
      )
      assert.equal(json.pagination.total_count, found.length)
      return found.sort((left: number, right: number) => left - right)
    }
    for (const [name, query, found] of days) {
      assert.deepEqual(await list({ path: `/v2/visits?${query}` }), found, name)
      assert.deepEqual(
        await list({ path: `/v1/visits?${query.replaceAll('at=', 'due_at=').replaceAll('at[', 'due_at[')}` }),
        found,
        `${name}, in v1`,
      )
      const body: Record<string, string[] | string> = {}
      for (const [key, value] of new URLSearchParams(query)) {
        // A text is read as in an address; an array repeats the parameter.
        body[key] = body[key] === undefined ? value : [...[body[key]].flat(), value]
      }
      assert.deepEqual(await list({ method: 'QUERY', path: '/v2/visits', body }), found, `${name}, by QUERY`)
    }
    const today = (await trial.send({ path: '/v2/visits?limit=1' })).json.data[0].created_at.slice(0, 10)
    const created = await trial.send({ path: `/v2/visits?created_at=${today}&updated_at[gte]=${today}` })
    assert.equal(created.json.pagination.total_count, instants.length)
  })

  it('QRY-2, PAG-5: a cursor is bound to the day', async (context) => {
    const trial = await trialFor(context, diary)
    await filled(trial)
    const first = await trial.send({ path: `/v2/visits?at=2026-03-29&${berlin}&sort=at&limit=2` })
    const next = (query: string) =>
      trial.send({ path: `/v2/visits?${query}&sort=at&limit=2&cursor=${first.json.pagination.next_cursor}` })
    const second = await next(`at=2026-03-29&${berlin}`)
    assert.deepEqual(
      second.json.data.map(({ at }: { at: string }) => at),
      [instants[3]],
      second.text,
    )
    for (const query of ['at=2026-03-29', `at=2026-03-30&${berlin}`, 'at=2026-03-29&timezone=Asia/Tokyo']) {
      const refused = await next(query)
      assert.deepEqual([refused.status, refused.json.code], [400, 'INVALID_CURSOR'], query)
    }
  })

  it('QRY-2, LIM-5: a QUERY has 1,000 days beside their zone', async (context) => {
    const trial = await trialFor(context, diary)
    await filled(trial)
    const days = Array.from({ length: 1_000 }, (_, index) => dayAfter('2026-03-29', index))
    const query = (timezone: string) => {
      const body = { 'at[in]': days, timezone, sort: 'at' }
      return trial.send({ method: 'QUERY', path: '/v2/visits', body })
    }
    const { status, text, json } = await query('Europe/Berlin')
    assert.deepEqual([status, json.pagination?.total_count], [200, 7], text)
  })

  it('QRY-2, DEL-10: a deletion by filter deletes a day', async (context) => {
    const trial = await trialFor(context, diary)
    await filled(trial)
    const deleted = await trial.send({ method: 'DELETE', path: `/v2/visits?at=2026-03-29&${berlin}` })
    assert.deepEqual([deleted.status, deleted.json.deleted_count], [200, 3], deleted.text)
    const none = await trial.send({ method: 'DELETE', path: `/v2/visits?${berlin}` })
    assert.deepEqual([none.status, ...places(none)], [400, 'UNKNOWN_PARAMETER timezone'])
  })

  it('QRY-2, JOB-6: an export has the records of a day', async (context) => {
    const trial = await trialFor(context, diary)
    await filled(trial)
    const exported = async (filter: object, timezone?: unknown): Promise<Received['json']> => {
      const body = {
        collection: 'visits',
        filter,
        format: 'json',
        sort: 'at',
        ...(timezone !== undefined && { timezone }),
      }
      const accepted = await trial.send({ path: '/v2/exports', body })
      if (accepted.status !== 202) return places(accepted)
      await trial.app.runner.idle()
      const file = await trial.send({ path: `/v2/exports/${accepted.json.job_id}/content` })
      return JSON.parse(file.text).map(({ at }: { at: string | null }) => instants.indexOf(at as never))
    }
    assert.deepEqual(await exported({ at: '2026-03-29' }), [2, 3, 4])
    assert.deepEqual(await exported({ at: '2026-03-29' }, 'Europe/Berlin'), [1, 2, 3])
    assert.deepEqual(
      await exported({ at: { in: ['2026-03-29', '2026-10-25T23:00:00Z'] } }, 'Europe/Berlin'),
      [1, 2, 3, 7],
    )
    assert.deepEqual(await exported({ at: { gte: '2026-10-25', lt: '2026-10-26' } }, 'Europe/Berlin'), [5, 6])
    assert.deepEqual(await exported({ at: { not: '2026-03-29', gte: '2026-01-01', lt: '2026-10-01' } }), [0, 1])
    assert.deepEqual(await exported({ at: { null: true, not: '2026-03-29' } }), [13])
    assert.deepEqual(await exported({ not: { at: '2026-03-29' }, and: [{ at: { lt: '2018-11-05' } }] }), [11, 8, 9])
    const wrong = { or: [{ at: { gt: '2026-03-29' } }, { created_at: { lte: '2026-03-29' } }] }
    assert.deepEqual(await exported(wrong), [
      'INVALID_VALUE /filter/or/0/at/gt',
      'INVALID_VALUE /filter/or/1/created_at/lte',
    ])
    assert.deepEqual(await exported({}, 'Berlin'), ['INVALID_VALUE /timezone'])
    // Days that follow each other are one range, and others are terms of their own.
    const following = Array.from({ length: 1_000 }, (_, index) => dayAfter('2026-03-29', index))
    assert.deepEqual(await exported({ at: { in: following } }, 'Europe/Berlin'), [1, 2, 3, 4, 5, 6, 7])
    const apart = following.filter((_, index) => index % 2 === 0).slice(0, 101)
    assert.deepEqual(await exported({ at: { in: apart.slice(1) } }), [])
    assert.deepEqual(await exported({ at: { in: apart } }), ['TOO_MANY_ITEMS /filter/at/in'])
    assert.deepEqual(await exported({}, 7), ['INVALID_TYPE /timezone'])
  })

  it('QRY-8: mistakes with days and zones are named', async (context) => {
    const { send } = await trialFor(context, diary)
    const errors = async (query: string, path = '/v2/visits') => {
      const answer = await send({ path: `${path}?${query}` })
      assert.equal(answer.status, 400, `${query}: ${answer.text}`)
      return answer.json.errors.map(({ message }: { message: string }, index: number) => [
        places(answer)[index],
        message,
      ])
    }
    assert.deepEqual(await errors('at[gt]=2026-03-29'), [
      ['INVALID_VALUE at[gt]', 'at[gt] takes a date-time; for a day use at[gte] with the day after it.'],
    ])
    assert.deepEqual(await errors('created_at[lte]=2026-03-29'), [
      [
        'INVALID_VALUE created_at[lte]',
        'created_at[lte] takes a date-time; for a day use created_at[lt] with the day after it.',
      ],
    ])
    const zone = 'timezone takes the name of a time zone of the IANA database, such as Europe/Berlin.'
    for (const name of ['Berlin', '%2B02:00', '', 'Europe/Berlin%20']) {
      assert.deepEqual(await errors(`at=2026-03-29&timezone=${name}`), [['INVALID_VALUE timezone', zone]], name)
    }
    const alone =
      'timezone goes with a day in a filter, such as created_at=2026-11-28, or with a group of date-times in a summary.'
    for (const query of [berlin, `${berlin}&at=2026-03-29T00:00:00Z`, `${berlin}&at[null]=true`]) {
      assert.deepEqual(await errors(query), [['UNKNOWN_PARAMETER timezone', alone]], query)
    }
    assert.deepEqual((await errors(`at=2026-03-29&${berlin}&${berlin}`))[0]?.[0], 'DUPLICATE_PARAMETER timezone')
    assert.deepEqual((await errors('at=2026-02-29'))[0]?.[0], 'INVALID_VALUE at')
    assert.deepEqual((await errors('at[null]=2026-03-29'))[0]?.[0], 'INVALID_VALUE at[null]')
    const every2nd = Array.from({ length: 101 }, (_, number) =>
      new Date(number * 2 * 86_400_000).toISOString().slice(0, 10),
    )
    assert.deepEqual((await errors(`at[in]=${every2nd}`))[0]?.[0], 'TOO_MANY_ITEMS at[in]')
  })

  it('QRY-1: a field may be called timezone, and is a filter except beside a day', async (context) => {
    const trial = await trialFor(context, diary)
    await trial.make('places', { timezone: 'Europe/Berlin', day: '2026-03-29', opened_at: '2026-03-28T23:00:00Z' })
    await trial.make('places', { timezone: 'UTC', day: '2026-03-29', opened_at: '2026-03-29T00:00:00Z' })
    const count = async (query: string) =>
      (await trial.send({ path: `/v2/places?${query}` })).json.pagination.total_count
    assert.equal(await count(berlin), 1)
    assert.equal(await count(`${berlin}&timezone=UTC`), 2)
    // A date is no date-time.
    assert.equal(await count(`day=2026-03-29&${berlin}`), 1)
    assert.equal(await count('opened_at=2026-03-29'), 1)
    assert.equal(await count(`opened_at=2026-03-29&${berlin}`), 2)
    assert.equal(await count(`opened_at=2026-03-29&timezone[in]=${'Europe/Berlin'}`), 0)
  })
})
