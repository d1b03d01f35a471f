/** Shows what the server tells only once: a new key, or the secret of a webhook. */
import type { ReactNode } from 'react'
import { CopyButton } from './copy-button.tsx'
import { Dialog } from './dialog.tsx'

interface Props {
  readonly title: string
  readonly secret: string
  readonly onClose: () => void
  /** How it is used. */
  readonly children?: ReactNode
}

export function SecretDialog({ title, secret, onClose, children }: Props): ReactNode {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      // Escape would lose it.
      closable={false}
      actions={
        <>
          <CopyButton text={secret} />
          <button type="button" className="primary" onClick={onClose}>
            I have kept it
          </button>
        </>
      }
    >
      <p>Keep it now: it is shown only here and only once.</p>
      <pre>{secret}</pre>
      {children}
    </Dialog>
  )
}
