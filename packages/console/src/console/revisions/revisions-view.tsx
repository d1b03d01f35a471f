/**
 * The history of a record: its states, newest first, with what each change has made different, and their restoration.
 */
import { useInfiniteQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { RecordCell, shortId } from '../collections/record-cell.tsx'
import { Moment } from '../events/event.tsx'
import { draftKey, useDraft, type Values } from '../forms/draft.ts'
import { sentFields } from '../forms/record-form.tsx'
import { type Collection, fieldLabel, labelOf, namingField } from '../interface/catalog.ts'
import { grantOf, hasBin, useConnection } from '../interface/connection.tsx'
import type { Problem } from '../interface/problem.ts'
import { collectionKey, type Page, type RecordData, recordPath, useRecord } from '../interface/records.ts'
import { WhyNot } from '../records/why-not.tsx'
import { navigate } from '../shell/fragment.ts'
import { countOf } from '../ui/count-of.ts'
import { notify } from '../ui/notices.tsx'
import { ProblemView } from '../ui/problem-view.tsx'
import { brief, formatTime } from '../ui/value.tsx'
import { type Difference, differences, type Revision, recordsBefore, restoringValues } from './differences.ts'
import { EraseDialog } from './erase-dialog.tsx'

type RevisionPage = Pick<Page, 'pagination'> & { readonly data: readonly Revision[] }

interface Props {
  readonly collection: Collection
  readonly id: string
}

export default function RevisionsView({ collection, id }: Props): ReactNode {
  const connection = useConnection()
  const path = recordPath(collection.name, id)
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery<
    RevisionPage,
    Problem,
    { pages: readonly RevisionPage[] },
    readonly unknown[],
    string | undefined
  >({
    queryKey: [...collectionKey(connection, collection.name), 'revisions', id],
    queryFn: async ({ signal, pageParam: cursor }) => {
      const query = new URLSearchParams({ limit: '50', ...(cursor !== undefined && { cursor }) })
      if (hasBin(connection, collection)) query.set('include_deleted', 'true')
      return (await connection.send<RevisionPage>({ path: `${path}/revisions`, query, signal })).body
    },
    initialPageParam: undefined,
    getNextPageParam: ({ pagination }) => pagination.next_cursor ?? undefined,
  })
  const [isErasing, setErasing] = useState(false)
  const total = data?.pages[0]?.pagination.total_count ?? 0
  const revisions = data?.pages.flatMap((page) => page.data) ?? []
  const before = recordsBefore(revisions)
  // What the oldest one has changed is known when the one before it is there.
  const shown = hasNextPage ? revisions.slice(0, -1) : revisions
  const name = revisions.find(({ record }) => record !== null)?.record?.[namingField(collection)]
  return (
    <>
      <h1>
        <a className="quiet" href={`#/${collection.name}`}>
          {labelOf(collection.name)}
        </a>{' '}
        <a className="quiet" href={`#/${collection.name}/${encodeURIComponent(id)}`}>
          <bdi>{brief(typeof name === 'string' && name.trim() !== '' ? name : shortId(id))}</bdi>
        </a>{' '}
        History
      </h1>
      {error !== null && <ProblemView problem={error} again={() => void refetch()} />}
      {error?.status === 403 && <WhyNot collection={collection} action="read_history" />}
      {data === undefined && error === null && <p className="quiet">Loading…</p>}
      {data !== undefined && (
        <>
          <div className="row">
            <p className="quiet" role="status">
              {countOf(total, 'state')}, newest first
            </p>
            {total > 1 && grantOf(connection, collection.name, 'delete') !== 'none' && (
              <button type="button" className="danger" onClick={() => setErasing(true)}>
                Erase former states
              </button>
            )}
          </div>
          {isErasing && <EraseDialog {...{ collection, id }} onClose={() => setErasing(false)} />}
          <ol className="timeline">
            {shown.map((revision, index) => (
              <State
                key={revision.id}
                {...{ collection, id, revision }}
                before={before[index]}
                mayRestore={index > 0 && revisions[0]?.record !== null}
                isPresent={index === 0}
                isOldest={index === revisions.length - 1}
              />
            ))}
          </ol>
          {hasNextPage && (
            <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              {isFetchingNextPage ? 'Loading…' : 'Show older states'}
            </button>
          )}
        </>
      )}
    </>
  )
}

interface StateProps extends Props {
  readonly revision: Revision
  readonly before: RecordData | undefined
  readonly isPresent: boolean
  readonly mayRestore: boolean
  readonly isOldest: boolean
}

function State({ collection, id, revision, before, isPresent, mayRestore, isOldest }: StateProps): ReactNode {
  const { settings } = useConnection()
  const { kind, caller, created_at: at, version, record } = revision
  return (
    <li className="card">
      <div className="row">
        <h2>
          {labelOf(kind)} <Moment at={at} />
        </h2>
        <span className="quiet">
          {caller !== null && (
            <>
              by <bdi>{brief(caller)}</bdi>
            </>
          )}
          {version !== null && settings.versions.length > 1 && ` in ${version}`}
        </span>
        <span className="spring" />
        {isPresent && record !== null && <span className="tag">now</span>}
        {mayRestore && record !== null && <RestoreButton {...{ collection, id, at }} state={record} />}
      </div>
      {record !== null && (
        <Differences found={differences(collection, before, record)} {...{ kind }} isFirst={before === undefined} />
      )}
      {isOldest && kind !== 'created' && <p className="quiet">Nothing older is kept.</p>}
    </li>
  )
}

interface DifferencesProps extends Pick<Revision, 'kind'> {
  readonly found: readonly Difference[]
  /** Whether there is no state to compare with. */
  readonly isFirst: boolean
}

function Differences({ found, kind, isFirst }: DifferencesProps): ReactNode {
  if (found.length === 0) {
    return kind === 'updated' && <p className="quiet">Nothing that you may read is different.</p>
  }
  return (
    <dl className="read-only differences">
      {found.map(({ field, before, after }) => (
        <div key={field.name}>
          <dt>{fieldLabel(field)}</dt>
          <dd>
            {!isFirst && (
              <>
                <del>
                  <RecordCell field={field} value={before ?? null} />
                </del>{' '}
                <span aria-hidden="true">→</span>
                <span className="hidden-label">became</span>{' '}
              </>
            )}
            <RecordCell field={field} value={after ?? null} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface RestoreProps extends Props {
  readonly at: string
  readonly state: RecordData
}

/** Fills the form of the record with a state: it shows what changes, and saves only what nobody has changed since. */
function RestoreButton({ collection, id, at, state }: RestoreProps): ReactNode {
  const connection = useConnection()
  const { data: present } = useRecord(collection.name, id)
  const handle = useDraft(draftKey(connection.version.name, collection.name, id), present)
  const mayUpdate = collection.made === 'by-clients' && grantOf(connection, collection.name, 'update') !== 'none'
  if (present === undefined || !mayUpdate) return null
  const values: Values = restoringValues(sentFields(collection, connection.caller), present.record, state)
  if (Object.keys(values).length === 0) return <span className="quiet">The same as now</span>
  const address = `/${collection.name}/${encodeURIComponent(id)}`
  if (handle.isChanged) {
    return <Link to={address}>Save or discard your changes before you restore a state</Link>
  }
  const restore = () => {
    handle.replace({ values, texts: {}, begun: present })
    notify('done', `The form has the values of ${formatTime(at)}. Save it to restore them.`)
    navigate(address)
  }
  return (
    <button type="button" onClick={restore} aria-label={`Restore the state of ${formatTime(at)}`}>
      Restore
    </button>
  )
}
