import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Application } from './app.ts'
import { liveApp } from './live-app.ts'

/** An application that answers with its name, once it is told to, and notes what happens to it. */
function namedApp(name: string, events: string[]) {
  let running = 0
  let whenIdle = () => {}
  const gates: (() => void)[] = []
  const app = {
    async respond() {
      running++
      events.push(`${name} begins`)
      await new Promise<void>((resolve) => gates.push(resolve))
      events.push(`${name} ends`)
      if (--running === 0) whenIdle()
      return { status: 200, headers: {}, body: name }
    },
    idle: () => (running === 0 ? Promise.resolve() : new Promise<void>((resolve) => (whenIdle = resolve))),
    async close() {
      events.push(`${name} closes`)
    },
  }
  const answer = () => {
    for (const open of gates.splice(0)) open()
  }
  return { app: app as unknown as Application, answer }
}

const request = {} as Parameters<Application['respond']>[0]
const turn = () => new Promise((resolve) => setImmediate(resolve))

test('running requests end before the next application opens, and new ones wait for it', async () => {
  const events: string[] = []
  const [first, second] = [namedApp('first', events), namedApp('second', events)]
  const live = liveApp(first.app)
  const running = live.respond(request)
  const replaced = live.replace(async () => {
    events.push('opening')
    return second.app
  })
  const held = live.respond(request)
  await turn()
  assert.deepEqual(events, ['first begins'])
  first.answer()
  assert.equal((await running).body, 'first')
  await replaced
  await turn()
  second.answer()
  assert.equal((await held).body, 'second')
  assert.equal(live.current, second.app)
  assert.deepEqual(events.slice(0, 3), ['first begins', 'first ends', 'opening'])
  assert.deepEqual(events.slice(3).sort(), ['first closes', 'second begins', 'second ends'])
  await live.close()
  assert.equal(events.at(-1), 'second closes')
})

test('if the next application cannot open, the former one answers what has waited', async () => {
  const events: string[] = []
  const first = namedApp('first', events)
  const live = liveApp(first.app)
  const replaced = live.replace(() => Promise.reject(new Error('refused')))
  const held = live.respond(request)
  await assert.rejects(replaced, /refused/)
  await turn()
  first.answer()
  assert.equal((await held).body, 'first')
  assert.equal(live.current, first.app)
  assert.ok(!events.includes('first closes'))
})

test('a request that does not end delays the next application for two seconds at most', async () => {
  const events: string[] = []
  const [first, second] = [namedApp('first', events), namedApp('second', events)]
  const live = liveApp(first.app)
  const running = live.respond(request)
  const replaced = live.replace(async () => second.app)
  await turn()
  assert.equal(live.current, first.app)
  await replaced
  assert.equal(live.current, second.app)
  first.answer()
  assert.equal((await running).body, 'first')
})
