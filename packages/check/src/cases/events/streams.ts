/** EVT-6 and EVT-7: streams of events. */
import type { Case, Expectation, Observations, Step } from '../../case/case.ts'
import { common } from '../../case/define.ts'
import { answerOf, field, finding, short, status, unless } from '../../case/expect.ts'
import { all, change, list, one, other } from '../../case/names.ts'
import { readyIf } from '../../case/preconditions.ts'
import { base, collectionName, Reference } from '../../case/references.ts'
import { create, createByOther, stream } from '../../case/steps.ts'
import { messagesIn, type StreamMessage } from '../../client/stream-messages.ts'
import { isSame, type JsonObject, objectOf, parseJson } from '../../values/json.ts'
import { eventsIn, knownEvents, update } from './reading.ts'

const [live, resumed, theirs] = Reference.named('live', 'resumed', 'theirs')

const events = `${base}/events?collection=${collectionName}`

interface Streamed {
  readonly message: StreamMessage
  readonly event: JsonObject
}

function streamed(text: string, record: string): readonly Streamed[] {
  return messagesIn(text).flatMap((message) => {
    const event = objectOf(parseJson(message.data))
    return event['record'] === record ? [{ message, event }] : []
  })
}

function eventsOf(step: Reference, record: Reference, seen: Observations): readonly Streamed[] {
  return streamed(seen.of(step).answer?.body ?? '', seen.fill(record.id))
}

/** Whether the text of a stream has an event of a record. */
function has(kind: string, record: Reference) {
  return (text: string, seen: Observations) =>
    streamed(text, seen.fill(record.id)).some(({ event }) => event['kind'] === kind)
}

/** Opens a stream, and creates a record while it is open. */
const opened: readonly Step[] = [
  stream(live, events, { between: [create(one)], until: has('created', one), seconds: 5 }),
]

const isOpen = readyIf(
  (seen) => seen.of(live).answer?.status === 200 && eventsOf(live, one, seen).length > 0,
  'a stream brought no event of a record that was created while it was open',
)

/** The kinds of the events of a record in a stream, each once and in this order. */
function brings(step: Reference, record: Reference, ...wanted: readonly string[]): Expectation {
  return answerOf(step, (_, seen, exchange) => {
    const kinds = eventsOf(step, record, seen).map(({ event }) => event['kind'])
    return isSame(kinds, wanted) ? undefined : finding(exchange, 'body', `${short(kinds)} in place of ${short(wanted)}`)
  })
}

export const streamCases: readonly Case[] = common({ needs: ['create', 'read'] }).define({
  'EVT-6/live': {
    title: 'A stream brings the event of a record that is created while it is open',
    steps: [...opened],
    expect: [
      status(live, 200),
      field(live, 'Content-Type', (type) => unless(/^text\/event-stream\b/i.test(type), `it is ${type}`)),
      brings(live, one, 'created'),
    ],
    remedy: 'Answer Accept: text/event-stream with a stream that stays open, and send each event as it is committed.',
  },
  'EVT-6/message': {
    title: 'A message of a stream has id, event and data: the kind, and the event as the list shows it',
    after: ['EVT-6/live'],
    steps: [...opened, isOpen, ...knownEvents(list, one)],
    expect: [
      answerOf(live, (_, seen) => {
        const { message, event } = eventsOf(live, one, seen)[0] as Streamed
        if (message.id === undefined || message.id === '') return 'the message has no id'
        if (message.event !== 'created') return `event is ${message.event} in place of created`
        const [wanted] = eventsIn(list, seen)
        return unless(isSame(event, wanted), `data is ${short(event)} in place of ${short(wanted)}`)
      }),
    ],
    remedy: 'Send id, event (the kind) and data (the event as JSON) in each message.',
  },
  'EVT-6/resumed': {
    title: 'Last-Event-ID resumes a stream after the last message: no event is lost, and none comes twice',
    needs: ['update', 'change'],
    after: ['EVT-6/live'],
    steps: [
      ...opened,
      isOpen,
      // The streams of other cases may have brought later events of the collection.
      update(change, one),
      ...knownEvents(list, one, 2),
      stream(resumed, events, {
        headers: { 'Last-Event-ID': live.messageId },
        between: [],
        until: has('updated', one),
        seconds: 5,
      }),
    ],
    expect: [status(resumed, 200), brings(resumed, one, 'updated')],
    remedy: 'Begin after the event that Last-Event-ID names, with those that were committed meanwhile.',
  },
  'EVT-6/filtered': {
    title: 'A stream is filtered as the list of events is',
    after: ['EVT-6/live'],
    needs: ['update', 'change'],
    steps: [
      stream(live, `${events}&kind=updated`, {
        between: [create(one), update(change, one)],
        until: has('updated', one),
        seconds: 5,
      }),
      readyIf((seen) => eventsOf(live, one, seen).length > 0, 'the stream brought no event of the record'),
    ],
    expect: [brings(live, one, 'updated')],
    remedy: 'Apply the filters of the address to the stream.',
  },
  'EVT-6/others': {
    title: 'A stream brings no event of a record that the caller may not read',
    needs: ['other', 'owner'],
    after: ['EVT-6/live'],
    steps: [
      stream(theirs, events, {
        caller: 'other',
        between: [create(one), ...knownEvents(all, one), createByOther(other)],
        until: has('created', other),
        seconds: 5,
      }),
      readyIf(
        (seen) => eventsOf(theirs, other, seen).length > 0,
        'the stream brought no event of a record of its own caller',
      ),
    ],
    expect: [brings(theirs, one)],
    remedy: 'Check for each event of a stream what the caller may read at that moment.',
  },
  'EVT-7/most': {
    title: 'A caller has at most 20 streams; one more is answered 429',
    alone: true,
    after: ['EVT-6/live'],
    steps: [stream(live, events, { times: 22, between: [create(one)], seconds: 1 })],
    expect: [
      (seen) => {
        const statuses = seen.all(live).map(({ answer }) => answer?.status)
        const opened = statuses.filter((each) => each === 200).length
        const refused = statuses.filter((each) => each === 429).length
        if (opened > 0 && opened <= 20 && opened + refused === statuses.length) return undefined
        return finding(seen.of(live), 'status', `of ${statuses.length} streams, ${opened} are open and ${refused} 429`)
      },
    ],
    remedy: 'Count the open streams of each caller on all servers, and answer 429 beyond 20.',
  },
})
