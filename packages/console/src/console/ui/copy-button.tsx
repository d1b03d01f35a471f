/** Copies a text, and says whether it did: pages that came over plain HTTP from another machine may not. */
import { type ReactNode, useState } from 'react'

interface Props {
  readonly text: string
  readonly className?: string
}

export function CopyButton({ text, className = '' }: Props): ReactNode {
  const [label, setLabel] = useState('Copy')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setLabel('Copied')
    } catch {
      setLabel('Select and copy it')
    }
  }
  return (
    <button type="button" className={className} aria-live="polite" onClick={() => void copy()}>
      {label}
    </button>
  )
}
