/** Faults of events, streams and webhooks. */
import { answering, on, withStatus } from '../plant/answers.ts'
import { type List, withList } from '../plant/lists.ts'
import { remembering } from '../plant/memory.ts'
import { jsonOf, withMembers, without, withoutMembers } from '../plant/messages.ts'
import { asCaller, asking, type Whose } from '../plant/requests.ts'
import { all, at, has, not, of, sends, type Which } from '../plant/which.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'

const isStream = of('GET', all(at(/^\/v3\/events\?/), has('accept', /event-stream/)))
const isEvents = of('GET', all(at(/^\/v3\/events\?/), not(has('accept', /event-stream/))))
const isEvent = of('GET', at(/^\/v3\/events\/[^/?]+$/))
const isWebhook = at(/^\/v3\/webhooks\/[^/?]+$/)
const isCreation = of('POST', at('/v3/webhooks'))

/** Another list of events. */
function listingEvents(change: (list: List) => void): Fault['plant'] {
  return answering(isEvents, on(200, withList(change)))
}

/** Each event otherwise. */
function showingEvents(kind: string, members: Readonly<Record<string, unknown>>): Fault['plant'] {
  return listingEvents((list) => {
    list.data = list.data.map((event) => (event['kind'] === kind ? { ...event, ...members } : event))
  })
}

function withoutKind(kind: string): Fault['plant'] {
  return listingEvents((list) => {
    list.data = list.data.filter((event) => event['kind'] !== kind)
  })
}

/** The request without some parameters, and with others. */
function withQuery(change: (query: URLSearchParams) => void): (request: PlantedRequest) => PlantedRequest {
  return (request) => {
    const [path = '', search] = request.path.split('?')
    const query = new URLSearchParams(search)
    change(query)
    return { ...request, path: `${path}?${query}` }
  }
}

const ofOthers =
  (which: Which): Whose =>
  (request, { key }) =>
    which(request) && request.headers['authorization'] !== `Bearer ${key}`

/** It brings other text in streams. */
function streaming(edit: (text: string) => string): Fault['plant'] {
  return answering(isStream, (answer: PlantedAnswer) => (answer.stream ? { ...answer, edit } : answer))
}

const refusals = remembering(() => {
  const refused = new Set<string>()
  return (server) => async (request) => {
    const answer = await server(request)
    const record = /[^/]+$/.exec(request.path)?.[0] ?? ''
    if (request.method === 'PATCH' && answer.status >= 400) refused.add(record)
    const asked = new URLSearchParams(request.path.split('?')[1]).get('record') ?? ''
    if (!isEvents(request) || !refused.has(asked)) return answer
    return withList((list) => {
      list.data.push({ ...list.data[0], kind: 'updated' })
    })(answer)
  }
})

const secrets = remembering(() => {
  const known = new Map<unknown, unknown>()
  return (server) => async (request) => {
    const answer = await server(request)
    const { id, secret } = jsonOf(answer)
    if (secret !== undefined && !known.has(id)) known.set(id, secret)
    const isTold = (request.method === 'GET' && isWebhook(request)) || sends(/rotate_secret/)(request)
    return isTold && known.has(id) ? withMembers({ secret: known.get(id) })(answer) : answer
  }
})

export const eventsFaults: readonly Fault[] = [
  { breaks: 'EVT-1/each', says: 'Updates have no events.', plant: withoutKind('updated') },
  { breaks: 'EVT-1/deleted', says: 'Deletions have no events.', plant: withoutKind('deleted') },
  { breaks: 'EVT-1/refused', says: 'A refused update has an event.', plant: refusals },
  {
    breaks: 'EVT-2/record',
    says: 'The events of a new record contain one of another record.',
    plant: answering(
      all(isEvents, not(at(/limit=/))),
      withList(({ data }) => {
        const [only] = data
        if (data.length === 1 && only?.['kind'] === 'created') data.push({ ...only, record: `${only['record']}0` })
      }),
    ),
  },
  {
    breaks: 'EVT-2/kind',
    says: 'The filter by kind is ignored.',
    plant: asking(
      isEvents,
      withQuery((query) => query.delete('kind')),
    ),
  },
  {
    breaks: 'EVT-2/order',
    says: 'Events are listed newest first.',
    plant: asking(
      isEvents,
      withQuery((query) => query.set('sort', '-created_at')),
    ),
  },
  {
    breaks: 'EVT-2/pages',
    says: 'The cursor of a page of events is ignored.',
    plant: asking(
      isEvents,
      withQuery((query) => query.delete('cursor')),
    ),
  },
  {
    breaks: 'EVT-3/members',
    says: 'An event has no updated_at.',
    plant: showingEvents('created', { updated_at: undefined }),
  },
  {
    breaks: 'EVT-3/data',
    says: 'The event of an update shows the identifier alone.',
    plant: showingEvents('updated', { data: { id: 'x' } }),
  },
  {
    breaks: 'EVT-3/null',
    says: 'The event of a deletion shows a record.',
    plant: showingEvents('deleted', { data: {} }),
  },
  {
    breaks: 'EVT-3/address',
    says: 'One event is shown without its record.',
    plant: answering(isEvent, on(200, withMembers({ data: null }))),
  },
  {
    breaks: 'EVT-4/list',
    says: 'Everybody gets the events of a collection.',
    plant: asking(ofOthers(all(isEvents, not(at(/collection=diaries/)))), asCaller),
  },
  {
    breaks: 'EVT-4/address',
    says: 'Everybody gets an event by its address.',
    plant: asking(ofOthers(isEvent), asCaller),
  },
  {
    breaks: 'EVT-4/own',
    says: 'Several records are not checked one by one.',
    plant: asking(ofOthers(all(isEvents, at(/collection=diaries.*record=.*record=/))), asCaller),
  },
  {
    breaks: 'EVT-4/deleted',
    says: 'What a deleted record was is shown to everybody.',
    plant: asking(ofOthers(all(isEvents, at(/collection=diaries&record=[^&]*$/))), asCaller),
  },
  {
    breaks: 'EVT-5/unknown',
    says: 'The list begins anew after an event that is not kept.',
    plant: answering(isEvents, on(410, withStatus(200))),
  },
  { breaks: 'EVT-6/live', says: 'A stream brings nothing.', plant: streaming(() => ': nothing\n\n') },
  {
    breaks: 'EVT-6/message',
    says: 'Messages of a stream do not name their kind.',
    plant: streaming((text) => text.replaceAll(/^event: .*\n/gm, '')),
  },
  { breaks: 'EVT-6/resumed', says: 'Last-Event-ID is ignored.', plant: asking(isStream, without('last-event-id')) },
  {
    breaks: 'EVT-6/filtered',
    says: 'A stream brings events of each kind.',
    plant: asking(
      isStream,
      withQuery((query) => query.delete('kind')),
    ),
  },
  {
    breaks: 'EVT-6/others',
    says: 'A stream brings the events of everybody.',
    plant: asking(ofOthers(isStream), asCaller),
  },
  {
    breaks: 'EVT-7/most',
    says: 'A caller has as many streams as there are.',
    plant: answering(isStream, on(429, withStatus(200))),
  },
  {
    breaks: 'EVT-8/secret',
    says: 'The response that creates a webhook has no secret.',
    plant: answering(isCreation, on(201, withoutMembers('secret'))),
  },
  {
    breaks: 'EVT-8/hidden',
    says: 'A webhook shows its secret whenever it is read.',
    plant: (server, keys) => {
      const telling = secrets(server, keys)
      return (request) => (request.method === 'PATCH' ? server(request) : telling(request))
    },
  },
  {
    breaks: 'EVT-8/rotated',
    says: 'The rotation of a secret leaves it as it was.',
    plant: (server, keys) => {
      const telling = secrets(server, keys)
      return (request) => (request.method === 'GET' ? server(request) : telling(request))
    },
  },
]
