import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CoalescedQuery } from './replica.ts'

function questionOf() {
  const answers: PromiseWithResolvers<number>[] = []
  const question = new CoalescedQuery(() => {
    const answer = Promise.withResolvers<number>()
    answers.push(answer)
    return answer.promise
  })
  return { question, answers }
}

test('callers that arrive while a query runs share the next one', async () => {
  const { question, answers } = questionOf()
  const first = question.ask()
  const late = [question.ask(), question.ask()]
  assert.equal(answers.length, 1)
  answers[0]?.resolve(1)
  assert.equal(await first, 1)
  assert.equal(answers.length, 2)
  const later = question.ask()
  answers[1]?.resolve(2)
  assert.deepEqual(await Promise.all(late), [2, 2])
  answers[2]?.resolve(3)
  assert.equal(await later, 3)
})

test('a failed query is sent again', async () => {
  const { question, answers } = questionOf()
  const [first, next] = [question.ask(), question.ask()]
  answers[0]?.reject(new Error('gone'))
  await assert.rejects(first, /gone/)
  answers[1]?.resolve(2)
  assert.equal(await next, 2)
  const alone = question.ask()
  answers[2]?.resolve(3)
  assert.equal(await alone, 3)
})
