/** The records that the console shows in tests and measurements. */
import assert from 'node:assert/strict'

/** Sends requests of one caller to the current version. */
export type Ask = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: Answer }>

/** A response, as far as tests look at it. */
export interface Answer {
  readonly id: string
  readonly [name: string]: unknown
}

/** @param url of the current version */
export function askAs(url: string, key: string): Ask {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? {} : JSON.parse(text) }
  }
}

/** Text that would harm a page that shows it as anything but text. */
export const hostileText = '<img src=x onerror="document.title=1"> right\u202Eto left \u0007 {{1+1}} &lt;'

/** Records of the studio, by what tests need them for. */
export interface StudioRecords {
  /** A project with open tasks: its deletion is refused. */
  readonly busy: string
  /** A project with tasks that are done: its deletion takes them along. */
  readonly finished: string
  readonly hostile: string
  readonly deleted: string
  readonly task: string
}

/** Fills the studio of `test/declarations.ts`. */
export async function fillStudio(ask: Ask): Promise<StudioRecords> {
  const make = async (path: string, body: unknown) => {
    const made = await ask('POST', path, body)
    assert.equal(made.status, 201, JSON.stringify(made.body))
    return made.body.id
  }
  const ann = await make('/users', { name: 'Ann Lee', email: 'ann@example.org' })
  const busy = await make('/projects', { name: 'Kitchen', description: 'New tiles.\nNew taps.', visibility: 'public' })
  const finished = await make('/projects', { name: 'Garden' })
  const hostile = await make('/projects', { name: hostileText, description: hostileText, visibility: 'public' })
  const deleted = await make('/projects', { name: 'Cellar' })
  for (let number = 1; number <= 30; number++) {
    const due_on = number % 3 === 0 ? null : `2027-03-${String(number).padStart(2, '0')}`
    const labels = number % 2 === 0 ? ['wall', 'floor'] : null
    const body = { title: `Task ${number}`, project_id: busy, assignee_id: ann, estimate: number, due_on, labels }
    await make('/tasks', { ...body, status: (['open', 'doing', 'done'] as const)[number % 3] })
  }
  await make('/tasks', { title: 'Dig', project_id: finished, status: 'done' })
  const task = await make('/tasks', { title: hostileText, project_id: busy })
  assert.equal((await ask('DELETE', `/projects/${deleted}`)).status, 204)
  return { busy, finished, hostile, deleted, task }
}
