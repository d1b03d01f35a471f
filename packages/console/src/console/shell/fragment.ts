/**
 * The address of a view is the fragment of the page's address: `#/tasks?status=open`. It works behind every path
 * prefix, and what people filter by is in no log of a server.
 */
import { useCallback, useMemo, useSyncExternalStore } from 'react'

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}

function fragment(): string {
  return location.hash.slice(1) || '/'
}

function fragmentPath(): string {
  return fragment().split('?', 1)[0] ?? '/'
}

function fragmentQuery(): string {
  const value = fragment()
  const mark = value.indexOf('?')
  return mark === -1 ? '' : value.slice(mark + 1)
}

interface NavigateOptions {
  /** Whether the view takes the place of the present one in the browser's history. */
  readonly replace?: boolean
}

/** @param to the path of a view, with its query */
export function navigate(to: string, { replace = false }: NavigateOptions = {}): void {
  const previous = location.href
  history[replace ? 'replaceState' : 'pushState'](null, '', `#${to}`)
  dispatchEvent(new HashChangeEvent('hashchange', { oldURL: previous, newURL: location.href }))
}

/** The path, such that it is as it stands in the address after the router has decoded it. */
function routedPath(): string {
  return fragmentPath().replaceAll('%', '%25')
}

/** The location hook of the router. */
export const useFragmentLocation = Object.assign(
  (): [string, typeof navigate] => [useSyncExternalStore(subscribe, routedPath), navigate],
  { hrefs: (path: string) => `#${path}`, searchHook: (): string => useSyncExternalStore(subscribe, fragmentQuery) },
)

/** Changes the query of the view's address. */
export type ChangeView = (change: (query: URLSearchParams) => void, options?: NavigateOptions) => void

/**
 * What a view shows, as it stands in the address: filters, sort, columns.
 *
 * @example
 * const [view, changeView] = useView()
 * changeView((query) => query.set('sort', '-due_on'))
 */
export function useView(): readonly [URLSearchParams, ChangeView] {
  const query = useSyncExternalStore(subscribe, fragmentQuery)
  const view = useMemo(() => new URLSearchParams(query), [query])
  const change = useCallback<ChangeView>((change, options) => {
    const next = new URLSearchParams(fragmentQuery())
    change(next)
    const text = next.toString()
    navigate(text === '' ? fragmentPath() : `${fragmentPath()}?${text}`, options)
  }, [])
  return [view, change]
}
