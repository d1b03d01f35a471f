import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { mostMissed, watchHeartbeats } from './heartbeat.ts'

/** Workers that answer as they are told to, and rounds without a clock. */
function watched(...names: string[]) {
  const workers = names.map((name) => ({ name, answers: true, isDebugged: false, asked: 0, reply: () => {} }))
  const hanging: string[] = []
  const round = watchHeartbeats({
    workers: () => workers,
    ask: (worker) => {
      worker.asked++
      const { promise, resolve } = Promise.withResolvers<boolean>()
      worker.reply = () => resolve(worker.isDebugged)
      if (worker.answers) worker.reply()
      return promise
    },
    hangs: ({ name }) => hanging.push(name),
  })
  return {
    workers,
    hanging,
    async rounds(count: number) {
      for (let number = 0; number < count; number++) {
        round()
        await nextTurn()
      }
    },
  }
}

test('a worker that does not answer for many rounds hangs, and is reported once', async () => {
  const { workers, hanging, rounds } = watched('good', 'bad')
  await rounds(3)
  assert.deepEqual(workers.map(({ asked }) => asked), [3, 3]) // biome-ignore format: a line
  Object.assign(workers[1]!, { answers: false })
  await rounds(mostMissed)
  assert.deepEqual(hanging, [])
  await rounds(1)
  assert.deepEqual(hanging, ['bad'])
  await rounds(2 * mostMissed)
  assert.deepEqual(hanging, ['bad'])
  // One question waits: messages to a worker that hangs do not pile up.
  assert.equal(workers[1]!.asked, 4)
})

test('a worker that answers at last is asked anew', async () => {
  const { workers, hanging, rounds } = watched('slow')
  const [slow] = workers
  for (let time = 0; time < 3; time++) {
    slow!.answers = false
    await rounds(mostMissed)
    slow!.answers = true
    slow!.reply()
    await rounds(2)
  }
  assert.deepEqual(hanging, [])
})

test('a worker with a debugger may stand still', async () => {
  const { workers, hanging, rounds } = watched('debugged')
  const [worker] = workers
  worker!.isDebugged = true
  await rounds(1)
  worker!.answers = false
  await rounds(3 * mostMissed)
  assert.deepEqual(hanging, [])
  Object.assign(worker!, { answers: true, isDebugged: false })
  worker!.reply()
  await rounds(1)
  worker!.answers = false
  await rounds(mostMissed + 2)
  assert.deepEqual(hanging, ['debugged'])
})
