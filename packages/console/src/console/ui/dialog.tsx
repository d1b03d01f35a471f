/** A modal dialog: the browser's own, so that focus, Escape and the background are right. */
import { type ReactNode, useEffect, useId, useRef } from 'react'

interface Props {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
  /** Buttons at the end. */
  readonly actions?: ReactNode
  readonly wide?: boolean
  /** Whether Escape closes it; true by default. */
  readonly closable?: boolean
}

export function Dialog({ title, onClose, children, actions, wide = false, closable = true }: Props): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  const titleId = useId()
  useEffect(() => {
    const { current } = dialog
    current?.showModal()
    return () => current?.close()
  }, [])
  return (
    <dialog
      ref={dialog}
      className={wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault()
        if (closable) onClose()
      }}
    >
      <header>
        <h2 id={titleId}>{title}</h2>
      </header>
      <div className="dialog-body">{children}</div>
      {actions !== undefined && <footer>{actions}</footer>}
      {/* The last one: the first control of the content gets the focus. */}
      {closable && (
        <button type="button" className="icon close" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      )}
    </dialog>
  )
}
