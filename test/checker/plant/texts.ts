/**
 * Words for faults: a server that writes something otherwise, wherever it stands. In as many letters, lest lengths and
 * ranges be a second fault.
 */
import type { Fault, Server } from '../planted.ts'
import { answering } from './answers.ts'
import { without } from './messages.ts'
import { always, type Which } from './which.ts'

/** It writes texts otherwise in answers to some requests. */
export function writing(which: Which, from: string | RegExp, to: string): Fault['plant'] {
  return wholly(answering(which, (answer) => ({ ...answer, body: answer.body.replaceAll(from, to) })))
}

/** It writes texts otherwise in everything, and understands them so. */
export function spelling(read: (text: string) => string, write: (text: string) => string): Fault['plant'] {
  return wholly((server, keys) => {
    const answered = answering(always, (answer) => ({
      ...answer,
      headers: Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, write(value)])),
      body: write(answer.body),
    }))(server, keys)
    return (request) => answered({ ...request, path: read(request.path), body: read(request.body) })
  })
}

/** It calls something otherwise: what everybody else calls `from` is `to` to it. */
export function naming(from: string, to: string): Fault['plant'] {
  return spelling(
    (text) => text.replaceAll(to, from),
    (text) => text.replaceAll(from, to),
  )
}

/** Parts of an answer are parts of what the fault makes of the whole. */
function wholly(plant: Fault['plant']): Fault['plant'] {
  return (server, keys): Server => {
    const faulty = plant(server, keys)
    return async (request) => {
      const answer = await faulty(request)
      const [, first, last] = /^bytes (\d+)-(\d+)\//.exec(answer.headers['content-range'] ?? '') ?? []
      if (answer.status !== 206 || request.method !== 'GET' || last === undefined) return answer
      const whole = Buffer.from((await faulty(without('range')(request))).body)
      return { ...answer, body: whole.subarray(Number(first), Number(last) + 1).toString() }
    }
  }
}
