/** Asks for a key or a token, or goes to the provider, and tries what it gets before anything depends on it. */
import { type FormEvent, type ReactNode, useEffect, useEffectEvent, useId, useState } from 'react'
import { loadCaller } from '../interface/caller.ts'
import { type Answer, finishSignIn, type Grant, leaveToSignIn, signInElsewhere } from '../interface/openid.ts'
import type { PageSettings, VersionSetting } from '../interface/page-settings.ts'
import { Problem } from '../interface/problem.ts'
import { makeSend } from '../interface/send.ts'
import { signIn } from '../interface/session.ts'
import { ProblemView } from '../ui/problem-view.tsx'

interface Props {
  readonly settings: PageSettings
  readonly version: VersionSetting
  /** What the provider has answered, where the page comes back from it. */
  readonly answer?: Answer | undefined
  /** Whether something is being done in the page that must not be lost. */
  readonly isAgain?: boolean
}

export function SignIn({ settings, version, answer, isAgain = false }: Props): ReactNode {
  const { openid, name, carrier } = settings
  const [problem, setProblem] = useState<Problem>()
  const [busy, setBusy] = useState(false)
  const [isElsewhere, setElsewhere] = useState(false)
  const [keep, setKeep] = useState(false)
  const keyId = useId()

  /** @param grant gives `undefined` if it goes on elsewhere */
  const enter = async (grant: () => Promise<Grant | undefined>) => {
    setBusy(true)
    setProblem(undefined)
    try {
      const granted = await grant()
      setElsewhere(granted === undefined && answer !== undefined)
      if (granted === undefined) return
      const { credential, keep } = granted
      const send = makeSend({ name, version, carrier })
      const { body } = await loadCaller(send, { credential: credential.token })
      signIn(credential, keep, body.id)
    } catch (error) {
      setProblem(error instanceof Problem ? error : new Problem(0, { detail: String(error) }))
    } finally {
      setBusy(false)
    }
  }
  const arrive = useEffectEvent(() => {
    if (answer !== undefined && openid !== null) void enter(() => finishSignIn(openid, answer))
  })
  useEffect(() => {
    arrive()
  }, [])

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const token = String(new FormData(event.currentTarget).get('key')).trim()
    void enter(async () => ({ credential: { token }, keep }))
  }
  if (isElsewhere) return <p role="status">You are signed in in the other tab. Close this one.</p>
  const isBlocked = busy && !isAgain
  return (
    <form className="sign-in" onSubmit={submit}>
      {openid !== null && (
        <>
          <button
            type="button"
            className="primary"
            disabled={isBlocked}
            onClick={() => void enter(() => (isAgain ? signInElsewhere : leaveToSignIn)(openid, keep))}
          >
            Sign in with {new URL(openid.issuer).host}
          </button>
          {isAgain && busy && <p className="quiet">Sign in in the other tab. This page goes on by itself.</p>}
          <p className="quiet">Or use a key:</p>
        </>
      )}
      <label htmlFor={keyId}>API key or token</label>
      <input
        id={keyId}
        name="key"
        type="password"
        placeholder="rsk_…"
        autoComplete="off"
        spellCheck={false}
        required
        // Other characters cannot be sent in a header field.
        pattern="\s*[!-~]+\s*"
        title="Letters, digits and signs of ASCII, without spaces"
      />
      <label className="check">
        <input type="checkbox" checked={keep} onChange={() => setKeep(!keep)} /> Keep me signed in until this tab is
        closed
      </label>
      {problem !== undefined && <ProblemView problem={problem} />}
      <button type="submit" className={openid === null ? 'primary' : ''} disabled={isBlocked}>
        {isBlocked ? 'Signing in…' : 'Sign in'}
      </button>
      <p className="quiet">
        No key yet?{' '}
        <code>
          npx resourced keys create <span>--subject me</span> <span>--roles admin</span>
        </code>{' '}
        prints one, with the <code>--database</code> of this server. The page sends your key to this server only.
      </p>
    </form>
  )
}
