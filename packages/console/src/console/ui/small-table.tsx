/** A table of some rows; lists of any length have a table of their own. */
import type { ReactNode } from 'react'

interface Props {
  readonly titles: readonly string[]
  /** Whether a column without a title follows: the buttons of each row. */
  readonly actions?: boolean
  /** The rows. */
  readonly children: ReactNode
}

export function SmallTable({ titles, actions, children }: Props): ReactNode {
  return (
    <div className="table-scroll">
      <table>
        <thead>
          <tr>
            {titles.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
            {actions && <td />}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}
