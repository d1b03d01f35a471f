/**
 * Asks to sign in again, over the view, which keeps everything: when the server has refused the credential, and some
 * minutes before it expires if the user wants to.
 */
import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import type { PageSettings, VersionSetting } from '../interface/page-settings.ts'
import { never, session, updateSession } from '../interface/session.ts'
import { Dialog } from '../ui/dialog.tsx'
import { notify } from '../ui/notices.tsx'
import { visible } from '../ui/value.tsx'
import { SignIn } from './sign-in.tsx'

/** How long before the end a hint is shown at the earliest, in milliseconds. */
const earliest = 300_000
/** How often the clock is read, in milliseconds: timers stand still while a computer sleeps. */
const interval = 5_000

interface Props {
  readonly settings: PageSettings
  readonly version: VersionSetting
}

export function SignInAgain(props: Props): ReactNode {
  const { asked, caller, provider, expiresAt } = useSyncExternalStore(session.subscribe, session.current)
  const isRenewed = provider?.renew !== undefined
  const end = new Date(expiresAt).toLocaleTimeString(undefined, { timeStyle: 'short' })
  const ending = `Your credential expires at ${end}.`
  useEffect(() => {
    if (isRenewed || expiresAt === never) return
    const hintAt = expiresAt - Math.min(earliest, (expiresAt - Date.now()) / 5)
    let dismiss = () => {}
    const timer = setInterval(() => {
      if (Date.now() < hintAt) return
      clearInterval(timer)
      const run = () => updateSession({ asked: 'soon' })
      dismiss = notify('waiting', ending, { label: 'Sign in again', run })
    }, interval)
    return () => {
      clearInterval(timer)
      dismiss()
    }
  }, [expiresAt, isRenewed, ending])
  if (asked === undefined) return null
  return (
    <Dialog title="Sign in again" closable={asked === 'soon'} onClose={() => updateSession({ asked: undefined })}>
      <p>
        {asked === 'soon' ? ending : 'The server no longer accepts your credential.'} Nothing that you typed is lost
        {caller !== undefined && (
          <>
            {' '}
            if you sign in as <bdi>{visible(caller)}</bdi>
          </>
        )}
        .
      </p>
      <SignIn {...props} isAgain />
    </Dialog>
  )
}
