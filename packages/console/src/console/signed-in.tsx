/** What a signed-in caller sees: the frame and the view of the address, connected to one version of the interface. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { type ReactNode, useState, useSyncExternalStore } from 'react'
import { Router } from 'wouter'
import { dropDrafts } from './forms/draft.ts'
import { ConnectionProvider } from './interface/connection.tsx'
import type { PageSettings, VersionSetting } from './interface/page-settings.ts'
import { session, signOut } from './interface/session.ts'
import { RetiredDialog } from './session/retired-dialog.tsx'
import { SignInAgain } from './session/sign-in-again.tsx'
import { useFragmentLocation } from './shell/fragment.ts'
import { Shell } from './shell/shell.tsx'
import { Views } from './shell/views.tsx'
import { Notices, notify } from './ui/notices.tsx'
import { ProblemView } from './ui/problem-view.tsx'
import { visible } from './ui/value.tsx'

// Requests are tried again where they are sent, because only there is it known whether that can help.
const queries = new QueryClient({ defaultOptions: { queries: { retry: false, staleTime: 5_000 } } })

let before = session.current()
session.subscribe(() => {
  const [{ caller, person, asked }, now] = [before, session.current()]
  before = now
  if (now.person !== person) {
    dropDrafts()
    queries.clear()
    const lost = `What ${visible(caller ?? '')} had not saved was not sent, and is dropped.`
    notify('failed', `You are ${visible(now.caller ?? '')} now. ${lost}`)
  } else if (asked !== undefined && now.asked === undefined) {
    // The roles may be others now. Everything else goes on where it was.
    void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] === 'connection' })
  }
})

interface Props {
  readonly settings: PageSettings
  readonly version: VersionSetting
  readonly onVersion: (version: VersionSetting) => void
}

export default function SignedIn({ settings, version, onVersion }: Props): ReactNode {
  const { person } = useSyncExternalStore(session.subscribe, session.current)
  const [isRetired, setRetired] = useState(false)
  return (
    <QueryClientProvider client={queries}>
      <Router hook={useFragmentLocation}>
        <ConnectionProvider
          // Nothing of one person's view stays for the next one.
          key={`${version.name} ${person}`}
          settings={settings}
          version={version}
          waiting={<main className="gate quiet">Loading…</main>}
          onRetired={() => setRetired(true)}
          failed={(problem, again) => (
            <main className="gate">
              <ProblemView problem={problem} again={again} />
              <button type="button" onClick={signOut}>
                Sign out
              </button>
            </main>
          )}
        >
          <Shell onVersion={onVersion}>
            <Views />
          </Shell>
        </ConnectionProvider>
        <Notices />
        {isRetired && (
          <RetiredDialog
            settings={settings}
            version={version}
            onClose={() => setRetired(false)}
            onVersion={onVersion}
          />
        )}
        <SignInAgain settings={settings} version={version} />
      </Router>
    </QueryClientProvider>
  )
}
