/** DEL-11: unique values of every type are asked for by statements whose texts are built once for each set of questions. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { defineInterface, reference, Type } from '../../packages/server/src/index.ts'
import { places, type Received, trialFor } from '../harness.ts'

const anyone = { read: 'anyone', create: 'anyone', update: 'anyone' } as const
const { Optional } = Type

const declared = defineInterface({
  name: 'seats',
  resources: {
    halls: { fields: { name: Type.String({ default: 'none' }) }, access: anyone },
    seats: {
      fields: {
        flag: Optional(Type.Boolean()),
        whole: Optional(Type.Integer()),
        real: Optional(Type.Number({ unique: true })),
        price: Optional(Type.Decimal({ precision: 12, scale: 2, unique: true })),
        moment: Optional(Type.String({ format: 'date-time', unique: true })),
        hall_id: Optional(reference('halls', { unique: true })),
      },
      unique: [['flag', 'whole']],
      access: anyone,
    },
  },
})

it('DEL-11: two records share no unique value of any type, however it is written and in whatever order they come', async (context) => {
  const { send, make } = await trialFor(context, declared)
  const { id: hall_id } = await make('halls', {})
  const taken = { flag: false, whole: 0, real: 0.1, price: '19.9', moment: '2026-11-23T03:04:05Z', hall_id }
  const first = await make('seats', taken)
  const again: [Record<string, unknown>, string[]][] = [
    [{ flag: false, whole: 0 }, ['/flag']],
    [{ flag: true, whole: 0 }, []],
    [{ real: 0.1 }, ['/real']],
    [{ price: 19.9, moment: '2026-11-23T08:49:05+05:45' }, ['/moment', '/price']],
    [{ hall_id }, ['/hall_id']],
    [taken, ['/flag', '/hall_id', '/moment', '/price', '/real']],
  ]
  for (const [body, conflicts] of again) {
    const created = await send({ path: '/v1/seats', body })
    assert.equal(created.status, conflicts.length === 0 ? 201 : 409, created.text)
    if (created.status === 409) assert.deepEqual(clashes(created), conflicts)
    const other = await make('seats', {})
    const changed = await send({ path: `/v1/seats/${other['id']}`, method: 'PATCH', body })
    if (conflicts.length > 0) assert.deepEqual(clashes(changed), conflicts)
  }
  // A record does not stand in its own way.
  const same = { path: `/v1/seats/${first['id']}`, method: 'PUT', body: { ...taken, real: 0.2 } }
  assert.equal((await send(same)).status, 200)
})

function clashes(answer: Received): string[] {
  return places(answer)
    .map((place) => place.replace('DUPLICATE_VALUE ', ''))
    .toSorted()
}
