/** The studio: its tasks, its projects with their recycle bin, and the page to sign in. */
import { CoreAdmin, Resource, useLogin } from 'ra-core'
import type { ReactNode } from 'react'
import { createClient } from 'resourced/client'
import { reactAdminDataProvider } from 'resourced/react-admin'
import { ProjectCreate, ProjectList } from './projects.tsx'
import { authProvider, key } from './session.ts'
import { TaskCreate, TaskEdit, TaskList } from './tasks.tsx'
import { Messages } from './ui.tsx'

const client = createClient({ url: '/v1', key })
const dataProvider = reactAdminDataProvider(client)

export function App() {
  return (
    <CoreAdmin
      dataProvider={dataProvider}
      authProvider={authProvider}
      loginPage={SignIn}
      layout={Layout}
      requireAuth
      disableTelemetry
    >
      <Resource name="tasks" list={TaskList} edit={TaskEdit} create={TaskCreate} recordRepresentation="title" />
      <Resource name="projects" list={ProjectList} create={ProjectCreate} recordRepresentation="name" />
      <Resource name="users" recordRepresentation="name" />
    </CoreAdmin>
  )
}

function Layout({ children }: { readonly children: ReactNode }) {
  return (
    <>
      <nav>
        <a href="#/tasks">Tasks</a>
        <a href="#/projects">Projects</a>
      </nav>
      {children}
      <Messages />
    </>
  )
}

function SignIn() {
  const login = useLogin()
  return (
    <form action={(form) => login({ key: String(form.get('key')) })}>
      <h1>Sign in</h1>
      <label>
        API key <input name="key" type="password" required />
      </label>
      <button type="submit">Sign in</button>
    </form>
  )
}
