/** Which source files run code while one request is answered, from `respond()` on, as V8's coverage counts it. */
import { Session } from 'node:inspector/promises'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { trial } from '../test/harness.ts'

const declaration = defineInterface({
  name: 'plans',
  resources: {
    projects: { fields: { name: Type.String({ filter: true, sort: true }) }, access: { read: 'anyone' } },
    tasks: {
      fields: {
        title: Type.String({ filter: true, sort: true }),
        project_id: reference('projects', { onDelete: 'cascade' }),
      },
      within: 'project_id',
    },
  },
})

/** The files of `packages/`, in order of name, that each of three requests enters on an SQLite database. */
export interface Footprints {
  readonly list: readonly string[]
  readonly patch: readonly string[]
  readonly delete: readonly string[]
}

/**
 * Answers a first filtered list, a PATCH with `If-Match` and a DELETE that cascades eight times, and notes the files
 * that each one entered every time: on a busy machine timers and limits of time run code in between.
 */
export async function footprints(): Promise<Footprints> {
  const runs: Footprints[] = []
  while (runs.length < 8) runs.push(await oneRun())
  const always = (kind: keyof Footprints) =>
    runs.map((run) => run[kind]).reduce((some, others) => some.filter((file) => others.includes(file)))
  return { list: always('list'), patch: always('patch'), delete: always('delete') }
}

async function oneRun(): Promise<Footprints> {
  const { app, make, keys, close } = await trial(declaration, { memory: true })
  const project = await make('projects', { name: 'one' })
  const task = await make('tasks', { title: 'first', project_id: project.id })
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, body = '') => {
    const response = await app.respond({
      ...{ method, target: `/v1/${path}`, secure: true, address: '127.0.0.1' },
      headers: { host: 'localhost', authorization: `Bearer ${keys.get('root')}`, ...headers },
      readBody: async () => new TextEncoder().encode(body),
    })
    if (response.status >= 300) throw new Error(`${method} ${path} was answered ${response.status}`)
    return response
  }
  const read = await ask('GET', `tasks/${task.id}`)
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const filesOf = async (answering: () => Promise<unknown>): Promise<string[]> => {
    await session.post('Profiler.takePreciseCoverage')
    await answering()
    const { result } = await session.post('Profiler.takePreciseCoverage')
    const root = new URL('../packages/', import.meta.url).href
    const entered = result.filter(
      ({ url, functions }) =>
        url.startsWith(root) && functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
    )
    return entered.map(({ url }) => url.slice(root.length)).sort()
  }
  const patch = { 'if-match': String(read.headers['ETag']), 'content-type': 'application/merge-patch+json' }
  const found = {
    list: await filesOf(() => ask('GET', `tasks?title=first&sort=-title&limit=10`)),
    patch: await filesOf(() => ask('PATCH', `tasks/${task.id}`, patch, '{"title":"second"}')),
    delete: await filesOf(() => ask('DELETE', `projects/${project.id}`)),
  }
  session.disconnect()
  await close()
  return found
}
