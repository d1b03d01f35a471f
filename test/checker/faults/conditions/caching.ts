/** Faults of CON-1. */

import { giving, having, isCollection, isNowhere, isRecord, without } from '../../alter.ts'
import type { Fault, PlantedAnswer, PlantedRequest } from '../../planted.ts'

type Kind = (request: PlantedRequest, answer: PlantedAnswer) => boolean

const isRead = ({ method }: PlantedRequest, { status }: PlantedAnswer) =>
  (method === 'GET' || method === 'HEAD') && (status === 200 || status === 304)

const reads: Readonly<Record<string, Kind>> = {
  read: (request, answer) => isRead(request, answer) && isRecord(request),
  list: (request, answer) => isRead(request, answer) && isCollection(request),
}

const others: Readonly<Record<string, Kind>> = {
  creation: ({ method }, { status }) => method === 'POST' && status === 201,
  change: ({ method }, { status }) => method === 'PATCH' && status === 200,
  deletion: ({ method }, { status }) => method === 'DELETE' && status === 204,
  missing: isNowhere,
  refused: (_, { status }) => status === 401,
  invalid: ({ method }, { status }) => method === 'POST' && status === 400,
}

const cacheControl = (value: string) => (answer: PlantedAnswer) => having(answer, 'cache-control', value)

export const cachingFaults: readonly Fault[] = [
  ...Object.entries({ ...reads, ...others }).map(
    ([name, which]): Fault => ({
      breaks: `CON-1/says-${name}`,
      says: `It says nothing about caching (${name}).`,
      plant: giving(which, (answer) => without(answer, 'cache-control')),
    }),
  ),
  ...Object.entries(reads).flatMap(([name, which]): Fault[] => [
    {
      breaks: `CON-1/private-${name}`,
      says: `It lets shared caches keep what one caller has read (${name}).`,
      plant: giving(which, cacheControl('no-cache')),
    },
    {
      breaks: `CON-1/again-${name}`,
      says: `It does not say how long an answer keeps (${name}).`,
      plant: giving(which, cacheControl('private')),
    },
  ]),
  ...Object.entries(others).map(
    ([name, which]): Fault => ({
      breaks: `CON-1/no-store-${name}`,
      says: `It lets caches keep what is not worth it (${name}).`,
      plant: giving(which, cacheControl('private, no-cache')),
    }),
  ),
]
