/**
 * Which view each address shows. All views are one file with the libraries: it is smaller than several, and no view is
 * missing when the server gets a newer console.
 */
import { type ComponentType, createElement, type ReactNode, useEffect, useRef } from 'react'
import { Redirect, Route, Switch, useLocation } from 'wouter'
import BinView from '../bin/bin-view.tsx'
import { CollectionView } from '../collections/collection-view.tsx'
import EventView from '../events/event-view.tsx'
import EventsView from '../events/events-view.tsx'
import HealthView from '../health/health-view.tsx'
import ImportView from '../imports/import-view.tsx'
import { type Collection, labelOf } from '../interface/catalog.ts'
import { useConnection } from '../interface/connection.tsx'
import JobView from '../jobs/job-view.tsx'
import JobsView from '../jobs/jobs-view.tsx'
import KeysView from '../keys/keys-view.tsx'
import { Overview } from '../overview/overview.tsx'
import NewRecordView from '../records/new-record-view.tsx'
import { RecordView } from '../records/record-view.tsx'
import RevisionsView from '../revisions/revisions-view.tsx'
import TenantsView from '../tenants/tenants-view.tsx'
import { Boundary } from '../ui/boundary.tsx'
import VersionsView from '../versions/versions-view.tsx'
import DeliveriesView from '../webhooks/deliveries-view.tsx'
import DeliveryView from '../webhooks/delivery-view.tsx'
import WebhookView from '../webhooks/webhook-view.tsx'
import WebhooksView from '../webhooks/webhooks-view.tsx'

export function Views(): ReactNode {
  const [path] = useLocation()
  const { title } = useConnection().settings
  useEffect(() => {
    document.title = [...titleOf(path), title].join(' · ')
  }, [path, title])
  const shown = useRef(path)
  useEffect(() => {
    if (shown.current === path) return
    shown.current = path
    scrollTo(0, 0)
    // What had the focus may be gone with the last view: the keyboard goes on in the new one, not at the page's start.
    if (document.activeElement === document.body) document.getElementById('main')?.focus({ preventScroll: true })
  }, [path])
  return (
    <Boundary key={path}>
      <Switch>
        <Route path="/" component={Overview} />
        <Route path="/-/jobs" component={JobsView} />
        <Route path="/-/jobs/:id">{({ id }) => <JobView id={id} />}</Route>
        <Route path="/-/events">
          <Known name="events" view={EventsView} />
        </Route>
        <Route path="/-/events/:id">{({ id }) => <EventView id={id} />}</Route>
        <Route path="/-/webhooks">
          <Known name="webhooks" view={WebhooksView} />
        </Route>
        <Route path="/-/webhooks/:id">{({ id }) => <WebhookView id={id} />}</Route>
        <Route path="/-/deliveries">
          <Known name="deliveries" view={DeliveriesView} />
        </Route>
        <Route path="/-/deliveries/:id">{({ id }) => <DeliveryView id={id} />}</Route>
        <Route path="/-/keys" component={KeysView} />
        <Route path="/-/tenants" component={TenantsView} />
        <Route path="/-/versions" component={VersionsView} />
        <Route path="/-/health" component={HealthView} />
        <Route path="/-/bin/:collection">{({ collection }) => <Known name={collection} view={BinView} />}</Route>
        <Route path="/-/new/:collection">{({ collection }) => <Known name={collection} view={NewRecordView} />}</Route>
        <Route path="/-/history/:collection/:id">
          {({ collection, id }) => <Known name={collection} id={decoded(id)} view={RevisionsView} />}
        </Route>
        <Route path="/-/import/:collection">{({ collection }) => <Known name={collection} view={ImportView} />}</Route>
        <Route path="/:collection">{({ collection }) => <Declared name={collection} view={CollectionView} />}</Route>
        <Route path="/:collection/:id">
          {({ collection, id }) => <Declared name={collection} id={decoded(id)} view={RecordView} />}
        </Route>
        <Route>
          <NotHere />
        </Route>
      </Switch>
    </Boundary>
  )
}

/** The parts of a view's title, such as "New" and "Tasks". */
function titleOf(path: string): string[] {
  const [first = '', ...others] = path.slice(1).split('/')
  const names = first === '-' ? others : [first]
  return names.filter((name) => /^[a-z]/.test(name) && name.length <= 40).map(labelOf)
}

interface KnownProps {
  readonly name: string
  readonly id?: string
  readonly view: ComponentType<{ readonly collection: Collection; readonly id: string }>
}

/** The collections that are not declared and have views of their own. */
const withOwnViews: ReadonlySet<string> = new Set(['events', 'webhooks', 'deliveries', 'jobs'])

/** Shows a view of a declared collection. The address of another one leads to that collection's own view. */
function Declared(shown: KnownProps): ReactNode {
  const { name, id } = shown
  const made = useConnection().catalog.collections.get(name)?.made ?? 'by-clients'
  if (made === 'by-clients' || !withOwnViews.has(name)) return <Known {...shown} />
  return <Redirect to={id === undefined ? `/-/${name}` : `/-/${name}/${encodeURIComponent(id)}`} replace />
}

/** Shows a view of a collection, if the interface has it in this version. */
function Known({ name, id = '', view }: KnownProps): ReactNode {
  const collection = useConnection().catalog.collections.get(name)
  if (collection === undefined) return <NotHere />
  return createElement(view, { key: `${name}/${id}`, collection, id })
}

/** A segment of the address; what somebody has typed there need not be one. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

function NotHere(): ReactNode {
  return (
    <>
      <h1>Nothing is here</h1>
      <p>This version of the interface has no such collection. Choose one in the menu.</p>
    </>
  )
}
