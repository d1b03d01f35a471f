/** The frame around every view: the menu of collections, the version, the theme, and who is signed in. */
import { type ReactNode, useState } from 'react'
import { useConnection } from '../interface/connection.tsx'
import type { VersionSetting } from '../interface/page-settings.ts'
import { signOut } from '../interface/session.ts'
import { RequestPanel } from '../requests/request-panel.tsx'
import { brief } from '../ui/value.tsx'
import { Menu } from './menu.tsx'
import { useTheme } from './theme.ts'

interface Props {
  readonly onVersion: (version: VersionSetting) => void
  readonly children: ReactNode
}

export function Shell({ onVersion, children }: Props): ReactNode {
  const { settings, version, caller } = useConnection()
  const [theme, setTheme] = useTheme()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [areRequestsOpen, setRequestsOpen] = useState(false)
  return (
    <div className={isMenuOpen ? 'shell menu-open' : 'shell'}>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header className="top">
        <button
          type="button"
          className="icon menu-button"
          aria-label="Menu"
          aria-expanded={isMenuOpen}
          onClick={() => setMenuOpen(!isMenuOpen)}
        >
          ☰
        </button>
        <strong className="title">{settings.title}</strong>
        {settings.versions.length > 1 && (
          <select
            aria-label="Version"
            value={version.name}
            onChange={(event) => {
              const chosen = settings.versions.find(({ name }) => name === event.target.value)
              if (chosen !== undefined) onVersion(chosen)
            }}
          >
            {settings.versions.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
        <span className="spring" />
        <button
          type="button"
          title="What this page has asked the server, as curl commands"
          aria-pressed={areRequestsOpen}
          onClick={() => setRequestsOpen(!areRequestsOpen)}
        >
          Requests
        </button>
        <select
          className="theme"
          aria-label="Theme"
          title="Theme"
          value={theme}
          onChange={(event) => setTheme(event.target.value as typeof theme)}
        >
          <option value="system">◐ Auto</option>
          <option value="light">☀ Light</option>
          <option value="dark">☾ Dark</option>
        </select>
        <span className="caller" title={brief(caller.roles.join(', ')) || 'no roles'}>
          <bdi>{brief(caller.id)}</bdi>
        </span>
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </header>
      <Menu onChoose={() => setMenuOpen(false)} />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      {areRequestsOpen && <RequestPanel onClose={() => setRequestsOpen(false)} />}
    </div>
  )
}
