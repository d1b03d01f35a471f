/** AUT-4 to AUT-6: access that is decided by a record three references away, in every operation on a record. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { places, type Received, type Trial, trial, trialFor } from '../harness.ts'

/** A chain three deep: who owns a region reads and changes what lies in it. */
const land = (() => {
  const through = <Field extends string>(field: Field) => ({
    read: ['role:admin', { through: field, action: 'read' }] as const,
    create: { through: field, action: 'update' } as const,
    update: { through: field, action: 'update' } as const,
    delete: { through: field, action: 'update' } as const,
  })
  const name = Type.String({ filter: true, sort: true, search: true })
  const size = Type.Optional(Type.Integer({ filter: true, sort: true }))
  return defineInterface({
    name: 'land',
    resources: {
      regions: {
        fields: { name, open: Type.Boolean({ default: false }), owner_id: Type.String({ readOnly: true }) },
        owner: 'owner_id',
        access: {
          read: ['role:admin', 'owner', { where: { open: true } }],
          create: 'anyone',
          update: 'owner',
          delete: 'owner',
        },
      },
      cities: { fields: { name, region_id: reference('regions') }, within: 'region_id', access: through('region_id') },
      streets: { fields: { name, city_id: reference('cities') }, within: 'city_id', access: through('city_id') },
      houses: {
        fields: { name, size, plate: Type.Optional(Type.String({ unique: true })), street_id: reference('streets') },
        within: 'street_id',
        access: through('street_id'),
      },
      // Nothing is inherited that is not declared.
      letters: { fields: { name, house_id: Type.Optional(reference('houses')) }, within: 'house_id' },
    },
  })
})()

interface Place {
  readonly id: string
  readonly name: string
}
interface House extends Place {
  readonly plate: string
  readonly size: number | null
  readonly region: Place & { readonly open: boolean; readonly owner_id: string }
  readonly street_id: string
}

describe('access through a chain of references', () => {
  let current: Trial
  const houses: House[] = []
  const streets: (Place & { region: House['region'] })[] = []

  before(async () => {
    current = await trial(land, { memory: true })
    let number = 0
    for (const [owner, open] of [
      ['ann', false],
      ['ann', true],
      ['bob', false],
      ['bob', true],
    ] as const) {
      const region = await current.make('regions', { name: `region of ${owner}`, open }, owner)
      for (let city = 0; city < 2; city++) {
        const { id: city_id } = await current.make('cities', { name: `city ${city}`, region_id: region.id }, owner)
        for (let street = 0; street < 2; street++) {
          const made = await current.make('streets', { name: `street ${street}`, city_id }, owner)
          streets.push({ ...made, region })
          for (let house = 0; house < 3; house++) {
            const values = {
              name: `house ${(number * 7) % 11}`,
              size: number % 4 === 0 ? null : (number * 5) % 6,
              plate: `p${number++}`,
            }
            const { id } = await current.make('houses', { ...values, street_id: made.id }, owner)
            houses.push({ id, ...values, region, street_id: made.id })
          }
        }
      }
    }
  })
  after(() => current.close())

  const reads = (as: string, { region }: { region: House['region'] }) =>
    as === 'root' || region.open || region.owner_id === as
  const list = (query: string, as: string, path = '/v1/houses') => current.send({ path: `${path}?${query}`, as })
  const ids = (answer: Received): string[] => answer.json.data.map((each: Place) => each.id)

  it('AUT-6: unreadable records are not counted, found, filtered, sorted or returned by a cursor', async () => {
    const filters: Record<string, (house: House) => boolean> = {
      'name[contains]=house': () => true,
      'q=hous': () => true,
      'q=house+7': ({ name }) => name === 'house 7',
      'name=house+3': ({ name }) => name === 'house 3',
      'size[gt]=2': ({ size }) => size !== null && size > 2,
      'size[null]=true': ({ size }) => size === null,
      'size[not]=1': ({ size }) => size !== 1,
      'name[starts_with]=HOUSE 1': ({ name }) => name.startsWith('house 1'),
    }
    const asked = fc.record({
      as: fc.constantFrom('root', 'ann', 'bob', 'eve'),
      filter: fc.constantFrom(...Object.keys(filters)),
      sort: fc.constantFrom('', 'sort=name', 'sort=-size', 'sort=size,-name', 'sort=-created_at'),
      limit: fc.integer({ min: 1, max: 9 }),
    })
    const property = fc.asyncProperty(asked, async ({ as, filter, sort, limit }) => {
      const expected = houses.filter((house) => reads(as, house) && filters[filter]?.(house)).map(({ id }) => id)
      const query = [encodeURI(filter), sort].filter((part) => part !== '').join('&')
      for (const style of [`page=1&per_page=100`, `offset=0&limit=100`, 'limit=100']) {
        const answer = await list(`${query}&${style}`, as)
        assert.deepEqual(ids(answer).sort(), expected.toSorted(), answer.text)
        assert.equal(answer.json.pagination.total_count, expected.length)
      }
      const walked: string[] = []
      let answer = await list(`${query}&limit=${limit}`, as)
      for (;;) {
        walked.push(...ids(answer))
        const { next_cursor, total_count } = answer.json.pagination
        assert.equal(total_count, expected.length)
        if (next_cursor === null) break
        answer = await list(`${query}&limit=${limit}&cursor=${next_cursor}`, as)
      }
      assert.deepEqual(walked.toSorted(), expected.toSorted())
      // A cursor of one who sees everything leads nobody else to more.
      const { next_cursor } = (await list(`${query}&limit=${limit}`, 'root')).json.pagination
      if (next_cursor === null) return
      const lent = await list(`${query}&limit=100&cursor=${next_cursor}`, as)
      for (const id of ids(lent)) assert.ok(expected.includes(id))
    })
    await fc.assert(property, { numRuns: 150 })
  })

  it('AUT-6: a record and the list agree for every caller', async () => {
    for (const as of ['root', 'ann', 'bob', 'eve']) {
      const seen = new Set(ids(await list('limit=100', as)))
      for (const house of houses) {
        const { status } = await current.send({ path: `/v1/houses/${house.id}`, as })
        assert.equal(status, reads(as, house) ? 200 : 403)
        assert.equal(seen.has(house.id), status === 200)
      }
    }
  })

  it('AUT-4: a nested list under an unreadable parent is 403', async () => {
    for (const street of streets) {
      const answer = await list('', 'ann', `/v1/streets/${street.id}/houses`)
      assert.equal(answer.status, reads('ann', street) ? 200 : 403)
    }
  })

  it('AUT-5: the owner of a record may not access its children, unless the declaration says so', async () => {
    const house = houses[0] as House
    await current.make('letters', { name: 'x', house_id: house.id })
    for (const path of ['/v1/letters', `/v1/houses/${house.id}/letters`]) {
      assert.equal((await list('', 'ann', path)).status, 403)
      assert.equal((await current.send({ path, as: 'ann', body: { name: 'y' } })).status, 403)
      assert.equal((await list('', 'root', path)).json.pagination.total_count, 1)
    }
  })

  it('AUT-4: moving a record requires permission at the destination, and shows nothing of the destination', async () => {
    const house = houses.find(({ region }) => region.owner_id === 'ann') as House
    const own = streets.filter(({ region }) => region.owner_id === 'ann')
    const path = `/v1/houses/${house.id}`
    const place = async () => (await current.send({ path })).json.street_id
    const strip = ({ text }: Received) => text.replace(/"request_id":"[^"]*"/, '')
    const move = (street_id: string, method = 'PATCH', as = 'ann') =>
      current.send({
        method,
        path,
        as,
        body: method === 'PUT' ? { name: house.name, plate: house.plate, street_id } : { street_id },
      })
    const absent = '01a1fde6-f89d-7507-9d1c-cdff0f8d7c07'
    for (const method of ['PATCH', 'PUT']) {
      // What ann may not read is a mistake, as if it were not there; what she may read and not change is 403.
      const nowhere = await move(absent, method)
      assert.deepEqual([nowhere.status, ...places(nowhere)], [400, 'INVALID_REFERENCE /street_id'])
      const refused = new Set<string>()
      const unread = new Set([strip(nowhere)])
      for (const { id, region } of streets.filter(({ region }) => region.owner_id === 'bob')) {
        const answer = await move(id, method)
        const answers = region.open ? refused : unread
        answers.add(strip(answer))
        assert.equal(answer.status, region.open ? 403 : 400)
        assert.equal(await place(), house.street_id)
        const made = await current.send({ path: '/v1/houses', as: 'ann', body: { name: 'x', street_id: id } })
        assert.equal(made.status, answer.status)
      }
      assert.deepEqual([refused.size, unread.size], [1, 1])
      for (const { id } of own) assert.equal((await move(id, method)).status, 200)
      assert.equal((await move(house.street_id, method)).status, 200)
    }
    assert.equal((await move(house.street_id, 'PATCH', 'bob')).status, 403)
  })

  it('AUT-6: a unique value of an unreadable record is reported as taken, without details', async () => {
    const hidden = houses.find(({ region }) => region.owner_id === 'bob' && !region.open) as House
    const shown = houses.find(({ region }) => region.owner_id === 'ann') as House
    const own = streets.find(({ region }) => region.owner_id === 'ann') as Place
    const taken = async (index: number) => {
      const body = { name: 'new', plate: `p${index}`, street_id: own.id }
      const answer = await current.send({ path: '/v1/houses', as: 'ann', body })
      assert.deepEqual(
        [answer.status, answer.json.code, places(answer)],
        [409, 'DUPLICATE_VALUE', ['DUPLICATE_VALUE /plate']],
      )
      return answer.text.replace(/"request_id":"[^"]*"/, '')
    }
    const text = await taken(houses.indexOf(hidden))
    assert.equal(text, await taken(houses.indexOf(shown)))
    for (const secret of [hidden.id, hidden.name, hidden.street_id]) assert.ok(!text.includes(secret))
  })
})

it('AUT-4: a caller with permission to update moves a record only to places where they could have created it', async (t) => {
  const box = defineInterface({
    name: 'box',
    resources: {
      trays: {
        fields: { owner_id: Type.String({ readOnly: true }) },
        owner: 'owner_id',
        access: { read: 'anyone', create: 'anyone', update: 'owner' },
      },
      cards: {
        fields: { text: Type.Optional(Type.String()), tray_id: Type.Optional(reference('trays')) },
        access: { read: 'anyone', create: { through: 'tray_id', action: 'update' }, update: 'anyone' },
      },
    },
  })
  const current = await trialFor(t, box, { memory: true })
  const [own, other] = [await current.make('trays', {}, 'ann'), await current.make('trays', {}, 'bob')]
  const { id } = await current.make('cards', { tray_id: own.id }, 'ann')
  const write = async (method: string, body: object, as: string) =>
    (await current.send({ method, path: `/v1/cards/${id}`, body, as })).status
  for (const method of ['PATCH', 'PUT']) {
    assert.equal(await write(method, { tray_id: own.id, text: method }, 'bob'), 200)
    assert.equal(await write(method, { tray_id: other.id }, 'ann'), 403)
    assert.equal(await write(method, { tray_id: null }, 'ann'), 403)
  }
  assert.equal(await write('PATCH', { tray_id: other.id }, 'bob'), 200)
})
