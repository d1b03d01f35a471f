/** Words for faults: a server that takes requests for others. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault, Keys, PlantedRequest } from '../planted.ts'
import type { Which } from './which.ts'

/** Which requests, by whose they are, too. */
export type Whose = (request: PlantedRequest, keys: Keys) => boolean | undefined

/** It takes some requests for others. */
export function asking(which: Whose, change: (request: PlantedRequest, keys: Keys) => PlantedRequest): Fault['plant'] {
  return (server, keys) => (request) => server(which(request, keys) ? change(request, keys) : request)
}

/** It takes the addresses of some requests for others. */
export function addressing(which: Which, from: string | RegExp, to: string): Fault['plant'] {
  return asking(which, (request) => ({ ...request, path: request.path.replace(from, to) }))
}

/** The request as the caller would send it. */
export function asCaller(request: PlantedRequest, { key }: Keys): PlantedRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${key}` } }
}

/** The request that reads what is at the address of another. */
export function readOf({ path, headers, connection }: PlantedRequest): PlantedRequest {
  return { method: 'GET', path, headers: { authorization: headers['authorization'] ?? '' }, body: '', connection }
}

/** Waits until a request that was sent at the same time as another one is there, on a busy machine too. */
export const othersArrive = (): Promise<void> => sleep(200)
