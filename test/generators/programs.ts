/**
 * Programs that use generated clients: each creates, lists, reads, updates with `If-Match` and deletes a task, and
 * depends on the types of what it gets. They compile only with the client that the test generates beside them.
 */

const beginning = `
declare const process: { readonly env: Readonly<Record<string, string | undefined>> }
const { BASE = '', KEY } = process.env
const headers = { Authorization: \`Bearer \${KEY}\` }
function check(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(what)
}
`

const openApiFetch = `${beginning}
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'

const client = createClient<paths>({ baseUrl: BASE, headers })
const project = await client.POST('/projects', { body: { name: 'By openapi-fetch' } })
check(project.data !== undefined, 'no project')
const created = await client.POST('/tasks', { body: { title: 'Paint', project_id: project.data.id } })
check(created.data !== undefined, 'no task')
const { id } = created.data

const list = await client.GET('/tasks', { params: { query: { project_id: [project.data.id], sort: '-created_at', limit: 5 } } })
const titles: string[] = list.data?.data.map(({ title }) => title) ?? []
check(titles.join() === 'Paint' && list.data?.pagination.total_count === 1, 'the list')

const read = await client.GET('/tasks/{id}', { params: { path: { id } } })
const task: components['schemas']['Task'] | undefined = read.data
const title: string = read.data?.title ?? ''
check(title === 'Paint' && task?.due_on === null, 'the record')
// @ts-expect-error A record has no such field.
read.data?.colour

const header = { 'If-Match': read.response.headers.get('ETag') ?? '' }
const changed = await client.PATCH('/tasks/{id}', { params: { path: { id }, header }, body: { status: 'done' } })
check(changed.data?.status === 'done', 'the update')
const stale = await client.PATCH('/tasks/{id}', { params: { path: { id }, header }, body: { title: 'Sand' } })
const code: string | undefined = stale.error?.code
check(code === 'PRECONDITION_FAILED', 'the second update')

const gone = await client.DELETE('/tasks/{id}', { params: { path: { id } } })
check(gone.response.status === 204, 'the deletion')
const after = await client.GET('/tasks/{id}', { params: { path: { id } } })
check(after.error?.code === 'NOT_FOUND', 'the record after its deletion')
console.log('done')
`

const heyApi = `${beginning}
import { client } from './hey/client.gen.ts'
import { createProject, createTask, deleteTask, getTask, listTasks, updateTask } from './hey/sdk.gen.ts'
import type { Task } from './hey/types.gen.ts'

client.setConfig({ baseUrl: BASE, headers })
const project = await createProject({ body: { name: 'By hey-api' } })
check(project.data !== undefined, 'no project')
const created = await createTask({ body: { title: 'Paint', project_id: project.data.id } })
check(created.data !== undefined, 'no task')
const path = { id: created.data.id }

const list = await listTasks({ query: { project_id: [project.data.id], sort: '-created_at', limit: 5 } })
const titles: string[] = list.data?.data.map(({ title }) => title) ?? []
check(titles.join() === 'Paint' && list.data?.pagination.total_count === 1, 'the list')

const read = await getTask({ path })
const task: Task | undefined = read.data
const title: string = read.data?.title ?? ''
check(title === 'Paint' && task?.due_on === null, 'the record')
// @ts-expect-error A record has no such field.
read.data?.colour

const condition = { 'If-Match': read.response?.headers.get('ETag') ?? '' }
const changed = await updateTask({ path, headers: condition, body: { status: 'done' } })
check(changed.data?.status === 'done', 'the update')
const stale = await updateTask({ path, headers: condition, body: { title: 'Sand' } })
const code: string | undefined = stale.error?.code
check(code === 'PRECONDITION_FAILED', 'the second update')

const gone = await deleteTask({ path })
check(gone.response?.status === 204, 'the deletion')
const after = await getTask({ path })
check(after.error?.code === 'NOT_FOUND', 'the record after its deletion')
console.log('done')
`

const orval = `${beginning}
import { createProject, createTask, deleteTask, getTask, listTasks, type Task, updateTask } from './orval.ts'

const project = await createProject({ name: 'By orval' }, { headers })
check(project.status === 201, 'no project')
const created = await createTask({ title: 'Paint', project_id: project.data.id }, { headers })
check(created.status === 201, 'no task')
const { id } = created.data

const list = await listTasks({ project_id: [project.data.id], sort: '-created_at', limit: 5 }, { headers })
check(list.status === 200, 'no list')
const titles: string[] = list.data.data.map(({ title }) => title)
check(titles.join() === 'Paint' && list.data.pagination.total_count === 1, 'the list')

const read = await getTask(id, { headers })
check(read.status === 200, 'no record')
const task: Task = read.data
const title: string = read.data.title
check(title === 'Paint' && task.due_on === null, 'the record')
// @ts-expect-error A record has no such field.
read.data.colour

const condition = { ...headers, 'If-Match': read.headers.get('ETag') ?? '' }
const changed = await updateTask(id, { status: 'done' }, { headers: condition })
check(changed.status === 200 && changed.data.status === 'done', 'the update')
const stale = await updateTask(id, { title: 'Sand' }, { headers: condition })
check(stale.status === 412 && stale.data.code === 'PRECONDITION_FAILED', 'the second update')

const gone = await deleteTask(id, { headers })
check(gone.status === 204, 'the deletion')
const after = await getTask(id, { headers })
check(after.status === 404 && after.data.code === 'NOT_FOUND', 'the record after its deletion')
console.log('done')
`

/** The programs, by the name of their file without its ending. */
export const programs: Readonly<Record<string, string>> = {
  'openapi-fetch': openApiFetch,
  'hey-api': heyApi,
  orval,
}
