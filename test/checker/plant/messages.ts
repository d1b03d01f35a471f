/** Words for faults: changes of a request or an answer, of its header fields and of the JSON in its body. */
import type { PlantedAnswer, PlantedRequest } from '../planted.ts'

type Message = PlantedRequest | PlantedAnswer

/** A change of either: it stays what it is. */
type Alike = <M extends Message>(message: M) => M

/** The members of a JSON object. */
export type Members = Readonly<Record<string, unknown>>

/** The object that a body holds; without members where it holds none. */
export function jsonOf({ body }: Pick<Message, 'body'>): Members {
  return objectIn(body) ?? {}
}

function objectIn(body: string): Members | undefined {
  try {
    const value = JSON.parse(body)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Other JSON in place of the object in the body; where there is none, nothing changes. */
export function withJson<Body extends object = Members>(change: (body: Body) => unknown): Alike {
  return (message) => {
    const body = objectIn(message.body)
    return body === undefined ? message : { ...message, body: JSON.stringify(change(body as Body)) }
  }
}

/** Some more members, or others; one of `undefined` goes away. */
export function withMembers(members: Members): Alike {
  return withJson((body) => ({ ...body, ...members }))
}

/** Some members less. */
export function withoutMembers(...names: readonly string[]): Alike {
  return withJson((body) => Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name))))
}

/** A header field, by its lower-case name; where its value is made of the one that is there, only if there is one. */
export function withField(name: string, value: string | ((old: string) => string)): Alike {
  return (message) => {
    const { [name]: old } = message.headers
    if (typeof value !== 'string' && old === undefined) return message
    return { ...message, headers: { ...message.headers, [name]: typeof value === 'string' ? value : value(old ?? '') } }
  }
}

/** Some header fields less. */
export function without(...names: readonly string[]): Alike {
  return (message) => {
    const headers = Object.entries(message.headers).filter(([name]) => !names.includes(name))
    return { ...message, headers: Object.fromEntries(headers) }
  }
}

/** A header field that is a list, without one of its items. */
export function withoutItem(name: string, item: string): Alike {
  return withField(name, (list) =>
    list
      .split(', ')
      .filter((each) => each !== item)
      .join(', '),
  )
}
