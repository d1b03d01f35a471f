import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { openTurnQueue, openWorkerTurn, type TurnTaker, type WorkerTurn } from './write-turn.ts'

/** Workers whose messages arrive at once, and what they write, in order. */
function workers(count: number) {
  const queue = openTurnQueue()
  const written: number[] = []
  const members = Array.from({ length: count }, (_, number) => {
    const taker: TurnTaker = {
      grant: (isShared) => member.isDeaf || turn.granted(isShared),
      recall: () => member.isDeaf || turn.recalled(),
    }
    const messages = { asked: 0, givenBack: 0 }
    const turn: WorkerTurn = openWorkerTurn(
      (isUrgent) => {
        messages.asked++
        queue.ask(taker, isUrgent)
      },
      () => {
        messages.givenBack++
        queue.leave(taker)
      },
    )
    const write = () => {
      written.push(number)
      turn.end()
    }
    const member = {
      ...{ taker, turn, messages, isDeaf: false },
      write: () => void (turn.take(write) && write()),
      /** Begins to write, and does not end. */
      begin: () => turn.take(() => written.push(number)) && written.push(number),
      end: () => turn.end(),
    }
    return member
  })
  return { queue, written, members }
}

test('a worker that writes alone keeps the turn, without a message for each change', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const clock = context.mock.method(performance, 'now', () => 0)
  const { members, written } = workers(2)
  members[0]!.write()
  clock.mock.mockImplementation(() => 1_000)
  members[0]!.write()
  const { asked } = members[0]!.messages
  for (let turn = 0; turn < 10; turn++) members[0]!.write()
  assert.equal(written.length, 12)
  assert.equal(members[0]!.messages.asked, asked)
})

test('workers that write at the same time take turns, the one that has waited longest first', () => {
  const { members, written } = workers(3)
  members[0]!.begin()
  members[2]!.write()
  members[1]!.write()
  assert.deepEqual(written, [0])
  members[0]!.end()
  assert.deepEqual(written, [0, 2, 1])
})

test('the turn of a worker that has ended goes to the next one, and nobody waits for a worker that has ended', () => {
  const { queue, members, written } = workers(3)
  members[0]!.begin()
  members[1]!.isDeaf = true
  members[1]!.write()
  members[2]!.write()
  queue.leave(members[1]!.taker)
  queue.leave(members[0]!.taker)
  assert.deepEqual(written, [0, 2])
})

test('a worker that has waited for too long writes: SQLite has its own lock', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { members, written } = workers(2)
  members[0]!.begin()
  members[1]!.write()
  assert.deepEqual(written, [0])
  context.mock.timers.tick(1_000)
  assert.deepEqual(written, [0, 1])
  // The former holder goes on, and the turn goes round again.
  members[0]!.end()
  members[0]!.write()
  members[1]!.write()
  assert.deepEqual(written, [0, 1, 0, 1])
})

test('a worker without a supervisor writes', () => {
  const turn = openWorkerTurn(
    () => {},
    () => {},
  )
  const written = mock.fn()
  assert.equal(turn.take(written), false)
  turn.close()
  assert.equal(written.mock.callCount(), 1)
  assert.equal(turn.take(written), true)
})
