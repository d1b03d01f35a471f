/** The buttons to the pages before and after one of a list that is sorted by time. */
import type { ReactNode } from 'react'
import type { Page } from '../interface/records.ts'

interface Props {
  readonly pagination: Page['pagination'] | undefined
  /** @param cursor of the page to show */
  readonly onTurn: (cursor: string) => void
}

export function PageButtons({ pagination, onTurn }: Props): ReactNode {
  const button = (label: string, cursor: string | null | undefined) =>
    cursor && (
      <button type="button" onClick={() => onTurn(cursor)}>
        {label}
      </button>
    )
  return (
    <div className="row">
      {button('Newer', pagination?.previous_cursor)}
      {button('Older', pagination?.next_cursor)}
    </div>
  )
}
