/** The measurements on PostgreSQL, as data: what is asked, beside which yardstick. */
import { join } from 'node:path'
import { ask, type Request } from '../ask.ts'
import { declaration, ours } from '../ours.ts'
import { patching } from '../patching.ts'
import { freePort, type Server, startServer } from '../processes.ts'
import type { Contestant } from '../rounds.ts'
import type { AskedStatement } from './asked.ts'
import { first, ofRecords, record } from './recording.ts'
import { cityRequests, creations, pages, patches, searches } from './requests.ts'
import type { Stage } from './stage.ts'

const connections = 64

/** A comparison. */
export interface Comparison {
  /** For `--only`. */
  readonly name: string
  readonly title: string
  /** What it is compared with. */
  readonly yardstick: string
  /** The least that the ratio should be; left out: it is told. */
  readonly target?: number
  prepare(stage: Stage, folder: string): Promise<Contest>
}

/** Ours first, then what it is compared with, and what is stopped afterwards. */
export interface Contest {
  readonly contestants: readonly [Contestant, Contestant]
  readonly ends: readonly Server[]
}

/** All of them. */
export const comparisons: readonly Comparison[] = [
  {
    name: 'city',
    title: 'GET of one city',
    yardstick: 'bare, one statement',
    target: 0.75,
    prepare: (stage, folder) => reading(stage, folder, 'city', cityRequests(stage), { answers: 'small' }),
  },
  {
    name: 'page',
    title: 'Page of 50 cities of a country, with the exact total (`per_page`)',
    yardstick: 'bare, one statement',
    target: 0.75,
    prepare: (stage, folder) => reading(stage, folder, 'page', pages(stage, 'per_page=50')),
  },
  {
    name: 'cursor',
    title: 'The same page in the cursor style (`limit`)',
    yardstick: 'bare, one statement',
    target: 0.75,
    prepare: (stage, folder) => reading(stage, folder, 'cursor', pages(stage, 'limit=50')),
  },
  {
    name: 'unchanged',
    title: 'The page asked again with `If-None-Match`',
    yardstick: 'bare 304, the statement of the clock',
    target: 0.75,
    prepare: (stage, folder) =>
      reading(stage, folder, 'unchanged', pages(stage, 'per_page=50'), {
        status: 304,
        choose: first,
        again: true,
        answers: 'small',
      }),
  },
  {
    name: 'search',
    title: 'Search for the beginning of a word, 20 records (`q`)',
    yardstick: 'bare, one statement',
    prepare: (stage, folder) => reading(stage, folder, 'search', searches(stage)),
  },
  {
    name: 'create',
    title: 'Durable POST of a city',
    yardstick: 'bare, one `insert … returning`',
    target: 0.75,
    prepare: (stage, folder) => writing(stage, folder, 'create', creations(stage), 201),
  },
  {
    name: 'patch',
    title: 'Durable PATCH of a city with `If-Match`',
    yardstick: 'bare, one `update … returning`',
    prepare: (stage, folder) => writing(stage, folder, 'patch', patches(stage), 200, patching),
  },
  {
    name: 'two',
    title: 'GET of one city from two servers',
    yardstick: 'one server',
    prepare: (stage, folder) => twoServers(stage, folder, cityRequests(stage), 200),
  },
]

/**
 * How many connections the bare server has: ours has ten for transactions and some that reads share. Of 1, 2, 4 and 12
 * the number is taken that lets it use the least processor time: few where much goes along in one packet, many where
 * the database has long to do.
 */
const bareConnections = { small: 2, large: 12 }

interface Reading {
  readonly status?: number
  readonly choose?: (asked: readonly AskedStatement[]) => AskedStatement | undefined
  /** Whether it is asked with the entity tag of its answer. */
  readonly again?: boolean
  readonly answers?: 'small' | 'large'
}

async function reading(
  stage: Stage,
  folder: string,
  name: string,
  requests: readonly Request[],
  { status = 200, choose = ofRecords, again = false, answers = 'large' }: Reading = {},
): Promise<Contest> {
  const url = await stage.copy()
  const own = await startOurs(folder, name, url)
  const asked = again ? await conditional(own, requests) : requests
  const source = {
    folder,
    name,
    origin: own.origin,
    url,
    catalog: stage.catalog,
    connections: bareConnections[answers],
  }
  const file = await record(source, asked, choose)
  const bare = await startBare(folder, 'bare-reader.ts', [file])
  return contest(stage, { own, bare }, { requests: asked, status, connections })
}

async function writing(
  stage: Stage,
  folder: string,
  name: string,
  requests: readonly Request[],
  status: number,
  script?: string,
): Promise<Contest> {
  const own = await startOurs(folder, name, await stage.copy())
  const bare = await startBare(folder, 'bare-writer.ts', [declaration, 'cities', await stage.copy()])
  return contest(stage, { own, bare }, { requests, status, connections, script })
}

async function twoServers(
  stage: Stage,
  folder: string,
  requests: readonly Request[],
  status: number,
): Promise<Contest> {
  const url = await stage.copy()
  const [left, right] = [await startOurs(folder, 'left', url), await startOurs(folder, 'right', url, 1)]
  const load = { requests, status, connections, behind: stage.work }
  const both: Server = {
    origin: left.origin,
    memory: () => left.memory() + right.memory(),
    work: () => left.work() + right.work(),
    hold: (held) => {
      left.hold(held)
      right.hold(held)
    },
    async stop() {},
  }
  return {
    contestants: [
      { name: 'two', server: both, also: right.origin, ...load },
      { name: 'one', server: left, also: left.origin, ...load },
    ],
    ends: [left, right],
  }
}

type Asked = Pick<Contestant, 'requests' | 'status' | 'connections' | 'script'>

function contest(
  { work: behind }: Stage,
  { own, bare }: Readonly<Record<'own' | 'bare', Server>>,
  asked: Asked,
): Contest {
  return {
    contestants: [
      { name: 'ours', server: own, behind, ...asked },
      { name: 'bare', server: bare, behind, ...asked },
    ],
    ends: [own, bare],
  }
}

async function startOurs(folder: string, name: string, url: string, core?: number): Promise<Server> {
  return startServer({ ...ours(folder, `ours-${name}`, url, await freePort(), false), cores: core?.toString() })
}

async function startBare(folder: string, script: string, args: readonly string[]): Promise<Server> {
  const port = await freePort()
  return startServer({
    args: [join(import.meta.dirname, script), ...args, String(port)],
    origin: `http://127.0.0.1:${port}`,
    probe: '/',
    folder,
    output: join(folder, `${script}-${port}.log`),
  })
}

async function conditional({ origin }: Server, requests: readonly Request[]): Promise<Request[]> {
  const asked: Request[] = []
  for (const request of requests) {
    const { headers } = await ask(origin + request.path, request)
    asked.push({ ...request, headers: { ...request.headers, 'If-None-Match': headers['ETag'] ?? '' } })
  }
  return asked
}
