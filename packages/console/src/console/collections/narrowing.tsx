/** What narrows and orders a list: search, filters and the clicks on columns. All of it stands in the address. */
import { type FormEvent, type ReactNode, useEffect, useRef } from 'react'
import type { Collection } from '../interface/catalog.ts'
import { useView } from '../shell/fragment.ts'
import { FilterBar } from './filter-bar.tsx'
import { filtersOf, parameterOf } from './filters.ts'

/** How long nobody types before a search begins, in milliseconds. */
const typingPause = 400

/** The search and the filters of the present view. */
export function Narrowing({ collection }: { readonly collection: Collection }): ReactNode {
  const [view, changeView] = useView()
  return (
    <>
      {collection.search && (
        <Search
          sent={view.get('q') ?? ''}
          onSearch={(text, replace) =>
            changeView((next) => (text === '' ? next.delete('q') : next.set('q', text)), { replace })
          }
        />
      )}
      <FilterBar
        collection={collection}
        view={view}
        onAdd={(filter) =>
          changeView((next) => {
            for (const value of filter.values) next.append(parameterOf(filter), value)
          })
        }
        onRemove={(filter) => changeView((next) => next.delete(parameterOf(filter)))}
      />
    </>
  )
}

interface SearchProps {
  /** The search of the address. */
  readonly sent: string
  /** @param replace whether it continues the search before, to which the back button does not lead */
  readonly onSearch: (text: string, replace: boolean) => void
}

/** Searches with Enter, and when somebody stops typing. */
function Search({ sent, onSearch }: SearchProps): ReactNode {
  const input = useRef<HTMLInputElement>(null)
  const latest = useRef(sent)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    // The address was changed elsewhere, such as by the back button. What is being typed stays otherwise.
    if (input.current !== null && sent !== latest.current) input.current.value = sent
    latest.current = sent
  }, [sent])
  useEffect(() => () => clearTimeout(timer.current), [])
  const search = (replace: boolean) => {
    clearTimeout(timer.current)
    const text = input.current?.value ?? ''
    if (text === latest.current) return
    latest.current = text
    onSearch(text, replace)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    search(false)
  }
  const wait = () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(search, typingPause, sent !== '')
  }
  return (
    <form className="search" onSubmit={submit}>
      <input ref={input} type="search" aria-label="Search" placeholder="Search" defaultValue={sent} onChange={wait} />
    </form>
  )
}

interface EmptyProps {
  readonly collection: Collection
  /** What is said of a view that is not narrowed. */
  readonly children: ReactNode
}

/** In place of rows where there are none: why, and what to do about it. */
export function Empty({ collection, children }: EmptyProps): ReactNode {
  const [view, changeView] = useView()
  if (!view.get('q') && filtersOf(collection, view).length === 0) return children
  const showAll = () =>
    changeView((next) => {
      for (const name of [...next.keys()]) if (name !== 'sort' && name !== 'columns') next.delete(name)
    })
  return (
    <>
      <p>Nothing here matches.</p>
      <button type="button" onClick={showAll}>
        Show all records
      </button>
    </>
  )
}

/**
 * Sorts a view by a field: ascending, descending, then not at all.
 *
 * @param sort the terms that it is sorted by now
 * @param isMore whether the field is added to the sort, and does not take its place
 */
export function changeSort(view: URLSearchParams, sort: readonly string[], field: string, isMore: boolean): void {
  const others = isMore ? sort.filter((term) => term !== field && term !== `-${field}`) : []
  const term = sort.includes(field) ? [`-${field}`] : sort.includes(`-${field}`) ? [] : [field]
  const terms = [...others, ...term].join(',')
  if (terms === '') view.delete('sort')
  else view.set('sort', terms)
}
