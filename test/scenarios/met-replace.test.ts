/** MET-3: PUT. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { numberText } from 'resourced-contract/model/json/json-text'
import { samples, studio } from '../declarations.ts'
import { type Scenario, type Sent, scenarios, type Trial, trialFor } from '../harness.ts'

const full = {
  ...{ title: 'Full', code: 'c', count: 3, ratio: 1.5, flag: true, moment: '2026-01-01T00:00:00Z', payload: { a: 1 } },
  ...{ strict: { size: 1 }, list: [1], anything: 'x', stage: 'used', origin: 'here', pin: 'p' },
}
const cleared = {
  ...{ code: null, count: null, ratio: null, flag: null, moment: null, payload: null, strict: null, list: null },
  ...{ anything: null, stage: 'new' },
}

it('MET-3: PUT replaces the whole record: missing fields get their default, or null', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const made = await make('samples', full)
  const path = `/v1/samples/${made.id}`
  const put = await send({ method: 'PUT', path, body: { title: 'Bare', origin: 'here' } })
  assert.equal(put.status, 200)
  const { updated_at, ...rest } = put.json
  const { updated_at: _, ...before } = made
  assert.deepEqual(rest, { ...before, ...cleared, title: 'Bare' })
  assert.deepEqual((await send({ path })).json, put.json)
})

it('MET-3: repeating a PUT leaves the same state, tag and time', async (context) => {
  const { send, make, clock } = await trialFor(context, samples)
  const made = await make('samples', { title: 'One', origin: 'here' })
  const path = `/v1/samples/${made.id}`
  // To send a writeOnly value counts as a change, whatever it was (AUT-9).
  const { pin: _, ...body } = full
  const put = { method: 'PUT', path, body }
  const first = await send(put)
  clock.ahead = 5_000
  const second = await send(put)
  assert.deepEqual([first.status, second.status], [200, 200])
  assert.deepEqual(second.json, first.json)
  assert.equal(second.headers.etag, first.headers.etag)
  assert.equal(second.headers['last-modified'], first.headers['last-modified'])
})

it('MET-3: the representation that GET returns can be PUT back, and changes nothing', async (context) => {
  const { send, make } = await trialFor(context, samples)
  const numbers = [
    0.1,
    0.30000000000000004,
    6.02214076e23,
    2.452697531651443e56,
    1.2817575272610272e166,
    1e18,
    1e22,
    5e-324,
    1.7976931348623157e308,
    -0.1,
    123456789.12345679,
    9007199254740991,
    9007199254740993e3,
    2 ** 53,
    1e16,
    1e-7,
    100,
  ]
  for (let index = 0; index < 200; index++) numbers.push(Math.random() * 10 ** (index % 40))
  for (const ratio of numbers) {
    const { pin, ...body } = full
    const made = await make('samples', { ...body, code: null, ratio: undefined })
    const path = `/v1/samples/${made.id}`
    const patched = await send({ method: 'PATCH', path, body: `{"ratio":${ratio.toExponential()}}` })
    assert.equal(patched.json.ratio, ratio)
    // Every engine writes it alike.
    assert.ok(patched.text.includes(`"ratio":${numberText(ratio)},`), patched.text)
    const put = await send({ method: 'PUT', path, body: patched.text })
    assert.equal(put.status, 200, put.text)
    assert.equal(put.text, patched.text)
    assert.equal(put.headers.etag, patched.headers.etag)
  }
})

const put =
  (path: string, body: unknown) =>
  async (trial: Trial): Promise<Sent> => {
    const project = await trial.make('projects', { name: 'One', description: 'x' })
    return { method: 'PUT', path: path.replace('{id}', project.id), body }
  }

const unchanged: Scenario['check'] = async (_, { send }) => {
  const { data } = (await send({ path: '/v1/projects' })).json
  assert.deepEqual([data[0].name, data[0].description, data[0].visibility], ['One', 'x', 'private'])
}

scenarios(studio, [
  {
    name: 'a required field left out of a PUT is reported at its own pointer',
    rule: 'MET-3',
    send: put('/v1/projects/{id}', { description: 'y' }),
    status: 400,
    errors: ['REQUIRED /name'],
    check: unchanged,
  },
  {
    name: 'a required field that is null is missing',
    rule: 'MET-3',
    send: put('/v1/projects/{id}', { name: null }),
    status: 400,
    errors: ['REQUIRED /name'],
    check: unchanged,
  },
  {
    name: 'null stands for the default in a PUT',
    rule: 'MET-3',
    send: put('/v1/projects/{id}', { name: 'One', visibility: null }),
    status: 200,
    check: (answer) => assert.equal(answer.json.visibility, 'private'),
  },
  {
    name: 'a body that is no object replaces nothing',
    rule: 'MET-3',
    send: put('/v1/projects/{id}', [{ name: 'Two' }]),
    status: 400,
    errors: ['INVALID_TYPE ', 'REQUIRED /name'].map((each) => each.trim()),
    check: unchanged,
  },
])
