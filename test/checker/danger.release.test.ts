/** Whatever a server gets wrong, the checker sends nothing that could take a record which it has not made. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Ask, Case, Step } from '../../packages/check/src/case/case.ts'
import { nobodyThere } from '../../packages/check/src/case/preconditions.ts'
import { absentId, caseRecords } from '../../packages/check/src/case/references.ts'
import { cases } from '../../packages/check/src/cases/cases.ts'
import type { Profile } from '../../packages/check/src/profile/profile.ts'
import { type PlantedRequest, type Server, startPlanted } from './planted.ts'
import { type Shop, serveShop } from './shop.ts'
import { casesOf, checkShop } from './try-faults.ts'

function asksOf(steps: readonly Step[]): readonly Ask[] {
  return steps.flatMap((step) => {
    if (step.kind === 'ask') return [step]
    if (step.kind === 'together') return step.asks
    return step.kind === 'walk' ? asksOf(step.between ?? []) : []
  })
}

const asks = cases.flatMap((one) => asksOf(one.steps).map((ask) => [one, ask] as const))

describe('No case', () => {
  it('deletes a collection, save by a filter where that is offered, which lists were seen to obey', () => {
    const onCollections = asks.filter(
      ([, { request }]) =>
        request.method === 'DELETE' && /^«(base|collection|parents|nested)»[^?]*(\?|$)/.test(request.to),
    )
    const dangerous = onCollections.filter(
      ([one, { request }]) => !isRecord(request.to) && !isFiltered(one, request.to),
    )
    assert.deepEqual(
      dangerous.map(([{ id }, { request }]) => `${id}: DELETE ${request.to}`),
      [],
    )
  })

  it('sends anything to an identifier of its own before nobody was seen to have it', () => {
    const sent = cases.flatMap(({ id, steps }) => {
      const seen = steps.indexOf(nobodyThere[1] as Step)
      return steps.flatMap((step, at) => {
        if (step.kind !== 'ask' || !/^(?:PUT|PATCH|POST)$/.test(step.request.method)) return []
        const isSent = JSON.stringify(step).includes(absentId) && step.request.to !== '«one|path»'
        return isSent ? [{ id, isAfter: seen >= 0 && seen < at }] : []
      })
    })
    assert.deepEqual(
      sent.filter(({ isAfter }) => !isAfter),
      [],
    )
    assert.ok(sent.length >= 4)
  })

  it('lists for deletion what could be taken for a record of the server, unless nothing is lost there', () => {
    const bodies = asks.filter(
      ([one, { request }]) => request.to.endsWith('/bulk-delete') && !one.needs.includes('disposable'),
    )
    for (const [{ id }, { request }] of bodies) {
      const { ids } = (request.body as { json: { ids: unknown } }).json
      assert.ok(Array.isArray(ids) && ids.length > 0, id)
      for (const each of ids) assert.ok(isHarmless(each), `${id}: ${JSON.stringify(each)}`)
    }
    assert.ok(bodies.length > 10)
  })
})

/** An export of the checker's own. */
const isExport = (path: string) => /^\/v3\/exports\/[\da-f]{8}-[\da-f-]{27}$/.test(path)

/** An address below a collection, by a text that no server can read as a number. */
function isRecord(to: string): boolean {
  return /^«collection»\/(«[a-z]\w*\|(other|item:\d+)»|[^\d/?.%«-][^/?]*)$/.test(to)
}

function isFiltered({ needs, after = [] }: Case, to: string): boolean {
  const isOffered = needs.includes('delete-by-filter') || needs.includes('disposable')
  return to === caseRecords && isOffered && after.includes('QRY-1/equal')
}

function isHarmless(id: unknown): boolean {
  if (id === null) return true
  if (Array.isArray(id)) return id.length > 0 && id.every((each) => typeof each === 'string' && isHarmless(each))
  return typeof id === 'string' && /^(«[a-z]\w*(\.\d+)?\|(id|other)»|[^\d+\-. $'"])/.test(id)
}

describe('Where nothing may be lost', () => {
  let shop: Shop
  before(async () => {
    shop = await serveShop()
  })
  after(() => shop.serving.close())

  /** What a server is asked by the cases of deletion and long work, where it does as told here. */
  async function askedOf(
    plant: (server: Server) => Server,
    known: Profile = shop.profile,
  ): Promise<readonly PlantedRequest[]> {
    const asked: PlantedRequest[] = []
    const watching = (server: Server) => {
      const faulty = plant(server)
      return (request: PlantedRequest) => {
        asked.push(request)
        return faulty(request)
      }
    }
    const planted = await startPlanted(shop.serving.origin, { plant: watching }, shop)
    try {
      const profile: Profile = { ...known, disposable: false }
      const report = await checkShop({ ...shop, profile }, planted.origin, { only: ['DEL', 'JOB'] })
      assert.ok(casesOf(report).length > 50)
      return asked
    } finally {
      await planted.close()
    }
  }

  const isShelves = ({ name }: { readonly name: string }) => name === 'shelves'
  const isByFilter = ({ method, path }: PlantedRequest) => method === 'DELETE' && path.includes('?')

  it('deletes by a filter with a bound, and only after a list by it', async () => {
    const asked = await askedOf((server) => server)
    const deletions = asked.filter(isByFilter)
    assert.ok(deletions.length >= 4)
    for (const deletion of deletions) {
      assert.match(deletion.headers['prefer'] ?? '', /max-affected=\d/)
      const lists = asked.slice(0, asked.indexOf(deletion)).filter(({ method }) => method === 'GET')
      assert.ok(lists.some(({ path }) => path === deletion.path))
    }
  })

  it('deletes nothing by a filter that lists ignore', async () => {
    const asked = await askedOf((server) => (request) => {
      if (request.method !== 'GET') return server(request)
      return server({ ...request, path: request.path.replace(/([?&])name=[^&]*/, '$1limit=100') })
    })
    assert.deepEqual(asked.filter(isByFilter), [])
  })

  it('deletes nothing by a filter that lists of this collection ignore, though others heed it', async () => {
    const { collections } = shop.profile
    const [first, others] = [collections.filter(isShelves), collections.filter((each) => !isShelves(each))]
    const asked = await askedOf(
      (server) => (request) => {
        const isIt = request.method === 'GET' && request.path.startsWith('/v3/items?')
        return server(isIt ? { ...request, path: '/v3/items?limit=100' } : request)
      },
      { ...shop.profile, collections: [...first, ...others] },
    )
    assert.deepEqual(asked.filter(isByFilter), [])
  })

  it("deletes nothing by an address that is the collection's, where a server tells empty identifiers", async () => {
    const made = new Set<string>()
    const asked = await askedOf((server) => async (request) => {
      const answer = await server(request)
      if (request.method !== 'POST' || answer.status !== 201) return answer
      const { location, ...headers } = answer.headers
      made.add(location ?? '')
      return { ...answer, headers, body: JSON.stringify({ ...JSON.parse(answer.body), id: '' }) }
    })
    assert.deepEqual(
      asked.flatMap(({ method, path }) =>
        method === 'DELETE' && !isExport(path) && !/^\/v3\/[a-z]+\/[a-z_%]/.test(path) && !made.has(path) ? [path] : [],
      ),
      [],
    )
    // What no answer named is found by its mark in the end.
    assert.ok(made.size > 0)
    assert.ok(asked.some(({ method, path }) => method === 'DELETE' && made.has(path)))
  })

  it('lists for deletion only what it has made, and what was never there', async () => {
    const made = new Set<unknown>()
    const asked = await askedOf((server) => async (request) => {
      const answer = await server(request)
      if (request.method === 'POST' && answer.status === 201) made.add(JSON.parse(answer.body).id)
      return answer
    })
    const lists = asked.filter(({ path }) => path.endsWith('/bulk-delete')).map(({ body }) => JSON.parse(body).ids)
    assert.ok(lists.length > 10)
    for (const ids of lists) {
      assert.ok(ids.some((id: unknown) => made.has(id)))
      for (const id of ids)
        assert.ok(made.has(id) || !/^[-+.\d{[]/.test(JSON.stringify(id).replaceAll('"', '')) || Array.isArray(id))
    }
  })
})
