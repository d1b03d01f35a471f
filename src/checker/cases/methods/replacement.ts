/** MET-3: PUT replaces. */
import type { Seen } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { answerOf, applicableWhere, done, finding, refused, sameBody, short, status } from '../../case/expect.ts'
import { after, before as beforeStep, first, one, other, put, read, second } from '../../case/names.ts'
import { differing, holdsSent, recordOf, sentAt, theRecord } from '../../case/records.ts'
import { collection, members, type Reference, references } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'
import { isSame } from '../../values/json.ts'

const [onceStep, twice] = references('once', 'twice')

const changed = { from: { sent: 'one' }, plus: 'change' } as const

/** Whether a member that was left out is empty: it has not the value any more that it had. */
function isCleared(step: Reference) {
  return theRecord(step, 'has no value for what was left out', (found, seen: Seen) => {
    const member = seen.fill(members.optional)
    const before = recordOf(seen.of(beforeStep).answer, seen)?.[member]
    return isSame(found[member], before)
      ? { member, message: `${member} still has the value ${short(before)}` }
      : undefined
  })
}

/** What is to be cleared was there. */
export const onlyWhereOptional = applicableWhere('the optional member has a value before', (seen) => {
  const member = seen.fill(members.optional)
  const value = recordOf(seen.of(beforeStep).answer, seen)?.[member]
  return value === undefined || value === null ? `${member} was sent, and has no value` : undefined
})

export const replacement = define(
  {
    'MET-3/status': {
      title: 'PUT of the whole record is answered 200',
      steps: [create(one), put.put(one, changed)],
      expect: [status(put, 200)],
      remedy: 'Answer PUT with 200 and the record as it is now.',
    },
    'MET-3/answer': {
      title: 'The answer to PUT holds the record as it is now',
      steps: [create(one), put.put(one, changed)],
      expect: [holdsSent(put, put)],
      remedy: 'Read the record after it was written, and answer with that.',
    },
    'MET-3/kept': {
      title: 'What PUT has sent is there afterwards',
      steps: [create(one), setUp(put.put(one, changed)), read.get(one)],
      expect: [status(read, 200), holdsSent(read, put)],
      remedy: 'Store all members that are sent, and refuse what cannot be stored.',
    },
    'MET-3/clears': {
      title: 'PUT clears what it leaves out',
      steps: [
        create(other),
        setUp(one.post(collection, body.fullExample)),
        setUp(beforeStep.get(one)),
        put.put(one, { ...body.sentBy(one), without: [members.optional] }),
        read.get(one),
      ],
      expect: [onlyWhereOptional, done(put), isCleared(read)],
      remedy:
        'Write every member with PUT: what is not in the body becomes its default, or null. PATCH is there for the rest.',
    },
    'MET-3/required': {
      title: 'PUT without a member that a record must have is refused, and changes nothing',
      steps: [
        create(one),
        setUp(beforeStep.get(one)),
        put.put(one, { ...body.sentBy(one), without: [members.required] }),
        after.get(one),
      ],
      expect: [refused(put), status(after, 200), sameBody(after, beforeStep)],
      remedy: 'Validate the body of PUT as that of POST: what is required is required in both.',
    },
    'MET-3/twice': {
      title: 'PUT sent twice leaves what it leaves when it is sent once',
      steps: [
        create(one),
        setUp(first.put(one, changed)),
        setUp(onceStep.get(one)),
        second.put(one, body.sentBy(first)),
        twice.get(one),
      ],
      expect: [
        applicableWhere('PUT is taken', (seen) =>
          (seen.of(first).answer?.status ?? 500) < 300 ? undefined : 'PUT was not taken',
        ),
        done(second),
        answerOf(twice, 'is as after the first', (answer, seen, exchange) => {
          const once = recordOf(seen.of(onceStep).answer, seen) ?? {}
          const names = [...Object.keys(sentAt(seen, first)), seen.collection.id, 'created_at']
          const wrong = differing(recordOf(answer, seen) ?? {}, once, names)
          return wrong && finding(exchange, 'body', `after the second PUT ${wrong.message}`)
        }),
      ],
      remedy: 'Let PUT set values, and never add to them.',
    },
  },
  'read',
)
