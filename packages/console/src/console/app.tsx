/**
 * The console from its outside in: who is signed in, and which version. What needs the large libraries is loaded apart,
 * so that people can type their key while it arrives.
 */
import { lazy, type ReactNode, Suspense, useEffect, useState, useSyncExternalStore } from 'react'
import type { Answer } from './interface/openid.ts'
import { currentVersion, type PageSettings } from './interface/page-settings.ts'
import { session } from './interface/session.ts'
import { SignIn } from './session/sign-in.tsx'
import { Boundary } from './ui/boundary.tsx'

const loadSignedIn = () => import('./signed-in.tsx')
const SignedIn = lazy(loadSignedIn)

interface Props {
  readonly settings: PageSettings
  /** The provider's answer, where the page comes back from it. */
  readonly answer: Answer | undefined
}

export function App({ settings, answer }: Props): ReactNode {
  const { credential } = useSyncExternalStore(session.subscribe, session.current)
  const [version, setVersion] = useState(() => currentVersion(settings))
  useEffect(() => {
    // A failure is shown when somebody has signed in.
    loadSignedIn().catch(() => {})
  }, [])
  if (credential === undefined) {
    return (
      <main className="gate">
        <h1>{settings.title}</h1>
        <SignIn settings={settings} version={version} answer={answer} />
      </main>
    )
  }
  return (
    <Boundary>
      <Suspense fallback={<main className="gate quiet">Loading…</main>}>
        <SignedIn settings={settings} version={version} onVersion={setVersion} />
      </Suspense>
    </Boundary>
  )
}
