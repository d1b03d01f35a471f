/** The page of one event, delivery or job: a heading that leads to the list, buttons, and a card. */
import type { ReactNode } from 'react'
import type { Problem } from '../interface/problem.ts'
import { ProblemView } from './problem-view.tsx'

interface Props {
  /** The list: its address, and its name. */
  readonly list: readonly [address: string, name: string]
  readonly title: string | undefined
  readonly buttons: ReactNode
  readonly error: Problem | null
  readonly again: () => unknown
  /** What the card shows; `undefined`: nothing was read yet. */
  readonly children: ReactNode
}

export function DetailPage({ list: [address, name], title, buttons, error, again, children }: Props): ReactNode {
  return (
    <>
      <div className="row">
        <h1>
          <a className="quiet" href={`#${address}`}>
            {name}
          </a>{' '}
          {title}
        </h1>
        <span className="spring" />
        {buttons}
      </div>
      {error !== null && <ProblemView problem={error} again={() => void again()} />}
      {children !== undefined && <div className="card">{children}</div>}
    </>
  )
}
