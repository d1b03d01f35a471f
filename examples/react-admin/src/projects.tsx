/** Projects, and the recycle bin from which they are restored. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { CreateBase, Form, type RaRecord, useDataProvider, useDelete, useGetList, useNotify, useRefresh } from 'ra-core'
import type { ReactAdminDataProvider } from 'resourced/react-admin'
import { Text } from './ui.tsx'

const page = { page: 1, perPage: 100 }

export function ProjectList() {
  const { data = [] } = useGetList('projects', { pagination: page, sort: { field: 'name', order: 'ASC' } })
  const refresh = useRefresh()
  const [remove] = useDelete(undefined, undefined, { onSuccess: refresh })
  return (
    <>
      <h1>Projects</h1>
      <ul>
        {data.map((project: RaRecord) => (
          <li key={project.id}>
            {project.name}{' '}
            <button type="button" onClick={() => remove('projects', { id: project.id, previousData: project })}>
              Delete {project.name}
            </button>
          </li>
        ))}
      </ul>
      <a href="#/projects/create">New project</a>
      <Bin />
    </>
  )
}

/** The deleted projects, for those who may see them. */
function Bin() {
  const dataProvider = useDataProvider<ReactAdminDataProvider>()
  const refresh = useRefresh()
  const notify = useNotify()
  const { data } = useQuery({
    queryKey: ['projects', 'deleted'],
    retry: false,
    queryFn: () =>
      dataProvider.getListDeleted({
        filter: { resource: 'projects' },
        sort: { field: 'deleted_at', order: 'DESC' },
        pagination: page,
      }),
  })
  const { mutate: restore } = useMutation({
    mutationFn: (id: string) => dataProvider.restoreOne({ id }),
    onSuccess: refresh,
    onError: ({ message }) => notify(message, { type: 'error' }),
  })
  if (data === undefined) return null
  return (
    <section aria-label="Recycle bin">
      <h2>Recycle bin</h2>
      <ul>
        {data.data.map(({ id, data: project }) => (
          <li key={id}>
            {String(project['name'])}{' '}
            <button type="button" onClick={() => restore(id)}>
              Restore {String(project['name'])}
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

export function ProjectCreate() {
  return (
    <CreateBase redirect="list">
      <h1>New project</h1>
      <Form>
        <Text source="name" label="Name" />
        <button type="submit">Save</button>
      </Form>
    </CreateBase>
  )
}
