/** Words for faults: what a faulty server remembers. */
import type { Fault, PlantedAnswer, PlantedRequest } from '../planted.ts'
import { jsonOf, type Members } from './messages.ts'
import { isRestore } from './which.ts'

/** It begins with an empty memory whenever a server is made of it. */
export function remembering(plant: () => Fault['plant']): Fault['plant'] {
  return (server, keys) => plant()(server, keys)
}

/** Records by their paths, from the root: as they were made, and what became of them by requests of their own. */
export interface Watch {
  readonly made: Map<string, Members>
  readonly deleted: Set<string>
  readonly restored: Set<string>
}

/** It remembers the records that went by. */
export function watching(plant: (watch: Watch) => Fault['plant']): Fault['plant'] {
  return (server, keys) => {
    const watch: Watch = { made: new Map(), deleted: new Set(), restored: new Set() }
    const noting = async (request: PlantedRequest) => {
      const answer = await server(request)
      note(watch, request, answer)
      return answer
    }
    return plant(watch)(noting, keys)
  }
}

function note({ made, deleted, restored }: Watch, request: PlantedRequest, answer: PlantedAnswer): void {
  if (answer.status >= 300) return
  const { method, path } = request
  const { location } = answer.headers
  if (method === 'POST' && answer.status === 201 && location !== undefined) made.set(location, jsonOf(answer))
  if (method === 'DELETE' && !path.includes('?')) {
    deleted.add(path)
    restored.delete(path)
  }
  if (isRestore(request)) {
    deleted.delete(collectionOf(path))
    restored.add(collectionOf(path))
  }
}

/** The records that are deleted, as they were made. */
export function ghostsIn({ made, deleted }: Watch): readonly Members[] {
  return [...deleted].map((path) => made.get(path)).filter((record) => record !== undefined)
}

/** It gives requests that meet, and that it has one name for, one answer. */
export function sharing(nameOf: (request: PlantedRequest) => string | undefined): Fault['plant'] {
  return (server) => {
    const underWay = new Map<string, Promise<PlantedAnswer>>()
    return (request) => {
      const name = nameOf(request)
      if (name === undefined) return server(request)
      const answer = underWay.get(name) ?? server(request).finally(() => underWay.delete(name))
      underWay.set(name, answer)
      return answer
    }
  }
}

/** A path without its last part. */
export function collectionOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}

/** What the records of one case have in common. */
export function markOf(record: Members | undefined): unknown {
  return record?.['name'] ?? record?.['text'] ?? record?.['label']
}

/** A plain list of a collection, by one filter: its path, and the value of the filter. */
export function filteredList({ method, path }: PlantedRequest): { path: string; value: string } | undefined {
  const found = /^(\/v3\/[a-z]+)\?(name|text|label)=([^&]*)$/.exec(path)
  if (method !== 'GET' || found === null) return undefined
  return { path: found[1] as string, value: decodeURIComponent(found[3] as string) }
}
