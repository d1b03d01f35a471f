/** Shows that a part of the page failed. Without it, React would remove the whole page. */
import { Component, type ReactNode } from 'react'

interface Props {
  readonly children: ReactNode
}

interface State {
  readonly error?: unknown
}

export class Boundary extends Component<Props, State> {
  override state: State = {}

  static getDerivedStateFromError(error: unknown): State {
    return { error }
  }

  override render(): ReactNode {
    const { error } = this.state
    if (error === undefined) return this.props.children
    return (
      <div className="problem" role="alert">
        <h1>This part of the page failed</h1>
        <p>The server may have a newer version of the page. Load the page again.</p>
        <p className="quiet">{String(error)}</p>
        <button type="button" onClick={() => location.reload()}>
          Load the page again
        </button>
      </div>
    )
  }
}
