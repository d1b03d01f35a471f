/** The menu: every collection that the caller may read, a filter once there are many, and the server's own parts. */
import { type ReactNode, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { isOperator } from '../interface/caller.ts'
import { labelOf } from '../interface/catalog.ts'
import { grantOf, useConnection } from '../interface/connection.tsx'

/** The number of collections from which the menu has a filter. */
const filteredFrom = 12
/** The most collections in the menu; the filter finds the others. */
const shownAtMost = 200

interface Props {
  /** Is called when a view was chosen: the menu of a narrow screen closes. */
  readonly onChoose: () => void
}

export function Menu({ onChoose }: Props): ReactNode {
  const connection = useConnection()
  const [filter, setFilter] = useState('')
  const readable = [...connection.catalog.collections.values()].filter(
    ({ name, made }) => made === 'by-clients' && grantOf(connection, name, 'read') !== 'none',
  )
  // A declared collection may have the same name, where the interface has no events.
  const offered = ['events', 'webhooks', 'deliveries'].filter((name) => {
    const made = connection.catalog.collections.get(name)?.made
    return made !== undefined && made !== 'by-clients' && grantOf(connection, name, 'read') !== 'none'
  })
  const isLong = readable.length >= filteredFrom
  const wanted = filter.trim().toLowerCase()
  const matching = readable.filter(({ name }) => name.includes(wanted) || labelOf(name).toLowerCase().includes(wanted))
  return (
    <nav className={isLong ? 'menu long' : 'menu'} aria-label="Collections">
      {isLong && (
        <input
          type="search"
          placeholder={`Find in ${readable.length}`}
          aria-label="Find a collection"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <ul>
        {matching.slice(0, shownAtMost).map(({ name }) => (
          <li key={name}>
            <MenuLink to={`/${name}`} onChoose={onChoose}>
              {labelOf(name)}
            </MenuLink>
          </li>
        ))}
      </ul>
      {matching.length > shownAtMost && (
        <p className="quiet">{matching.length - shownAtMost} more: type to find them.</p>
      )}
      <h2>Server</h2>
      <ul>
        {offered.map((name) => (
          <li key={name}>
            <MenuLink to={`/-/${name}`} onChoose={onChoose}>
              {labelOf(name)}
            </MenuLink>
          </li>
        ))}
        <li>
          <MenuLink to="/-/jobs" onChoose={onChoose}>
            Jobs
          </MenuLink>
        </li>
        {isOperator(connection) && (
          <li>
            <MenuLink to="/-/tenants" onChoose={onChoose}>
              Tenants
            </MenuLink>
          </li>
        )}
        {grantOf(connection, 'api-keys', 'read') !== 'none' && (
          <li>
            <MenuLink to="/-/keys" onChoose={onChoose}>
              API keys
            </MenuLink>
          </li>
        )}
        <li>
          <MenuLink to="/-/versions" onChoose={onChoose}>
            Versions
          </MenuLink>
        </li>
        <li>
          <MenuLink to="/-/health" onChoose={onChoose}>
            Health
          </MenuLink>
        </li>
        <li>
          <a href="docs">API page</a>
        </li>
      </ul>
    </nav>
  )
}

interface LinkProps extends Props {
  readonly to: string
  readonly children: ReactNode
}

function MenuLink({ to, onChoose, children }: LinkProps): ReactNode {
  const [path] = useLocation()
  // A record, its history, the form of a new one and the recycle bin belong to their collection.
  const isActive = `${path}/`.replace(/^\/-\/(?:new|bin|import|history)(?=\/)/, '').startsWith(`${to}/`)
  return (
    <Link to={to} onClick={onChoose} className={isActive ? 'active' : ''} aria-current={isActive ? 'page' : undefined}>
      {children}
    </Link>
  )
}
