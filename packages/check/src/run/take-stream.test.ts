import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Reference } from '../case/references.ts'
import { Client } from '../client/client.ts'
import { served } from '../client/served.fixture.ts'
import type { CaseRun } from './context.ts'
import { takeStreams } from './take-stream.ts'

test('a single stream that is refused with 429 is opened again after the pause, several ones are not', async (context) => {
  let asked = 0
  let isLimited = true
  const origin = await served(context, (_, response) => {
    asked++
    if (isLimited) {
      isLimited = false
      response.writeHead(429, { 'Retry-After': '1' }).end()
      return
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('id: a\n\n')
  })
  const pauses: number[] = []
  const client = new Client({ onPause: (seconds) => pauses.push(seconds) })
  context.after(() => client.close())
  const run = { client, profile: { base: origin, collections: [] }, credentials: { caller: [] } } as unknown as CaseRun
  const step = { kind: 'stream', as: new Reference('live').name, to: `${origin}/events`, seconds: 0.05 } as const
  const open = (times?: number) => {
    let begun = 0
    return takeStreams(run, { ...step, between: [], ...(times && { times }) }, {} as never, async () => {
      begun = asked
    }).then((exchanges) => ({ begun, statuses: exchanges.map(({ answer }) => answer?.status) }))
  }
  assert.deepEqual(await open(), { begun: 2, statuses: [200] })
  assert.deepEqual(pauses, [1])
  isLimited = true
  const { statuses } = await open(2)
  assert.deepEqual(statuses.toSorted(), [200, 429])
  assert.deepEqual(pauses, [1])
})
