/** Tasks: a list with a search, a filter, an order and several records at once, and the forms. */
import {
  CreateBase,
  EditBase,
  Form,
  ListBase,
  ReferenceFieldBase,
  ReferenceInputBase,
  useDeleteMany,
  useGetRecordRepresentation,
  useListContext,
  useRecordContext,
  useUpdateMany,
} from 'ra-core'
import { Choice, Pages, Text } from './ui.tsx'

const statuses = ['open', 'doing', 'done'].map((id) => ({ id, name: id }))

export function TaskList() {
  return (
    <ListBase perPage={10} sort={{ field: 'due_on', order: 'ASC' }}>
      <h1>Tasks</h1>
      <Filters />
      <Actions />
      <Rows />
      <Pages />
      <a href="#/tasks/create">New task</a>
    </ListBase>
  )
}

function Filters() {
  const { filterValues, setFilters } = useListContext()
  return (
    <p>
      <label>
        Search{' '}
        <input
          type="search"
          value={filterValues.q ?? ''}
          onChange={({ target }) => setFilters({ ...filterValues, q: target.value })}
        />
      </label>
      <label>
        Status{' '}
        <select
          value={filterValues.status ?? ''}
          onChange={({ target }) => setFilters({ ...filterValues, status: target.value })}
        >
          <option value="">any</option>
          {statuses.map(({ id }) => (
            <option key={id}>{id}</option>
          ))}
        </select>
      </label>
    </p>
  )
}

function Actions() {
  const { selectedIds, onUnselectItems } = useListContext()
  const [update] = useUpdateMany('tasks', { ids: selectedIds, data: { status: 'done' } })
  const [remove] = useDeleteMany('tasks', { ids: selectedIds })
  const options = { mutationMode: 'pessimistic', onSuccess: () => onUnselectItems() } as const
  return (
    <p>
      <button type="button" disabled={selectedIds.length === 0} onClick={() => update('tasks', undefined, options)}>
        Mark as done
      </button>
      <button type="button" disabled={selectedIds.length === 0} onClick={() => remove('tasks', undefined, options)}>
        Delete
      </button>
    </p>
  )
}

function Rows() {
  const { data = [], selectedIds, onToggleItem, sort, setSort } = useListContext()
  const heading = (field: string, label: string) => (
    <th aria-sort={sort.field !== field ? 'none' : sort.order === 'ASC' ? 'ascending' : 'descending'}>
      <button
        type="button"
        onClick={() => setSort({ field, order: sort.field === field && sort.order === 'ASC' ? 'DESC' : 'ASC' })}
      >
        {label}
      </button>
    </th>
  )
  return (
    <table>
      <thead>
        <tr>
          <th>Select</th>
          {heading('title', 'Title')}
          {heading('due_on', 'Due')}
          <th>Status</th>
          <th>Project</th>
        </tr>
      </thead>
      <tbody>
        {data.map((task) => (
          <tr key={task.id}>
            <td>
              <input
                type="checkbox"
                aria-label={`Select ${task.title}`}
                checked={selectedIds.includes(task.id)}
                onChange={() => onToggleItem(task.id)}
              />
            </td>
            <td>
              <a href={`#/tasks/${task.id}`}>{task.title}</a>
            </td>
            <td>{task.due_on}</td>
            <td>{task.status}</td>
            <td>
              <ReferenceFieldBase source="project_id" reference="projects" record={task}>
                <Name of="projects" />
              </ReferenceFieldBase>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function Name({ of }: { readonly of: string }) {
  const record = useRecordContext()
  const represent = useGetRecordRepresentation(of)
  return represent(record)
}

export function TaskEdit() {
  return (
    <EditBase mutationMode="pessimistic">
      <h1>Task</h1>
      <Form>
        <Text source="title" label="Title" />
        <Choice source="status" label="Status" choices={statuses} />
        <Details />
        <button type="submit">Save</button>
      </Form>
    </EditBase>
  )
}

export function TaskCreate() {
  return (
    <CreateBase redirect="list">
      <h1>New task</h1>
      <Form>
        <Text source="title" label="Title" />
        <ReferenceInputBase source="project_id" reference="projects" sort={{ field: 'name', order: 'ASC' }}>
          <Choice source="project_id" label="Project" />
        </ReferenceInputBase>
        <Details />
        <button type="submit">Save</button>
      </Form>
    </CreateBase>
  )
}

function Details() {
  return (
    <>
      <Text source="due_on" label="Due" kind="date" />
      <Text source="estimate" label="Estimate" kind="number" />
      <ReferenceInputBase source="assignee_id" reference="users" sort={{ field: 'name', order: 'ASC' }}>
        <Choice source="assignee_id" label="Assignee" />
      </ReferenceInputBase>
    </>
  )
}
